//! Record of a session while it runs.
//!
//! Entry type: [`SessionRecord`].

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::task::spawn_blocking;

use super::super::{Failure, complain};
use crate::{
    campaign::{CallLog, Indexer, KeptSession, Transcript, TranscriptWriter},
    session::{Backlog, Continuation, TurnLine},
};

/// Longest wait for a line to be on a disk before it is printed.
const PATIENCE: Duration = Duration::from_secs(5);

/// The log of calls and the transcript.
pub struct SessionRecord {
    /// The log of tool calls.
    pub calls: CallLog,
    /// Writes the transcript.
    pub transcripts: TranscriptWriter,
    /// Makes it searchable.
    pub indexer: Indexer,
    /// Session being recorded.
    pub written: Transcript,
    /// Data folder, which holds its file.
    pub data_dir: PathBuf,
}

impl SessionRecord {
    /// Counts what is not written yet.
    pub fn backlog(&self) -> Backlog {
        self.transcripts.backlog()
    }

    /// Writes down a line. It is on the disk afterwards, unless that takes too long.
    ///
    /// # Errors
    /// The log of calls cannot be written.
    pub async fn add(&mut self, line: &TurnLine) -> Result<(), Failure> {
        self.calls.add(line)?;
        self.transcripts.line(&self.written, line);
        self.transcripts.settled(PATIENCE).await;
        Ok(())
    }

    /// Takes back what was written of these turns; it is gone from the disk afterwards, unless that
    /// takes too long.
    ///
    /// # Errors
    /// The log of calls cannot be written.
    pub async fn take_back(&mut self, turns: &[u64]) -> Result<(), Failure> {
        self.calls.take_back(turns)?;
        self.transcripts.take_back(&self.written, turns);
        self.transcripts.settled(PATIENCE).await;
        Ok(())
    }

    /// Keeps how the table stands. It is on the disk afterwards.
    ///
    /// # Errors
    /// The session's file cannot be written.
    pub async fn stands(&self, continuation: &Arc<Continuation>) -> Result<(), Failure> {
        let (folder, continuation) = (self.data_dir.clone(), Arc::clone(continuation));
        let Transcript { scope, session } = self.written.clone();
        let keep = move || KeptSession::stands(&folder, &session.0, &scope, &continuation);
        Ok(spawn_blocking(keep).await??)
    }

    /// Writes down what is left, and that the session has ended.
    pub async fn close(&self) {
        self.transcripts.ends(&self.written);
        if let Some(missing) = self.transcripts.close().await {
            complain(&missing);
        }
        self.indexer.close().await;
    }
}
