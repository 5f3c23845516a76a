//! Previewed files that wait for a game master's decision.
//!
//! Entry type: [`PreviewedFiles`]. In memory alone: after a restart a file has to be sent again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::{
    campaign::world::FileImport,
    domain::{Scope, hex},
};

/// Most files, one per owner.
const FILES_MAX: usize = 20;
/// Most bytes of all files.
const BYTES_MAX: usize = 60_000_000;
/// Digits of a key.
const KEY: usize = 16;

/// Previewed files, the newest of each owner. Cloning shares them.
#[derive(Clone, Default)]
pub struct PreviewedFiles {
    files: Arc<Mutex<Vec<Previewed>>>,
    reading: Arc<tokio::sync::Mutex<()>>,
}

struct Previewed {
    scope: Scope,
    key: String,
    request: FileImport,
}

impl PreviewedFiles {
    /// Waits for earlier imports: one file at a time is fetched and read, since a large one takes much
    /// memory and a whole core.
    pub async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.reading.lock().await
    }

    /// Keeps a file instead of the owner's earlier one; its key. The oldest make room.
    pub fn keep(&self, scope: &Scope, request: FileImport) -> String {
        let mut digits = hex(&Sha256::digest(&request.file.bytes));
        digits.truncate(KEY);
        let key = digits.clone();
        let mut files = self.files();
        files.retain(|it| it.scope.owner != scope.owner);
        files.push(Previewed { scope: scope.clone(), key: digits, request });
        let bytes =
            |files: &[Previewed]| files.iter().map(|it| it.request.file.bytes.len()).sum::<usize>();
        while files.len() > 1 && (files.len() > FILES_MAX || bytes(&files) > BYTES_MAX) {
            files.remove(0);
        }
        key
    }

    /// Takes out the file with this key; `None`: it was imported, or made room for another.
    pub fn take(&self, scope: &Scope, key: &str) -> Option<FileImport> {
        let mut files = self.files();
        let at = files.iter().position(|it| it.scope == *scope && it.key == key)?;
        Some(files.remove(at).request)
    }

    fn files(&self) -> MutexGuard<'_, Vec<Previewed>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        campaign::{ImportChoices, SentFile},
        domain::{CampaignKey, Owner},
    };

    fn file(bytes: Vec<u8>) -> FileImport {
        let file = SentFile { name: "luna.png".to_owned(), bytes };
        FileImport { file, choices: ImportChoices::default() }
    }

    fn scope(guild: u64) -> Scope {
        Scope { owner: Owner::Guild(guild), campaign: CampaignKey("c".to_owned()) }
    }

    #[test]
    fn file_is_taken_once_and_by_its_owner() {
        let files = PreviewedFiles::default();
        let earlier = files.keep(&scope(1), file(vec![1]));
        let key = files.keep(&scope(1), file(vec![2]));
        assert!(files.take(&scope(2), &key).is_none(), "another guild's");
        assert!(files.take(&scope(1), &earlier).is_none(), "the newest counts");
        assert_eq!(files.take(&scope(1), &key).unwrap().file.bytes, [2]);
        assert!(files.take(&scope(1), &key).is_none());
    }

    #[tokio::test]
    async fn one_file_at_a_time_has_its_turn() {
        let files = PreviewedFiles::default();
        let first = files.turn().await;
        let other = files.clone();
        let mut second = std::pin::pin!(other.turn());
        assert!(futures::poll!(second.as_mut()).is_pending());
        drop(first);
        assert!(futures::poll!(second.as_mut()).is_ready());
    }

    #[test]
    fn oldest_files_make_room() {
        let files = PreviewedFiles::default();
        let keys: Vec<String> =
            (1..=4).map(|guild| files.keep(&scope(guild), file(vec![0; 20_000_000]))).collect();
        assert!(files.take(&scope(1), &keys[0]).is_none());
        assert!(files.take(&scope(2), &keys[1]).is_some());
        assert!(files.take(&scope(4), &keys[3]).is_some());
    }
}
