//! Requests that wait for a decision of the game master, in any interface.
//!
//! Entry type: [`PendingDecisions`]. **Never**: checks who decides; the interface does.

mod pending;
mod question;

pub use pending::{
    Asked, AskedQuestion, Choice, DecisionError, Outcome, PendingDecisions, Progress, Request,
};
pub use question::{Field, LABEL_MAX, Question, short};
