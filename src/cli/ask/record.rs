//! Record of a running session. Entry type: [`SessionRecord`].

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::task::spawn_blocking;

use super::super::{Failure, complain};
use crate::{
    campaign::{CallLog, Indexer, KeptSession, Transcript, TranscriptWriter},
    session::{Backlog, Continuation, TableEvent},
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

    /// Records what an event says, on the disk unless that takes too long; all but the state of the
    /// table, for which there is [`Self::stands`].
    pub async fn take(&mut self, event: &TableEvent) -> Result<(), Failure> {
        let (transcripts, of) = (&self.transcripts, &self.written);
        match event {
            TableEvent::Line(line) => {
                self.calls.add(line)?;
                transcripts.line(of, line);
            }
            TableEvent::Asked(line) => transcripts.asked(of, line),
            TableEvent::Halted { taken_back } => {
                self.calls.take_back(taken_back)?;
                transcripts.take_back(of, taken_back);
            }
            TableEvent::Forgotten(person) => {
                transcripts.forget(of, person);
                return Ok(());
            }
            TableEvent::Missed(_) => {
                transcripts.missed(of);
                return Ok(());
            }
            TableEvent::Notice(_)
            | TableEvent::Private(_)
            | TableEvent::Said(_)
            | TableEvent::State(_)
            | TableEvent::Stands(_)
            | TableEvent::Conversed(_)
            | TableEvent::Mark(_) => return Ok(()),
        }
        transcripts.settled(PATIENCE).await;
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
