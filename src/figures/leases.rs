//! Figures of this node's shards and their leases, missing without a bot. Entry type: [`Shards`].

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{names, written::Lines};

/// Reason for a lease that ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseLoss {
    /// It was not renewed in time; also if this node took the shard again, with a later epoch.
    Expired,
    /// A renewal was answered without it, or the store refused a line.
    Taken,
}

impl LeaseLoss {
    pub const ALL: [Self; 2] = [Self::Expired, Self::Taken];

    /// Value of the label "reason".
    pub const fn word(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Taken => "taken",
        }
    }
}

#[derive(Debug, Default)]
pub struct Shards(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Held by this node, and of the whole bot.
    count: Option<(u32, u32)>,
    renewed: Option<Instant>,
}

impl Shards {
    pub fn set(&self, held: u32, total: u32) {
        self.state().count = Some((held, total));
    }

    pub fn renewed(&self, at: Instant) {
        self.state().renewed = Some(at);
    }

    pub fn since_renewal(&self, now: Instant) -> Option<Duration> {
        self.state().renewed.map(|at| now.saturating_duration_since(at))
    }

    pub fn write(&self, lines: &mut Lines, since_renewal: Option<Duration>) {
        if let Some((held, total)) = self.state().count {
            lines.gauge(&names::SHARDS_HELD, held);
            lines.gauge(&names::SHARDS, total);
        }
        if let Some(since) = since_renewal {
            lines.gauge(&names::RENEWAL_AGE, since.as_secs_f64());
        }
    }

    /// Held for a look-up, never across an await.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
