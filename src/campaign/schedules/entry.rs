//! A parsed schedule. Entry type: [`Entry`].

use crate::{
    domain::PersonId,
    logic::schedule::{Planned, When},
    memory::KeptSchedule,
};

/// A stored schedule. Times are Unix times in ms.
pub struct Entry {
    pub id: String,
    pub when: When,
    pub action: Planned,
    /// A person, or a program ([`by_program`]). `None`: made at the command line, or by a person
    /// deleted since.
    pub by: Option<PersonId>,
    pub made: i64,
    /// `None`: waits for a session.
    pub next: Option<i64>,
    pub last: Option<i64>,
}

/// Begins the maker of a schedule made by a program, before the id of its token.
const PROGRAM: &str = "program:";

/// The maker of a schedule: the program with this token.
pub fn by_program(token: &str) -> PersonId {
    PersonId(format!("{PROGRAM}{token}"))
}

/// A next time this many ms after `last` marks a firing as begun; no schedule has it otherwise.
const BEGUN: i64 = 1;

impl Entry {
    /// True if a program made it, which may pass on words of others.
    pub fn is_from_outside(&self) -> bool {
        self.by.as_ref().is_some_and(|by| by.0.starts_with(PROGRAM))
    }

    /// The next time that marks the firing at `next` as begun.
    pub fn begun_mark(&self) -> Option<i64> {
        self.next.map(|next| next.saturating_add(BEGUN))
    }

    /// True if a program has claimed a firing and not reported that it began.
    pub fn is_begun(&self) -> bool {
        let mark = self.last.map(|last| last.saturating_add(BEGUN));
        mark.is_some() && mark == self.next
    }

    /// `None`: written by a newer version.
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
