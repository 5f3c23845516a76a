//! The recognisers of a table, their payments and their events.
//!
//! Entry types: [`Recogniser`] has all, [`Candidates`] those that may hear an utterance,
//! [`AskedRecogniser`] the one that does; [`RecognitionEvent`]. Each is paid for at its own price.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::{
    future::{self, BoxFuture, FutureExt},
    stream::BoxStream,
};
use tokio::sync::mpsc;

use super::speakers::SpeakerId;
use crate::{
    audio::{FRAME, Frame},
    domain::HEARING,
    engine::{Budget, Reservation},
    logic::{budget::Consumption, turn::Judgement},
    provider::{Asked, Attempts, Candidate, Chain, Error, Kind, Queue, SpeechEvent, SpeechToText},
};

/// Frames paid for in advance, repeatedly during a recognition: 10 s.
pub const PAID_FRAMES: u32 = 500;
/// Longest wait for the store before an utterance is given up, because its speaker is waiting.
const PATIENCE: Duration = Duration::from_secs(3);

/// Resolves once the store has reserved the money.
pub type Covered = BoxFuture<'static, Result<(), Error>>;

/// The recognisers of a table, in order of preference.
#[derive(Clone)]
pub struct Recogniser {
    pub chain: Chain<dyn SpeechToText>,
    pub budget: Budget,
}

impl Recogniser {
    /// Those that may hear an utterance.
    pub fn candidates(&self) -> Candidates {
        self.of_queue(self.chain.queue())
    }

    /// Those that may hear the next utterance of a stream if `by`, which has it, fails.
    pub fn others(&self, by: &AskedRecogniser) -> Candidates {
        self.of_queue(self.chain.queue_after(by.candidate.name()))
    }

    fn of_queue(&self, queue: Queue<dyn SpeechToText>) -> Candidates {
        Candidates { queue, is_alone: self.chain.is_alone(), budget: self.budget.clone() }
    }
}

/// Recognisers that have not been asked to hear an utterance yet.
pub struct Candidates {
    queue: Queue<dyn SpeechToText>,
    is_alone: bool,
    budget: Budget,
}

impl Candidates {
    /// Asks the next one; the client of the last one retries.
    pub fn ask(&mut self) -> Option<AskedRecogniser> {
        let (candidate, asked) = self.queue.take()?;
        Some(AskedRecogniser {
            candidate,
            asked,
            is_alone: self.is_alone,
            is_last: !self.queue.has_more(),
            has_answered: false,
            budget: self.budget.clone(),
        })
    }
}

/// A recogniser that is asked to hear an utterance.
pub struct AskedRecogniser {
    candidate: Candidate<dyn SpeechToText>,
    asked: Asked,
    is_alone: bool,
    is_last: bool,
    has_answered: bool,
    budget: Budget,
}

impl AskedRecogniser {
    /// Its name in reports: that of the service if there is one, else of its entry.
    pub fn name(&self) -> Arc<str> {
        match self.is_alone {
            true => self.candidate.service().name().into(),
            false => Arc::clone(self.candidate.name()),
        }
    }

    /// True if no other one can hear the utterance, whatever happens.
    pub const fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// True if it ends utterances itself.
    pub fn is_endless(&self) -> bool {
        self.candidate.service().abilities().endpointing
    }

    /// Reserves money for [`PAID_FRAMES`] at its price; [`covered`] tells when they may be sent.
    /// Fails with [`crate::provider::Kind::OverBudget`] at a cap.
    pub fn reserve(&self) -> Result<Reservation, Error> {
        let seconds = (FRAME * PAID_FRAMES).as_secs_f64();
        let expected = Consumption { seconds, ..Consumption::default() };
        let priced_as = self.candidate.service().priced_as();
        self.budget.reserve_now(priced_as, HEARING, None, expected)
    }

    /// Reserves money for another [`PAID_FRAMES`]; the future resolves once they may be sent
    /// (`None`: at once).
    pub fn pay_on(&self) -> (Option<Reservation>, Option<Covered>) {
        match self.reserve() {
            Ok(held) => {
                let covered = covered(&held);
                (Some(held), covered)
            }
            Err(error) => (None, Some(future::ready(Err(error)).boxed())),
        }
    }

    /// Starts recognition of `audio`, which is paid for; `frames` counts all frames.
    pub fn listen(
        &self,
        speaker: SpeakerId,
        audio: mpsc::Receiver<Frame>,
        frames: &Arc<AtomicU32>,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let attempts = self.attempts(frames);
        let attempts = if self.is_last { attempts } else { attempts.once() };
        self.candidate.service().listen_to(speaker.0, audio, attempts)
    }

    /// It has said something.
    pub fn answered(&mut self) {
        if !std::mem::replace(&mut self.has_answered, true) {
            self.asked.answered(false);
        }
    }

    /// It has failed. The failures of the only recogniser change nothing.
    pub fn failed(&mut self, error: &Error) {
        if !self.is_alone {
            self.asked.failed(error);
        }
    }

    /// True if the sound sent to it may be billed although it failed with `kind`.
    pub const fn may_be_billed(&self, kind: Kind) -> bool {
        self.is_alone || kind.may_be_billed()
    }

    /// Pays again when an utterance is sent again, by its length at that time.
    fn attempts(&self, frames: &Arc<AtomicU32>) -> Attempts {
        let Some(model) = self.candidate.service().priced_as().map(str::to_owned) else {
            return Attempts::default();
        };
        let (budget, frames) = (self.budget.clone(), Arc::clone(frames));
        Attempts::new(move |failed| {
            let (budget, frames, model) = (budget.clone(), Arc::clone(&frames), model.clone());
            async move {
                if failed.may_be_billed() {
                    let seconds = (FRAME * frames.load(Ordering::Relaxed)).as_secs_f64();
                    let expected = Consumption { seconds, ..Consumption::default() };
                    budget.reserve(Some(&model), HEARING, None, expected).await?.settle(expected);
                }
                Ok(())
            }
            .boxed()
        })
    }
}

/// Resolves once the store has reserved `held`, with an error after [`PATIENCE`]; `None`: it has
/// already.
pub fn covered(held: &Reservation) -> Option<Covered> {
    (!held.is_ready()).then(|| held.ready_within(PATIENCE).boxed())
}

pub struct RecognitionEvent {
    pub recognition: u64,
    pub news: News,
}

pub enum News {
    Said(SpeechEvent),
    Failed(Error),
    Over,
    Sounds(Judgement),
}
