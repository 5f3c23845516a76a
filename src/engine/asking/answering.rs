//! An answer on its way, and who gives it.

use std::{collections::VecDeque, sync::Arc};

use futures::{
    StreamExt,
    stream::{BoxStream, Fuse},
};

use crate::{
    engine::budget::Reservation,
    logic::budget::Consumption,
    provider::{Asked, ChatEvent, Error, Kind},
};

/// A request to one candidate. Dropped before it is settled, it is booked in full.
pub struct Answering {
    name: Arc<str>,
    asked: Asked,
    reserved: Reservation,
    stream: Fuse<BoxStream<'static, Result<ChatEvent, Error>>>,
    /// What came before it was known that this one answers.
    begun: VecDeque<ChatEvent>,
}

impl Answering {
    /// `stream` is what the candidate `name` answers.
    pub(super) fn new(
        name: &Arc<str>,
        asked: Asked,
        reserved: Reservation,
        stream: BoxStream<'static, Result<ChatEvent, Error>>,
    ) -> Self {
        let (name, begun) = (Arc::clone(name), VecDeque::new());
        Self { name, asked, reserved, stream: stream.fuse(), begun }
    }

    /// Who answers.
    pub const fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Waits for the beginning of the answer, be it an empty one. Cancel safe.
    ///
    /// # Errors
    /// It has failed before anything of it came.
    pub(super) async fn begin(&mut self) -> Result<(), Error> {
        loop {
            let Some(event) = self.stream.next().await else {
                self.asked.answered(false);
                return Ok(());
            };
            let event = event.inspect_err(|error| self.asked.failed(error))?;
            let counts = matches!(event, ChatEvent::Usage(_));
            let has_words = matches!(event, ChatEvent::Text(_) | ChatEvent::ToolCall(_));
            self.begun.push_back(event);
            if !counts {
                self.asked.answered(has_words);
                return Ok(());
            }
        }
    }

    /// The next piece of it. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<ChatEvent, Error>> {
        if let Some(event) = self.begun.pop_front() {
            return Some(Ok(event));
        }
        let event = self.stream.next().await?;
        Some(event.inspect_err(|error| self.asked.failed(error)))
    }

    /// Books what was really used.
    pub fn settle(self, used: Consumption) {
        self.reserved.settle(used);
    }

    /// It has failed: what was certainly not billed is given back.
    pub fn failed(self, kind: Kind) {
        self.reserved.failed(kind);
    }
}
