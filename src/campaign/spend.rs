//! Money for what is asked outside sessions.
//!
//! Entry type: [`DailyAllowance`]. **Never**: pays for a session.

use std::sync::{Arc, Mutex, PoisonError};

use super::clock::now;
use crate::{
    engine::Budget,
    logic::budget::{BudgetOptions, Ledger},
};

/// Milliseconds of a day.
const DAY: i64 = 24 * 3_600 * 1_000;

/// What a session may spend, each day anew. Cloning shares it.
#[derive(Clone)]
pub struct DailyAllowance(Arc<Mutex<Today>>);

/// What is left of a day's allowance.
struct Today {
    /// Days since 1970.
    day: i64,
    purse: Budget,
}

impl DailyAllowance {
    /// Today's, of as much as `budget` allows.
    pub fn new(budget: &BudgetOptions) -> Self {
        Self(Arc::new(Mutex::new(Today::full(budget))))
    }

    /// Today's purse; a new day's has what `budget` allows.
    pub fn purse(&self, budget: &BudgetOptions) -> Budget {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.day != today() {
            *kept = Today::full(budget);
        }
        kept.purse.clone()
    }
}

impl Today {
    fn full(budget: &BudgetOptions) -> Self {
        Self { day: today(), purse: Budget::new(Ledger::new(budget.clone(), 0.0)) }
    }
}

/// Days since 1970.
fn today() -> i64 {
    now() / DAY
}
