//! An answer in progress, and its model.

use std::{collections::VecDeque, sync::Arc};

use futures::{
    StreamExt,
    stream::{BoxStream, Fuse},
};

use crate::{
    engine::budget::{Reservation, believed, consumed},
    provider::{Asked, ChatEvent, Counted, Error, Kind, Usage},
};

/// A request to one candidate. Booked in full if dropped unsettled.
pub struct Answering {
    name: Arc<str>,
    asked: Asked,
    reserved: Reservation,
    stream: Fuse<BoxStream<'static, Result<ChatEvent, Error>>>,
    /// Events from before this answer was chosen.
    begun: VecDeque<ChatEvent>,
    bytes: u64,
    /// Bytes of text and calls so far.
    answered: usize,
    usage: Counted<Usage>,
    /// True if complete, false if broken off.
    is_whole: Option<bool>,
}

impl Answering {
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

    pub const fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Waits for the first event, even an empty one; fails if the service does. Cancel safe.
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

    pub async fn next(&mut self) -> Option<Result<ChatEvent, Error>> {
        match self.begun.pop_front() {
            Some(event) => Some(Ok(event)),
            None => self.read().await,
        }
    }

    /// Reads an event, and the service's counts in it. Cancel safe.
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

    /// Books the service's count where plausible, and returns it. An incomplete answer is booked in
    /// full, because its count may be the first of several.
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

    pub fn failed(self, kind: Kind) {
        self.reserved.failed(kind);
    }
}
