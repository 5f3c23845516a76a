//! What is kept of a session while it runs.
//!
//! Entry type: [`Books`].

use super::super::{Failure, complain};
use crate::{
    app::{CallLog, Indexer, Scribe, Transcribed},
    session::{Backlog, TurnLine},
};

/// The log of calls and the transcript.
pub struct Books {
    /// The log.
    pub calls: CallLog,
    /// Writes the transcript.
    pub scribe: Scribe,
    /// Makes it searchable.
    pub indexer: Indexer,
    /// What is written of.
    pub written: Transcribed,
}

impl Books {
    /// Counts what is not written yet.
    pub fn backlog(&self) -> Backlog {
        self.scribe.backlog()
    }

    /// Writes down a line. It is on the disk afterwards, unless that takes too long.
    ///
    /// # Errors
    /// The log of calls cannot be written.
    pub async fn add(&mut self, line: &TurnLine) -> Result<(), Failure> {
        self.calls.add(line)?;
        self.scribe.line(&self.written, line);
        self.scribe.settled().await;
        Ok(())
    }

    /// Takes back what was written of these turns; it is gone from the disk afterwards, unless that
    /// takes too long.
    ///
    /// # Errors
    /// The log of calls cannot be written.
    pub async fn take_back(&mut self, turns: &[u64]) -> Result<(), Failure> {
        self.calls.take_back(turns)?;
        self.scribe.take_back(&self.written, turns);
        self.scribe.settled().await;
        Ok(())
    }

    /// Writes down what is left, and that the session has ended.
    pub async fn close(&self) {
        self.scribe.ends(&self.written);
        if let Some(missing) = self.scribe.close().await {
            complain(&missing);
        }
        self.indexer.close().await;
    }
}
