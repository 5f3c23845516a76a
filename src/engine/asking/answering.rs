//! An answer on its way, and who gives it.

use std::{collections::VecDeque, sync::Arc};

use futures::{
    StreamExt,
    stream::{BoxStream, Fuse},
};

use crate::{
    engine::budget::{Reservation, believed, consumed, larger},
    provider::{Asked, ChatEvent, Error, Kind, Usage},
};

/// A request to one candidate. Dropped before it is settled, it is booked in full.
pub struct Answering {
    name: Arc<str>,
    asked: Asked,
    reserved: Reservation,
    stream: Fuse<BoxStream<'static, Result<ChatEvent, Error>>>,
    /// Events that came before this answer was chosen.
    begun: VecDeque<ChatEvent>,
    /// Bytes of the request.
    bytes: u64,
    /// Bytes of text and calls so far.
    answered: usize,
    /// The largest count so far.
    usage: Option<Usage>,
}

impl Answering {
    /// `stream` is what the candidate `name` answers to a request of so many `bytes`.
    pub(super) fn new(
        name: &Arc<str>,
        asked: Asked,
        (reserved, bytes): (Reservation, u64),
        stream: BoxStream<'static, Result<ChatEvent, Error>>,
    ) -> Self {
        let (name, begun) = (Arc::clone(name), VecDeque::new());
        let (stream, answered, usage) = (stream.fuse(), 0, None);
        Self { name, asked, reserved, stream, begun, bytes, answered, usage }
    }

    /// Name of the candidate that answers.
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
            let counts = matches!(event, ChatEvent::Usage(_) | ChatEvent::Hidden(_));
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
        let event = match self.begun.pop_front() {
            Some(event) => Ok(event),
            None => self.stream.next().await?,
        };
        match &event {
            Ok(ChatEvent::Text(text)) => self.answered += text.len(),
            Ok(ChatEvent::Hidden(bytes)) => self.answered += bytes,
            Ok(ChatEvent::ToolCall(call)) => self.answered += call.arguments.len(),
            Ok(ChatEvent::Usage(told)) => self.usage = Some(larger(self.usage, *told)),
            Ok(ChatEvent::CutOff(_) | ChatEvent::Done) => {}
            Err(error) => self.asked.failed(error),
        }
        Some(event)
    }

    /// Books what was really used, as far as the service has said so and it can be true; what it said.
    pub fn settle(self) -> Option<Usage> {
        let answered = u64::try_from(self.answered).unwrap_or(u64::MAX);
        let told = self.usage?;
        let used = believed(told, self.bytes, answered, self.reserved.expected());
        self.reserved.settle(consumed(used));
        Some(told)
    }

    /// It has failed: what was certainly not billed is given back.
    pub fn failed(self, kind: Kind) {
        self.reserved.failed(kind);
    }
}
