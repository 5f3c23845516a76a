//! Money: what may be spent, what calls cost, what is left.
//!
//! Entry type: [`Ledger`], an account as this process sees it. A call is reserved **before** it is made
//! and settled after; what is reserved is covered by what is set aside in the store.
//! **Never**: knows a price of its own; prices come from the configuration.

mod hour;
mod ledger;
mod price;
mod tally;
#[cfg(test)]
mod tests;

pub use hour::{ANSWERS, HourCost, MINUTES_RECEIVED, MINUTES_SPOKEN, Work};
pub use ledger::{Ledger, OverBudget, Postings, Requested, ReservedAmount};
pub use price::{BudgetOptions, Consumption, Price, SoundTokens};
