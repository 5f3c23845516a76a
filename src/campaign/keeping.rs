//! The state of a running session of a server, written to the store as it changes.
//!
//! Entry type: [`Keeping`]. Changes during a write are written together, after it. What this
//! program has is the newest: it plays the session, and a deletion reaches its table first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{
    sync::{Mutex as AsyncMutex, Notify},
    task::spawn_blocking,
};
use tokio_util::sync::CancellationToken;

use super::{
    kept::{KeptError, KeptSession},
    kept_store::KeptStore,
};

/// Cloning shares the state.
#[derive(Clone)]
pub struct Keeping(Arc<Shared>);

struct Shared {
    state: Mutex<KeptSession>,
    changed: Notify,
    /// Held during a write, so that an earlier state never follows a later one.
    writing: AsyncMutex<()>,
}

impl Keeping {
    pub fn new(state: KeptSession) -> Self {
        let (state, changed, writing) = (Mutex::new(state), Notify::new(), AsyncMutex::new(()));
        Self(Arc::new(Shared { state, changed, writing }))
    }

    /// Changes the state; [`Keeping::run`] writes it.
    pub fn change(&self, change: impl FnOnce(&mut KeptSession)) {
        change(&mut self.state());
        self.0.changed.notify_one();
    }

    /// Writes changes until `ended`. Logs failures. Cancel safe: a write may still happen.
    pub async fn run(&self, at: &KeptStore<'_>, ended: &CancellationToken) {
        tokio::select! {
            () = ended.cancelled() => {}
            () = self.write_changes(at) => {}
        }
    }

    async fn write_changes(&self, at: &KeptStore<'_>) {
        loop {
            self.0.changed.notified().await;
            if let Err(error) = self.write(at).await {
                tracing::error!(%error, "cannot save the state of a session");
            }
        }
    }

    /// Writes the state to the store, or to its file while the store is away.
    ///
    /// # Errors
    /// The store refuses it, or neither can be written.
    pub async fn write(&self, at: &KeptStore<'_>) -> Result<(), KeptError> {
        let _turn = self.0.writing.lock().await;
        let mut stored = 0;
        loop {
            // Again the newest state: a refused one may be from before a deletion.
            let mut newest = {
                let mut state = self.state();
                state.revise(stored);
                state.clone()
            };
            match at.put(&mut newest).await {
                Ok(None) => return Ok(()),
                Ok(Some(revision)) => stored = revision,
                Err(KeptError::Store(error)) if error.is_passing() => {
                    tracing::warn!(%error, "a session is saved in a file until the memory answers");
                    return Ok(spawn_blocking(move || newest.write()).await??);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, KeptSession> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::PathBuf};

    use tempfile::TempDir;

    use super::*;
    use crate::{
        domain::{CampaignKey, Message, Owner, Person, PersonId, Said, Scope},
        memory::Sqlite,
    };

    const ID: &str = "discord-7-1";

    struct Place {
        folder: TempDir,
        store: Sqlite,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Sqlite::open(&folder.path().join("memory.db")).unwrap();
            Self { folder, store }
        }

        fn at(&self) -> KeptStore<'_> {
            KeptStore::new(&self.store, self.folder.path())
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join("sessions/discord-7-1.json")
        }

        /// Stores in its file what person 1 said, like an earlier version.
        fn keep_file(&self, text: &str) {
            let kept = KeptSession::open(self.folder.path(), ID, &scope()).unwrap();
            kept.save(BTreeMap::from([("hale".to_owned(), said(text))]), 0.5).unwrap();
        }

        async fn opened(&self) -> KeptSession {
            self.at().open(ID, &scope()).await.unwrap()
        }
    }

    fn scope() -> Scope {
        Scope { owner: Owner::Guild(7), campaign: CampaignKey("c".to_owned()) }
    }

    fn anna() -> Person {
        Person { id: PersonId("1".to_owned()), names: Vec::new() }
    }

    fn said(text: &str) -> Vec<Message> {
        vec![Message::User(Said { text: text.to_owned(), by: Some(anna().id) })]
    }

    #[tokio::test]
    async fn file_of_earlier_version_is_taken_over() {
        let place = Place::new();
        place.keep_file("my owl");
        place.at().take_over().await;
        assert!(!place.file().exists());
        for _ in 0..2 {
            let kept = place.opened().await;
            assert_eq!((kept.histories()["hale"].clone(), kept.spent()), (said("my owl"), 0.5));
        }
        // A file that is not newer is only removed.
        place.keep_file("my ferret");
        assert_eq!(place.opened().await.histories()["hale"], said("my owl"));
        assert!(!place.file().exists());
        let other = Scope { campaign: CampaignKey("d".to_owned()), ..scope() };
        let refused = place.at().open(ID, &other).await.err().unwrap();
        assert!(matches!(refused, KeptError::Elsewhere { .. }), "{refused}");
    }

    #[tokio::test]
    async fn state_waits_in_file_while_store_is_away() {
        let place = Place::new();
        let keeping = Keeping::new(place.opened().await);
        keeping.change(|state| state.converse("hale", &said("my owl")));
        keeping.write(&place.at()).await.unwrap();
        assert!(!place.file().exists());
        place.store.set_away(true);
        keeping.change(|state| state.converse("hale", &said("my ferret")));
        keeping.write(&place.at()).await.unwrap();
        assert!(place.file().exists());
        assert_eq!(place.opened().await.histories()["hale"], said("my ferret"));
        let waits = place.at().forget(ID, &anna(), false).await.unwrap_err();
        assert!(matches!(waits, KeptError::Store(_)), "{waits}");
        place.store.set_away(false);
        place.at().forget(ID, &anna(), false).await.unwrap();
        assert_eq!(place.opened().await.messages_of(&anna()), 0);
        assert!(!place.file().exists());
    }

    #[tokio::test]
    async fn running_table_writes_over_what_it_did_not_see() {
        let place = Place::new();
        let keeping = Keeping::new(place.opened().await);
        keeping.change(|state| state.converse("hale", &said("my owl")));
        keeping.write(&place.at()).await.unwrap();
        place.at().forget(ID, &anna(), true).await.unwrap();
        keeping.change(|state| state.converse("hale", &[]));
        keeping.write(&place.at()).await.unwrap();
        assert_eq!(place.opened().await.messages_of(&anna()), 0);
        assert!(place.at().delete(place.opened().await).await.unwrap());
        assert!(!place.opened().await.is_written());
    }
}
