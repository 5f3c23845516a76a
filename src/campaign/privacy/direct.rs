//! Deletion by a program that has no queue of deletions: the command line.
//!
//! Entry type: [`DirectDeletion`]. **Never**: changes files of a session that another program plays.

use std::path::PathBuf;

use tokio::task::spawn_blocking;

use super::{
    failure::PrivacyError,
    files::forget_kept,
    lines::forget,
    stored::{both, forget_stored},
};
use crate::{
    campaign::KeptStore,
    domain::Person,
    memory::{Deletion, MemoryStore},
};

/// A deletion, and where it deletes.
pub struct DirectDeletion<'s> {
    /// The store.
    pub store: &'s dyn MemoryStore,
    /// The data folder, which has the files of sessions.
    pub data_dir: PathBuf,
    /// The session that this program plays itself; it forgets its calls of tools by itself.
    pub playing: Option<String>,
    /// The person, with names that only they have used.
    pub person: Person,
    /// The deletion of what this person has said.
    pub deletion: Deletion,
}

impl DirectDeletion<'_> {
    /// Records the deletion, then deletes from files and the store. Returns the number of deleted
    /// lines, and an error if a file could not be changed; the bot's next start retries it.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub async fn erase(&mut self) -> Result<(u64, Result<(), PrivacyError>), PrivacyError> {
        self.store.put_deletion(self.deletion.clone()).await?;
        let (data_dir, playing) = (self.data_dir.clone(), self.playing.clone());
        let (person, from) = (self.person.clone(), self.deletion.from.clone());
        let is_open = move |id: &str| playing.as_deref() == Some(id);
        let files = move || forget_kept(&data_dir, &person, &from, &[], is_open);
        let files = spawn_blocking(files).await?;
        let (at, playing) = (KeptStore::new(self.store, &self.data_dir), self.playing.as_deref());
        let is_open = |id: &str| playing == Some(id);
        let stored = forget_stored(&at, &self.person, &self.deletion.from, &[], is_open).await;
        let kept = match both(files, stored) {
            Err(PrivacyError::Kept(left)) => {
                // The lines with the names are deleted next.
                self.deletion.names.clone_from(&self.person.names);
                self.deletion.files.clone_from(&left.sessions);
                self.store.put_deletion(self.deletion.clone()).await?;
                Err(PrivacyError::Kept(left))
            }
            Err(error) => return Err(error),
            Ok(()) => Ok(()),
        };
        let Deletion { player, from, before, .. } = &self.deletion;
        let lines = forget(self.store, player, from, *before).await?;
        Ok((lines, kept))
    }

    /// Ends a deletion that changed all files. If lines that wait to be stored may be the person's,
    /// its record stays for the next start of the bot.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn end(mut self, lines_wait: bool) -> Result<(), PrivacyError> {
        self.store.purge_removed().await?;
        if lines_wait {
            self.deletion.erased = true;
            self.store.put_deletion(self.deletion).await?;
        } else {
            self.store.remove_deletion(self.deletion).await?;
        }
        Ok(())
    }
}
