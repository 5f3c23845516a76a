//! Facts that models propose, and the decisions of game masters about them.
//!
//! Entry type: [`ProposedFacts`]; functions [`facts`], [`decide`], [`consolidate`]. **Never**:
//! takes a proposal for true without a verdict.

mod proposals;
mod service;

pub use proposals::{
    Decided, Fact, FactError, FactId, FactStatus, FactsPage, Verdict, WaitingFacts, consolidate,
    decide, facts,
};
pub use service::ProposedFacts;
