//! What is kept of one person, for the faces.
//!
//! Entry type: [`Privacy`]. **Never**: leaves a person's words where NPCs go on from them.

use std::sync::Arc;

use tokio::task::{JoinError, spawn_blocking};

use super::{
    files::forget_kept,
    lines::{forget, names, own_lines},
    request::ForgetRequest,
};
use crate::{
    campaign::{KeptError, NotWritten, Sessions, SharedSettings},
    memory,
};

/// Why what is kept of a person is not shown or forgotten.
#[derive(Debug, thiserror::Error)]
pub enum PrivacyError {
    /// The last lines would be missed.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    /// The memory cannot be read or written.
    #[error(transparent)]
    Store(#[from] memory::Error),
    /// A file of a kept session cannot be read or written.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// What went through the files has failed.
    #[error(transparent)]
    Lost(#[from] JoinError),
}

/// Shows and forgets what is kept of people. Cloning shares it.
#[derive(Clone)]
pub struct Privacy {
    /// What is configured.
    pub settings: SharedSettings,
    /// The tables that run forget too.
    pub sessions: Sessions,
}

impl Privacy {
    /// Everything the user of this id has said, as text for them.
    ///
    /// # Errors
    /// The memory cannot be read, or lacks the last lines.
    pub async fn own_lines(self, user: u64) -> Result<String, PrivacyError> {
        let transcripts = self.sessions.transcripts();
        transcripts.caught_up().await?;
        Ok(own_lines(&*transcripts.store(), &user.to_string()).await?)
    }

    /// Forgets a person's lines and what was derived from them, in tables that run too; how many
    /// lines there were.
    ///
    /// # Errors
    /// Something cannot be read or written; doing it again goes on with it.
    pub async fn forget(self, what: ForgetRequest) -> Result<u64, PrivacyError> {
        let transcripts = self.sessions.transcripts();
        transcripts.caught_up().await?;
        let (store, player) = (transcripts.store(), what.user.to_string());
        let mut known = names(&*store, &player).await?;
        known.extend(what.names);
        let known: Vec<String> = known.into_iter().collect();
        let open = self.sessions.forget(&known, &what.from);
        let (folder, from) = (self.settings.load().data_dir.clone(), Arc::new(what.from));
        let also = Arc::clone(&from);
        let files =
            spawn_blocking(move || forget_kept(&folder, &known, &also, |id| open.contains(id)));
        files.await??;
        Ok(forget(&*store, &player, &from).await?)
    }
}
