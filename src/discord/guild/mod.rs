//! One guild: its task, its session, and waiting requests.
//!
//! Entry function: [`open`], entry type: [`Guild`]. **Never**: waits for Discord on that task, or
//! knows a command.

mod approvals;
mod attendance;
mod callbacks;
mod earlier;
mod effects;
mod health;
mod interrupted;
mod lifecycle;
mod mic_check;
mod outbox;
mod panel;
mod people;
mod refusal;
mod requests;
mod running;
mod session;
mod settings;
mod state;
mod supervisor;
mod task;
mod watching;

#[cfg(test)]
mod tests;

pub use effects::GuildEffects;
pub use lifecycle::SessionStart;
pub use state::{Guild, Job, Shared};
pub use task::{GuildEvent, open};
#[cfg(test)]
pub use tests::shared as stand_in_shared;
