//! Requests that wait for a decision of the game master, in any interface.
//!
//! Entry type: [`PendingDecisions`]. **Never**: checks who decides; the interface does.

mod pending;
mod question;

pub use pending::{
    Asked, AskedQuestion, Choice, DecisionError, DecisionProgress, Outcome, PendingDecisions,
    Request,
};
pub use question::{Field, LABEL_MAX, Question, short};
