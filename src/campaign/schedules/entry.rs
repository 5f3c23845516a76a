//! A schedule as it is understood. Entry type: [`Entry`].

use crate::{
    domain::PersonId,
    logic::schedule::{Planned, When},
    memory::KeptSchedule,
};

/// A schedule of the store. Times are Unix times in ms.
pub struct Entry {
    pub id: String,
    pub when: When,
    pub action: Planned,
    /// `None`: made at the command line, or by a person deleted since.
    pub by: Option<PersonId>,
    pub made: i64,
    /// `None`: waits for a session.
    pub next: Option<i64>,
    pub last: Option<i64>,
}

/// A begun firing at `last` leaves this time after it as the next one, which no schedule has.
const BEGUN: i64 = 1;

impl Entry {
    /// The next time that marks a firing now as begun.
    pub fn begun_mark(&self) -> Option<i64> {
        self.next.map(|next| next.saturating_add(BEGUN))
    }

    /// A program has claimed a firing, and has not said that it was done.
    pub fn is_begun(&self) -> bool {
        let mark = self.last.map(|last| last.saturating_add(BEGUN));
        mark.is_some() && mark == self.next
    }

    /// `None`: a newer version has written it.
    pub fn read(kept: &KeptSchedule) -> Option<Self> {
        Some(Self {
            id: kept.id.clone(),
            when: serde_json::from_str(&kept.when).ok()?,
            action: serde_json::from_str(&kept.action).ok()?,
            by: kept.by.clone(),
            made: kept.made,
            next: kept.next,
            last: kept.last,
        })
    }
}
