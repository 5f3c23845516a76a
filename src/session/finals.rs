//! Utterances of a speaker that are over, until their text is known.
//!
//! Entry type: [`Finals`]. **Never**: hears sound.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    recognition::Recognition,
    recognition_event::{News, RecognitionEvent},
    speakers::SpeakerId,
    utterance::Utterance,
};
use crate::provider::{Error, Kind, SpeechEvent};

/// Longest wait for a final transcript.
const FINAL_TIMEOUT: Duration = Duration::from_secs(10);

/// Result of a recogniser's event.
pub enum Recognised {
    /// The table has nothing to do about it.
    Nothing,
    /// The open utterance reads so now.
    Partial(String),
    /// The speaker seemed to have finished and goes on.
    Resumed,
    /// An utterance is over and known; its text may be empty.
    Understood(Utterance),
    /// An utterance is over and cannot be known.
    Failed(Utterance, Error),
}

/// Utterances that are over, the oldest first.
pub struct Finals {
    speaker: SpeakerId,
    closed: Vec<Recognition>,
}

impl Finals {
    /// Nothing of `speaker` is waited for.
    pub fn new(speaker: SpeakerId) -> Self {
        Self { speaker, closed: Vec::new() }
    }

    /// Waits for one more.
    pub fn push(&mut self, over: Recognition) {
        self.closed.push(over);
    }

    /// True if none is waited for.
    pub fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }

    /// All that are waited for.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Recognition> {
        self.closed.iter_mut()
    }

    /// The last one goes on in the segment that has just opened.
    pub fn park_last(&mut self) {
        if let Some(last) = self.closed.last_mut() {
            last.parked = true;
        }
    }

    /// Deadline of the next final.
    pub fn due(&self) -> Option<Instant> {
        self.closed.iter().filter_map(|it| it.closed_at).min().map(|at| at + FINAL_TIMEOUT)
    }

    /// One whose final did not come.
    pub fn overdue(&mut self, now: Instant) -> Option<(Utterance, Error)> {
        let late = |it: &Recognition| it.closed_at.is_some_and(|at| at + FINAL_TIMEOUT <= now);
        let index = self.closed.iter().position(late)?;
        let late = self.closed.remove(index);
        let error = Error::new(Kind::Timeout, "the recogniser gave no final transcript in 10 s");
        Some((late.into_utterance(self.speaker, now), error))
    }

    /// Takes in what the recogniser said of one of them; `open` is the utterance that is not over.
    pub fn recognised(
        &mut self,
        event: RecognitionEvent,
        open: Option<&mut Recognition>,
        now: Instant,
    ) -> Recognised {
        let RecognitionEvent { recognition: id, news } = event;
        let Some(index) = self.closed.iter().position(|closed| closed.id == id) else {
            return Recognised::Nothing;
        };
        match news {
            News::Said(
                SpeechEvent::Partial { .. }
                | SpeechEvent::Pause { .. }
                | SpeechEvent::EagerEnd { .. },
            ) => {
                self.closed[index].partials += 1;
                Recognised::Nothing
            }
            News::Said(SpeechEvent::Resumed) => Recognised::Nothing,
            News::Said(SpeechEvent::Final { text }) => {
                self.closed[index].text = Some(text);
                self.settle(index, open, now)
            }
            News::Sounds(_) => Recognised::Nothing,
            News::Over => {
                self.closed[index].text.get_or_insert_default();
                self.settle(index, open, now)
            }
            // The rest of the utterance is worth more than the failure of its beginning.
            News::Failed(error) if self.closed[index].parked => {
                tracing::warn!(%error, "the beginning of an utterance is lost");
                self.closed[index].text.get_or_insert_default();
                self.settle(index, open, now)
            }
            News::Failed(error) => {
                let failed = self.closed.remove(index);
                Recognised::Failed(failed.into_utterance(self.speaker, now), error)
            }
        }
    }

    /// Settles a final text: returns it unless a later segment continues it, or it continues one whose text
    /// is not known yet.
    fn settle(
        &mut self,
        index: usize,
        mut open: Option<&mut Recognition>,
        now: Instant,
    ) -> Recognised {
        let id = self.closed[index].id;
        if self.closed.iter().any(|earlier| earlier.parked && earlier.id < id) {
            return Recognised::Nothing;
        }
        let known = self.closed.remove(index);
        let parked = known.parked;
        let partials = known.partials;
        let utterance = known.into_utterance(self.speaker, now);
        let later = self.closed.iter_mut().chain(open.as_deref_mut()).find(|next| next.id > id);
        let Some(next) = later.filter(|_| parked) else {
            return Recognised::Understood(utterance);
        };
        next.continue_after(utterance);
        next.partials += partials;
        let known = |next: &Recognition| next.id > id && next.text.is_some();
        match self.closed.iter().position(known) {
            Some(next) if next == index => self.settle(next, open, now),
            _ => Recognised::Nothing,
        }
    }
}
