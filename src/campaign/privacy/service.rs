//! Records of one person, for the faces.
//!
//! Entry type: [`Privacy`]. **Never**: leaves a person's words where NPCs go on from them.

use std::sync::Arc;

use tokio::task::{JoinError, spawn_blocking};

use super::{
    files::forget_kept,
    lines::{forget, names, own_lines},
    request::{ForgetRequest, NamesOf},
};
use crate::{
    campaign::{KeptError, NotSaved, NotWritten, Sessions, SharedSettings},
    domain::{Owner, Person, PersonId},
    memory,
};

/// Reason a person's stored data cannot be shown or forgotten.
#[derive(Debug, thiserror::Error)]
pub enum PrivacyError {
    /// The last lines would be missed.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    /// The memory cannot be read or written.
    #[error(transparent)]
    Store(#[from] memory::Error),
    /// A closed session is not saved yet.
    #[error(transparent)]
    NotSaved(#[from] NotSaved),
    /// A file of a kept session cannot be read or written.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// The task that went through the files has failed.
    #[error(transparent)]
    Lost(#[from] JoinError),
}

/// Shows and forgets what is kept of people. Cloning shares it.
#[derive(Clone)]
pub struct Privacy {
    /// The configuration.
    pub settings: SharedSettings,
    /// The tables that run forget too.
    pub sessions: Sessions,
}

impl Privacy {
    /// Everything the person of this identity has said where `owner` plays, as text for them.
    ///
    /// # Errors
    /// The memory cannot be read, or lacks the last lines.
    pub async fn own_lines(self, owner: Owner, player: String) -> Result<String, PrivacyError> {
        let transcripts = self.sessions.transcripts();
        self.sessions.caught_up().await?;
        Ok(own_lines(&*transcripts.store(), owner, &player).await?)
    }

    /// Under which names more of them would be forgotten than their lines.
    ///
    /// # Errors
    /// The memory cannot be read, or lacks the last lines.
    pub async fn names(self, what: ForgetRequest) -> Result<NamesOf, PrivacyError> {
        let transcripts = self.sessions.transcripts();
        self.sessions.caught_up().await?;
        Ok(names(&*transcripts.store(), &what.player, &what.names, &what.from).await?)
    }

    /// Forgets a person's lines and what was derived from them, in tables that run too; how many
    /// lines there were. What an earlier version has kept by name goes where the name is theirs alone.
    ///
    /// # Errors
    /// Something cannot be read or written; doing it again goes on with it.
    pub async fn forget(self, what: ForgetRequest) -> Result<u64, PrivacyError> {
        let names = self.clone().names(what.clone()).await?.own;
        let (store, player) = (self.sessions.transcripts().store(), what.player);
        let person = Person { id: PersonId(player.clone()), names };
        let (person, from) = (Arc::new(person), Arc::new(what.from));
        let mut saved = Ok(());
        // Twice: a session may have been opened meanwhile, from a file that held their words.
        for _ in 0..2 {
            let open;
            (open, saved) = self.sessions.forget(&person, &from).await;
            let folder = self.settings.load().data_dir.clone();
            let (person, from) = (Arc::clone(&person), Arc::clone(&from));
            let files = move || forget_kept(&folder, &person, &from, |id| open.contains(id));
            spawn_blocking(files).await??;
        }
        self.lines_are_written().await?;
        let lines = forget(&*store, &player, &from).await?;
        saved?;
        Ok(lines)
    }

    /// Waits until the store has the lines so far; other servers' lines may come meanwhile.
    async fn lines_are_written(&self) -> Result<(), NotWritten> {
        let transcripts = self.sessions.transcripts();
        for _ in 0..3 {
            if transcripts.caught_up().await.is_ok() {
                return Ok(());
            }
        }
        transcripts.caught_up().await
    }
}
