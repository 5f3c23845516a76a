//! Requests that wait for a decision of the game master, whatever face shows them.
//!
//! Entry type: [`PendingDecisions`]. **Never**: knows Discord, or checks who decides: only game masters
//! may, and the face makes sure of it.

mod pending;
mod question;

pub use pending::{
    Asked, AskedQuestion, Choice, DecisionError, DecisionProgress, Outcome, PendingDecisions,
    Request,
};
pub use question::{Field, LABEL_MAX, Question, short};
