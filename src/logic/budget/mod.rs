//! Budget: what calls may cost, what they have cost, what is left.
//!
//! Entry type: [`Ledger`], an account as this process sees it. Before a call, [`Ledger::reserve`]
//! holds the most that it may cost ([`BudgetOptions::bound`]); it refuses if that, with everything
//! spent and under way, would exceed the session's or the payer's cap. The caller writes
//! [`Ledger::postings`] to the store, and sends the call once the store has granted the amount
//! ([`Ledger::is_covered`]). If the store refuses or cannot be reached, the call fails; its
//! spending is posted later. [`Ledger::settle`] then books what the call used, or the whole
//! reservation where that is unknown.
//! So that few turns wait for a write, claims ask for more than they need: twice the largest
//! request so far, at most 1/20 and at least 1/50 of the cap, renewed once half of it is used. A
//! process that is killed loses no more than that.
//! **Never**: knows a price; prices come from the configuration.

mod costs;
mod hour;
mod ledger;
mod price;
mod tally;
#[cfg(test)]
mod tests;

pub use hour::{ANSWERS, HourCost, MINUTES_RECEIVED, MINUTES_SPOKEN, Work};
pub use ledger::{Ledger, OverBudget, Postings, Requested, ReservedAmount};
pub use price::{BudgetOptions, Consumption, Price, SoundTokens};
