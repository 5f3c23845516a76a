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
    budget: Budget,
}

impl DailyAllowance {
    /// Today's, of as much as `options` allow.
    pub fn new(options: &BudgetOptions) -> Self {
        Self(Arc::new(Mutex::new(Today::full(options))))
    }

    /// Today's budget; a new day's has what `options` allow.
    pub fn budget(&self, options: &BudgetOptions) -> Budget {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.day != today() {
            *kept = Today::full(options);
        }
        kept.budget.clone()
    }
}

impl Today {
    fn full(options: &BudgetOptions) -> Self {
        Self { day: today(), budget: Budget::new(Ledger::new(options.clone(), 0.0)) }
    }
}

/// Days since 1970.
pub fn today() -> i64 {
    now() / DAY
}
