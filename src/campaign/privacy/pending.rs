//! Records of deletions that are not done: in the store, and in files for as long as it is away.
//!
//! Entry type: [`PendingDeletions`]. **Never**: loses a deletion because the store could not be written.

use std::{sync::Arc, time::Duration};

use tokio::{
    task::{JoinError, spawn_blocking},
    time::timeout,
};

use crate::{
    campaign::{FileError, transcript::DeletionFiles},
    memory::{self, Deletion, MemoryStore},
};

/// A store that takes longer is taken for away: the person waits for the answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reason a deletion is not recorded, or the records cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] memory::Error),
    /// Nor can the file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The task that wrote to the disk has failed.
    #[error(transparent)]
    Lost(#[from] JoinError),
}

/// Deletions that are not done.
pub struct PendingDeletions {
    /// Where they are recorded.
    pub store: Arc<dyn MemoryStore>,
    /// Where they are recorded while it is away.
    pub files: DeletionFiles,
}

impl PendingDeletions {
    /// Records `deletion`; it outlasts the program then.
    ///
    /// # Errors
    /// Neither the store nor the disk takes it.
    pub async fn record(&self, deletion: &Deletion) -> Result<(), RecordError> {
        let away = match timeout(PATIENCE, self.store.put_deletion(deletion.clone())).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the store does not answer".to_owned(),
        };
        tracing::warn!(away, "a deletion waits in a file until the store answers");
        let (files, deletion) = (self.files.clone(), deletion.clone());
        Ok(spawn_blocking(move || files.put(&deletion)).await??)
    }

    /// Deletions that earlier runs have left.
    ///
    /// # Errors
    /// The store or the files cannot be read.
    pub async fn all(&self) -> Result<Vec<Deletion>, RecordError> {
        let mut all = self.store.deletions().await?;
        let files = self.files.clone();
        for waiting in spawn_blocking(move || files.all()).await?? {
            match all.iter_mut().find(|it| it.is_like(&waiting)) {
                Some(it) if it.progress() < waiting.progress() => *it = waiting,
                Some(_) => {}
                None => all.push(waiting),
            }
        }
        Ok(all)
    }

    /// Removes the record of `deletion`, which is done.
    ///
    /// # Errors
    /// It is still there, and the deletion done once more at the next start.
    pub async fn remove(&self, deletion: &Deletion) -> Result<(), RecordError> {
        let (files, done) = (self.files.clone(), deletion.clone());
        spawn_blocking(move || files.remove(&done)).await??;
        Ok(self.store.remove_deletion(deletion.clone()).await?)
    }
}
