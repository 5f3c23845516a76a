//! Money for what is asked outside sessions.
//!
//! Entry type: [`Aside`]. **Never**: pays for a session.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    campaign::now,
    config::Config,
    engine::Budget,
    logic::budget::{BudgetOptions, Ledger},
};

/// What a session may spend, each day anew. Cloning shares it.
#[derive(Clone)]
pub struct Aside(Arc<Mutex<(i64, Budget)>>);

impl Aside {
    /// Full, of as much as `config` says.
    pub fn new(config: &Config) -> Self {
        Self(Arc::new(Mutex::new((today(), full(&config.budget)))))
    }

    /// Today's purse.
    pub fn purse(&self, config: &Config) -> Budget {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let today = today();
        if kept.0 != today {
            *kept = (today, full(&config.budget));
        }
        kept.1.clone()
    }
}

fn full(budget: &BudgetOptions) -> Budget {
    Budget::new(Ledger::new(budget.clone(), 0.0))
}

/// Days since 1970.
fn today() -> i64 {
    now() / 86_400_000
}
