//! An answer on its way, and who gives it.

use std::{collections::VecDeque, sync::Arc};

use futures::{
    StreamExt,
    stream::{BoxStream, Fuse},
};

use crate::{
    engine::budget::{Reservation, believed, consumed},
    provider::{Asked, ChatEvent, Counted, Error, Kind, Usage},
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
    /// The service's counts so far.
    usage: Counted<Usage>,
    /// True once nothing of the answer is missing, false once it broke off.
    is_whole: Option<bool>,
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
        let (stream, answered, usage) = (stream.fuse(), 0, Counted::default());
        let is_whole = None;
        Self { name, asked, reserved, stream, begun, bytes, answered, usage, is_whole }
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
            let Some(event) = self.read().await else {
                self.asked.answered(false);
                return Ok(());
            };
            let event = event?;
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
        match self.begun.pop_front() {
            Some(event) => Some(Ok(event)),
            None => self.read().await,
        }
    }

    /// Reads an event of the service, and what it says of the money. Cancel safe.
    async fn read(&mut self) -> Option<Result<ChatEvent, Error>> {
        let event = self.stream.next().await;
        match &event {
            Some(Ok(ChatEvent::Text(text))) => self.answered += text.len(),
            Some(Ok(ChatEvent::Hidden(bytes))) => self.answered += bytes,
            Some(Ok(ChatEvent::ToolCall(call))) => self.answered += call.arguments.len(),
            Some(Ok(ChatEvent::Usage(told))) => {
                self.reserved.counted(consumed(self.usage.merge(*told)));
            }
            Some(Ok(ChatEvent::CutOff(_))) => {}
            Some(Ok(ChatEvent::Done)) | None => _ = self.is_whole.get_or_insert(true),
            Some(Err(error)) => {
                self.is_whole = Some(false);
                self.asked.failed(error);
            }
        }
        event
    }

    /// Books what was really used, as far as the service has said so and it can be true; what it said. An
    /// answer that is not whole is booked in full, for its count may be the first of several.
    pub fn settle(self) -> Option<Usage> {
        let answered = u64::try_from(self.answered).unwrap_or(u64::MAX);
        let told = self.usage.get()?;
        if self.is_whole != Some(true) {
            return Some(told);
        }
        let used = believed(told, self.bytes, answered, self.reserved.expected());
        self.reserved.settle(consumed(used));
        Some(told)
    }

    /// It has failed: what was certainly not billed is given back.
    pub fn failed(self, kind: Kind) {
        self.reserved.failed(kind);
    }
}
