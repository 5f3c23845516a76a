//! Conversations that fill their model's window, summed up while nobody waits.
//!
//! Entry type: [`Summaries`]. A summary begins when nobody is being answered; where the model may be able to
//! do one thing at a time, a turn cancels it, and it restarts afterwards.
//! **Never**: delays a turn, or the end of a session.

use std::collections::HashMap;

use tokio::{
    sync::oneshot,
    task::{AbortHandle, Id, JoinError, JoinSet},
};

use super::{seat_id::SeatId, seats::Seats};
use crate::{
    engine::{Summarising, Summary},
    provider::Error,
};

/// Outcome of a summary.
pub type Ended = Result<(Id, Result<Summary, Error>), JoinError>;

/// The summaries of a table under way; dropping it ends them.
#[derive(Default)]
pub struct Summaries {
    tasks: JoinSet<Result<Summary, Error>>,
    under_way: HashMap<Id, UnderWay>,
    /// Something has been said since it was last looked at what is to be summed up.
    is_due: bool,
    /// Callers that wait until there is nothing to sum up.
    waiting: Vec<oneshot::Sender<()>>,
}

/// A summary that is being made.
struct UnderWay {
    seat: SeatId,
    end: AbortHandle,
    gives_way: bool,
}

impl Summaries {
    /// The next that ends; `None`: none is under way. Cancel safe.
    pub async fn next(&mut self) -> Option<Ended> {
        self.tasks.join_next_with_id().await
    }

    /// A conversation has become longer.
    pub const fn due(&mut self) {
        self.is_due = true;
    }

    /// Ends those that give way: somebody is asked something.
    pub fn give_way(&self) {
        self.under_way.values().filter(|it| it.gives_way).for_each(|it| it.end.abort());
    }

    /// Ends all: words that they read are deleted. They begin again on what is left.
    pub fn withdraw(&self) {
        self.under_way.values().for_each(|it| it.end.abort());
    }

    /// Answers when there is nothing to sum up.
    pub fn wait(&mut self, done: oneshot::Sender<()>) {
        self.waiting.push(done);
    }

    fn is_at(&self, seat: SeatId) -> bool {
        self.under_way.values().any(|it| it.seat == seat)
    }

    fn begin(&mut self, seat: SeatId, Summarising { work, gives_way }: Summarising) {
        let end = self.tasks.spawn(work);
        self.under_way.insert(end.id(), UnderWay { seat, end, gives_way });
    }

    /// Begins the summaries that are due, if nobody is being answered; what the game master should
    /// know of conversations that are too long.
    pub fn begin_due(&mut self, seats: &mut Seats, nobody_is_answered: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.is_due && nobody_is_answered {
            self.is_due = false;
            warnings.extend(seats.iter_mut().filter_map(|(_, seat)| seat.conversation.warning()));
            for (id, seat) in seats.iter() {
                if !self.is_at(id)
                    && let Some(summarising) = seat.conversation.summarise()
                {
                    self.begin(id, summarising);
                }
            }
        }
        if !self.is_due && self.under_way.is_empty() {
            for done in self.waiting.drain(..) {
                // The receiver may have been dropped.
                let _ = done.send(());
            }
        }
        warnings
    }

    /// A summary is there, has failed or was given up; what the game master should know of it.
    pub fn ended(&mut self, ended: Ended, seats: &mut Seats) -> Option<String> {
        let (id, outcome) = match ended {
            Ok((id, outcome)) => (id, Some(outcome)),
            Err(lost) => (lost.id(), None),
        };
        let UnderWay { seat, .. } = self.under_way.remove(&id)?;
        self.due();
        seats[seat].conversation.summarised(outcome?)
    }
}
