//! Finished utterances whose text is still awaited.
//!
//! Entry type: [`Finals`].

use std::time::Duration;

use tokio::time::Instant;

use super::{
    recogniser::{News, RecognitionEvent},
    recognition::Recognition,
    utterance::Utterance,
};
use crate::provider::{Error, Kind, SpeechEvent};

const FINAL_TIMEOUT: Duration = Duration::from_secs(10);

pub enum Recognised {
    Nothing,
    Partial(String),
    /// The speaker seemed to have finished but continues.
    Resumed,
    /// A finished utterance; its text may be empty.
    Understood(Utterance),
    /// A finished utterance that could not be recognised.
    Failed(Utterance, Error),
}

#[derive(Default)]
pub struct Finals {
    closed: Vec<Recognition>,
}

impl Finals {
    pub fn push(&mut self, over: Recognition) {
        self.closed.push(over);
    }

    pub fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Recognition> {
        self.closed.iter_mut()
    }

    /// The newest utterance continues in the segment that just opened.
    pub fn park_last(&mut self) {
        if let Some(last) = self.closed.last_mut() {
            last.parked = true;
        }
    }

    pub fn due(&self) -> Option<Instant> {
        self.closed.iter().filter_map(|it| it.closed_at).min().map(|at| at + FINAL_TIMEOUT)
    }

    /// Takes an utterance whose final is overdue, unless another recogniser hears it now.
    pub fn overdue(&mut self, now: Instant) -> Option<(Utterance, Error)> {
        let late = |it: &Recognition| it.closed_at.is_some_and(|at| at + FINAL_TIMEOUT <= now);
        let index = self.closed.iter().position(late)?;
        let error = Error::new(Kind::Timeout, "the recogniser gave no final transcript in 10 s");
        let error = self.closed.get_mut(index)?.fall_over(error, now).err()?;
        let late = self.closed.remove(index);
        Some((late.into_utterance(now), error))
    }

    /// Processes a recogniser's event about a finished utterance; `open` is the unfinished one.
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
                self.closed[index].conclude(text);
                if self.closed[index].is_endless() {
                    return Recognised::Nothing;
                }
                self.settle(index, open, now)
            }
            News::Sounds(_) => Recognised::Nothing,
            News::Over => {
                self.closed[index].text.get_or_insert_default();
                self.settle(index, open, now)
            }
            News::Failed(error) => match self.closed[index].fall_over(error, now) {
                Ok(()) => Recognised::Nothing,
                // The rest of the utterance is worth more than the failure of its beginning.
                Err(error) if self.closed[index].parked => {
                    tracing::warn!(%error, "the beginning of an utterance is lost");
                    self.closed[index].text.get_or_insert_default();
                    self.settle(index, open, now)
                }
                Err(error) => {
                    let failed = self.closed.remove(index);
                    Recognised::Failed(failed.into_utterance(now), error)
                }
            },
        }
    }

    /// Returns a final text unless a later segment continues it, or it continues one whose text is
    /// still awaited.
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
        let utterance = known.into_utterance(now);
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
