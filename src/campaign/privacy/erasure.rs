//! Erases a person from running tables and stored sessions, not from the store's lines.
//!
//! Entry type: [`Eraser`].
//!
//! The first attempt covers all tables and files, by identity and, for records of earlier versions,
//! by name. Later attempts first retry only the files that failed, so that new words of the person
//! stay; then everything is erased once more, as a session may have continued from such a file.

use std::{collections::BTreeSet, sync::Arc};

use tokio::task::spawn_blocking;

use super::{
    failure::PrivacyError,
    files::forget_kept,
    stored::{both, forget_stored},
};
use crate::{
    campaign::{KeptStore, Sessions, SharedSettings, parts::clear_parts},
    domain::{Person, PersonId},
    memory::{Deletion, ForgetFrom},
};

/// Cloning shares both fields.
#[derive(Clone)]
pub struct Eraser {
    pub settings: SharedSettings,
    pub sessions: Sessions,
}

impl Eraser {
    /// Erases by identity, unless an earlier attempt has. Goes on after an error.
    pub async fn by_id(&self, deletion: &mut Deletion) -> Result<(), PrivacyError> {
        if deletion.erased {
            return Ok(());
        }
        let person = Person { id: PersonId(deletion.player.clone()), names: Vec::new() };
        let erased = self.erase_left(&Arc::new(person), &deletion.from, &deletion.files).await;
        deletion.erased = erased.is_ok();
        deletion.files = match &erased {
            Err(PrivacyError::Kept(left)) => left.sessions.clone(),
            _ => Vec::new(),
        };
        erased
    }

    /// Erases records of earlier versions that have one of `names` and no identity. `tried` are the
    /// files of `deletion` before this attempt; with the earlier attempts they decide the rest:
    ///
    /// | `named` | `erased` | `tried` | erases from |
    /// |---|---|---|---|
    /// | no | either | any | everything |
    /// | yes | yes | some | the files tried, then everything |
    /// | yes | yes | none | nothing: it is done |
    /// | yes | no | any | nothing: the identity comes first |
    pub async fn by_name(
        &self,
        deletion: &mut Deletion,
        names: &[String],
        tried: &[String],
    ) -> Result<(), PrivacyError> {
        let is_over = deletion.named && (tried.is_empty() || !deletion.erased);
        if names.is_empty() || is_over {
            return Ok(());
        }
        // An empty identity matches only records without one.
        let person = Arc::new(Person { id: PersonId(String::new()), names: names.to_vec() });
        let tried: &[String] = if deletion.named { tried } else { &[] };
        let erased = self.erase_left(&person, &deletion.from, tried).await;
        if deletion.erased {
            // No file is left to retry by identity.
            deletion.files.clear();
        }
        let is_tried = deletion.erased || !deletion.files.is_empty();
        match &erased {
            Ok(()) => deletion.named = true,
            // The next attempt covers everything if the erasure by identity failed elsewhere.
            Err(PrivacyError::Kept(left)) if is_tried => {
                deletion.named = true;
                deletion.files.extend_from_slice(&left.sessions);
                deletion.files.sort();
                deletion.files.dedup();
            }
            // The remaining files are unknown, so the next attempt goes through all.
            Err(_) => deletion.named = false,
        }
        erased
    }

    /// Removes unfinished files of killed programs.
    pub async fn clear_parts(&self) {
        let folder = self.settings.load().data_dir.clone();
        if let Err(error) = spawn_blocking(move || clear_parts(&folder)).await {
            tracing::error!(%error, "parts of sessions that were killed may be left");
        }
    }

    /// Erases from everything; if `files` have failed before, only once these can be changed.
    async fn erase_left(
        &self,
        person: &Arc<Person>,
        from: &ForgetFrom,
        files: &[String],
    ) -> Result<(), PrivacyError> {
        if !files.is_empty() {
            self.erase_files(person, from, files, self.sessions.open_ids()).await?;
        }
        let mut erased = Ok(());
        // Twice: a session may have been opened meanwhile, from a file with their words.
        for _ in 0..2 {
            let (open, saved) = self.sessions.forget(person, from).await;
            let files = self.erase_files(person, from, &[], open).await;
            erased = saved.map_err(PrivacyError::from).and(files);
        }
        erased
    }

    /// Erases from the stored sessions `only`, from all if it is empty.
    async fn erase_files(
        &self,
        person: &Arc<Person>,
        from: &ForgetFrom,
        only: &[String],
        open: BTreeSet<String>,
    ) -> Result<(), PrivacyError> {
        let folder = self.settings.load().data_dir.clone();
        let (store, open) = (self.sessions.transcripts().store(), Arc::new(open));
        let files = {
            let (folder, is_open) = (folder.clone(), Arc::clone(&open));
            let (person, from, only) = (Arc::clone(person), from.clone(), only.to_vec());
            move || forget_kept(&folder, &person, &from, &only, |id| is_open.contains(id))
        };
        let files = spawn_blocking(files).await?;
        let at = KeptStore::new(&*store, &folder);
        both(files, forget_stored(&at, person, from, only, |id| open.contains(id)).await)
    }
}
