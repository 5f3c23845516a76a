//! Records of unfinished deletions: in the store, and in files while it is unavailable.
//!
//! Entry type: [`PendingDeletions`]. **Never**: loses a deletion because the store failed.

use std::{sync::Arc, time::Duration};

use tokio::{
    task::{JoinError, spawn_blocking},
    time::timeout,
};

use crate::{
    campaign::{FileError, Served, transcript::DeletionFiles},
    memory::{self, Deletion, MemoryStore},
};

/// A slower store counts as unavailable: the person waits for the answer.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Store(#[from] memory::Error),
    #[error(transparent)]
    File(#[from] FileError),
    /// The task that wrote to the disk has failed.
    #[error(transparent)]
    Lost(#[from] JoinError),
}

pub struct PendingDeletions {
    pub store: Arc<dyn MemoryStore>,
    /// Used while the store is unavailable.
    pub files: DeletionFiles,
}

impl PendingDeletions {
    /// Records `deletion` durably. Fails if neither the store nor the disk takes it.
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

    /// Deletions left by earlier runs: of owners that are `served`, and those in files, which no
    /// other process knows of.
    pub async fn all(&self, served: &Served) -> Result<Vec<Deletion>, RecordError> {
        let mut all = self.store.deletions().await?;
        all.retain(|deletion| served.serves(deletion.from.owner));
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

    /// Removes the record of a finished deletion. If it fails, the next start repeats the deletion.
    pub async fn remove(&self, deletion: &Deletion) -> Result<(), RecordError> {
        let (files, done) = (self.files.clone(), deletion.clone());
        spawn_blocking(move || files.remove(&done)).await??;
        Ok(self.store.remove_deletion(deletion.clone()).await?)
    }
}
