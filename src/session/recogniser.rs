//! The recogniser of a table, and the payments for it.
//!
//! Entry type: [`Recogniser`]. **Never**: reads the text.

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
    engine::{Budget, Reservation},
    logic::budget::Consumption,
    provider::{Attempts, Error, SpeechEvent, SpeechToText},
};

/// Frames that are paid for before they are sent, again and again while a recognition goes on: 10 s.
pub const PAID_FRAMES: u32 = 500;
/// Longest wait for the store before an utterance is given up: its speaker waits for an answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// Payer of speech recognition, as the budget names it.
const HEARING: &str = "hearing";

/// Resolves once the store has set money aside.
pub type Covered = BoxFuture<'static, Result<(), Error>>;

/// The recogniser of a table, and the budget that pays for it.
#[derive(Clone)]
pub struct Recogniser {
    /// The service that understands speech.
    pub stt: Arc<dyn SpeechToText>,
    /// Budget that pays for its seconds.
    pub budget: Budget,
}

impl Recogniser {
    /// Pays ahead for [`PAID_FRAMES`]; [`covered`] says when they may be sent.
    ///
    /// # Errors
    /// [`crate::provider::Kind::OverBudget`] when a cap would be passed.
    pub fn reserve(&self) -> Result<Reservation, Error> {
        let seconds = (FRAME * PAID_FRAMES).as_secs_f64();
        let expected = Consumption { seconds, ..Consumption::default() };
        self.budget.reserve_now(self.stt.priced_as(), HEARING, None, expected)
    }

    /// Pays ahead for further [`PAID_FRAMES`]; the future resolves once they may be sent (`None`: at once).
    pub fn pay_on(&self) -> (Option<Reservation>, Option<Covered>) {
        match self.reserve() {
            Ok(held) => {
                let covered = covered(&held);
                (Some(held), covered)
            }
            Err(error) => (None, Some(future::ready(Err(error)).boxed())),
        }
    }

    /// Has the recogniser hear `audio` of `speaker`, which is paid for; `frames` counts all of it.
    pub fn listen(
        &self,
        speaker: SpeakerId,
        audio: mpsc::Receiver<Frame>,
        frames: &Arc<AtomicU32>,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        self.stt.listen_to(speaker.0, audio, self.attempts(frames))
    }

    /// Pays for an utterance once more when it is sent again, by the frames there are of it then.
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

/// Resolves once the store has set `held` aside, with an error after [`PATIENCE`]; `None`: it has.
pub fn covered(held: &Reservation) -> Option<Covered> {
    (!held.is_ready()).then(|| held.ready_within(PATIENCE).boxed())
}
