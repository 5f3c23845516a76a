//! Summaries of conversations that fill their model's window. They never delay a turn or the end of
//! a session.
//!
//! Entry type: [`Summaries`]. A summary starts while no answer is in progress. If its model may
//! only serve one request at a time, a turn cancels it, and it restarts afterwards.

use std::collections::HashMap;

use tokio::{
    sync::oneshot,
    task::{AbortHandle, Id, JoinError, JoinSet},
};

use super::{SeatId, seats::Seats};
use crate::{
    engine::{Summarising, Summary},
    provider::Error,
};

pub type Ended = Result<(Id, Result<Summary, Error>), JoinError>;

/// Summaries in progress; dropping it cancels them.
#[derive(Default)]
pub struct Summaries {
    tasks: JoinSet<Result<Summary, Error>>,
    under_way: HashMap<Id, UnderWay>,
    is_due: bool,
    waiting: Vec<oneshot::Sender<()>>,
}

struct UnderWay {
    seat: SeatId,
    end: AbortHandle,
    gives_way: bool,
}

impl Summaries {
    /// The next summary that ends; `None` without any. Cancel safe.
    pub async fn next(&mut self) -> Option<Ended> {
        self.tasks.join_next_with_id().await
    }

    pub const fn due(&mut self) {
        self.is_due = true;
    }

    /// Cancels those that would delay a turn.
    pub fn give_way(&self) {
        self.under_way.values().filter(|it| it.gives_way).for_each(|it| it.end.abort());
    }

    /// Cancels all, because words in them are deleted. They restart on the remaining text.
    pub fn withdraw(&self) {
        self.under_way.values().for_each(|it| it.end.abort());
    }

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

    /// Starts due summaries if no answer is in progress; returns notices about conversations that
    /// are too long.
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

    /// Stores a finished summary, or handles its failure; returns a notice for the game master.
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
