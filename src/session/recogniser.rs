//! The recogniser of a table, its payments and its events.
//!
//! Entry types: [`Recogniser`], [`RecognitionEvent`].

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
    provider::{Attempts, Error, SpeechEvent, SpeechToText},
};

/// Frames paid for in advance, repeatedly during a recognition: 10 s.
pub const PAID_FRAMES: u32 = 500;
/// Longest wait for the store before an utterance is given up, because its speaker is waiting.
const PATIENCE: Duration = Duration::from_secs(3);

/// Resolves once the store has reserved the money.
pub type Covered = BoxFuture<'static, Result<(), Error>>;

#[derive(Clone)]
pub struct Recogniser {
    pub stt: Arc<dyn SpeechToText>,
    pub budget: Budget,
}

impl Recogniser {
    /// Reserves money for [`PAID_FRAMES`]; [`covered`] tells when they may be sent. Fails with
    /// [`crate::provider::Kind::OverBudget`] at a cap.
    pub fn reserve(&self) -> Result<Reservation, Error> {
        let seconds = (FRAME * PAID_FRAMES).as_secs_f64();
        let expected = Consumption { seconds, ..Consumption::default() };
        self.budget.reserve_now(self.stt.priced_as(), HEARING, None, expected)
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
        self.stt.listen_to(speaker.0, audio, self.attempts(frames))
    }

    /// Pays again when an utterance is sent again, by its length at that time.
    fn attempts(&self, frames: &Arc<AtomicU32>) -> Attempts {
        let Some(model) = self.stt.priced_as().map(str::to_owned) else {
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
