//! Record of a running session. Entry type: [`SessionRecord`].

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::task::spawn_blocking;

use super::super::{Failure, complain};
use crate::{
    campaign::{CallLog, Indexer, KeptSession, Transcript, TranscriptWriter},
    domain::PersonId,
    session::{Backlog, Continuation, TurnLine},
};

/// Longest wait for a line to be on a disk before it is printed.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct SessionRecord {
    pub calls: CallLog,
    pub transcripts: TranscriptWriter,
    pub indexer: Indexer,
    pub written: Transcript,
    pub data_dir: PathBuf,
}

impl SessionRecord {
    /// Counts unwritten lines.
    pub fn backlog(&self) -> Backlog {
        self.transcripts.backlog()
    }

    /// Records a line, on the disk unless that takes too long.
    pub async fn add(&mut self, line: &TurnLine) -> Result<(), Failure> {
        self.calls.add(line)?;
        self.transcripts.line(&self.written, line);
        self.transcripts.settled(PATIENCE).await;
        Ok(())
    }

    /// Records words whose turn goes on, on the disk unless that takes too long.
    pub async fn asked(&self, line: &TurnLine) {
        self.transcripts.asked(&self.written, line);
        self.transcripts.settled(PATIENCE).await;
    }

    /// Withdraws words of a person whose turns have ended without a line.
    pub fn forget(&self, person: &PersonId) {
        self.transcripts.forget(&self.written, person);
    }

    /// Withdraws words whose turns go on: events that were missed may have taken them back.
    pub fn missed(&self) {
        self.transcripts.missed(&self.written);
    }

    /// Withdraws the records of these turns, from the disk unless that takes too long.
    pub async fn take_back(&mut self, turns: &[u64]) -> Result<(), Failure> {
        self.calls.take_back(turns)?;
        self.transcripts.take_back(&self.written, turns);
        self.transcripts.settled(PATIENCE).await;
        Ok(())
    }

    /// Saves the state of the table to the disk.
    pub async fn stands(&self, continuation: &Arc<Continuation>) -> Result<(), Failure> {
        let (folder, continuation) = (self.data_dir.clone(), Arc::clone(continuation));
        let Transcript { scope, session } = self.written.clone();
        let keep = move || KeptSession::stands(&folder, &session.0, &scope, &continuation);
        Ok(spawn_blocking(keep).await??)
    }

    /// Records the rest, and the end of the session.
    pub async fn close(&self) {
        self.transcripts.ends(&self.written);
        if let Some(missing) = self.transcripts.close().await {
            complain(&missing);
        }
        self.indexer.close().await;
    }
}
