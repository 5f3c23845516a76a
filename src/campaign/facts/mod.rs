//! Facts that models propose, and the decisions of game masters about them.
//!
//! Entry type: [`ProposedFacts`]; functions [`facts`], [`decide`], [`consolidate`]. **Never**:
//! takes a proposal for true without a verdict.

mod decisions;
mod fact;
mod proposals;
mod service;

pub use decisions::{decide, facts};
pub use fact::{Fact, FactId, FactStatus, FactsPage, Verdict, WaitingFacts};
pub use proposals::{Decided, FactError, consolidate};
pub use service::ProposedFacts;
