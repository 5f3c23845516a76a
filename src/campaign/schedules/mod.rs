//! Schedules: workflows and NPCs' lines at set times, kept in the store.
//!
//! Each schedule of a scope has the time of its next firing. A task sleeps until the earliest one,
//! or until sessions begin and end, and reads what is due from the store at least every 30 s,
//! because another program may have changed it. A due entry is claimed in the store first, and only
//! the program that got the claim starts it: nothing fires twice, whatever is killed. The claim
//! marks the entry until the firing has begun; an entry that stays marked is reported as cut off. A
//! firing more than a minute late (the program did not run, the clock was set) is missed: reported,
//! and not made up for unless `catch_up` is on.
//!
//! Times into a session count from its start by the monotonic clock. Such a schedule has no next
//! time until a session begins, and again once it has fired.
//!
//! Entry types: [`Schedules`], [`Planner`] (of one scope), [`Evenings`] (running sessions).
//! **Never**: decides what a step may do.

mod due;
mod entry;
mod evenings;
mod line;
mod planner;
mod runs;
mod service;
mod shared;
mod shown;
mod starts;
mod task;
#[cfg(test)]
mod tests;

pub use entry::{Entry as ScheduleEntry, by_program};
pub use evenings::{EveningGuard, EveningTable, Evenings};
pub use planner::{NewSchedule, Planner, ScheduleError, schedules_of_program};
pub use service::Schedules;
pub use shared::{ScheduleNotice, SchedulesParts};
pub use task::Drives;
