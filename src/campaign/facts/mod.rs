//! What models propose to hold for true, and what game masters decide about it.
//!
//! Entry functions: [`facts`], [`waiting`], [`decide`], [`settle`]. **Never**: takes a proposal for true
//! unasked.

mod decisions;
mod fact;
mod proposals;

pub use decisions::{decide, facts};
pub use fact::{Fact, FactId, FactStatus, Verdict, WaitingFacts, WantedFacts};
pub use proposals::{consolidate, fact, settle, waiting};
