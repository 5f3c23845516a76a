//! Costs that are not in the store yet, by payer, service and tool. Entry type: [`Costs`].

use std::collections::BTreeMap;

use crate::domain::{Cost, Money};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CostKey {
    payer: String,
    service: String,
    tool: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct CostSum {
    spent: Money,
    requests: u64,
}

/// Costs since the last posting.
#[derive(Clone, Debug, Default)]
pub struct Costs(BTreeMap<CostKey, CostSum>);

impl Costs {
    pub fn add(&mut self, cost: Cost) {
        let Cost { payer, service, tool, spent, requests } = cost;
        let sum = self.0.entry(CostKey { payer, service, tool }).or_default();
        sum.spent = sum.spent.plus(spent);
        sum.requests = sum.requests.saturating_add(requests);
    }

    /// Removes and returns all costs.
    pub fn take(&mut self) -> Vec<Cost> {
        let all = std::mem::take(&mut self.0).into_iter();
        all.map(|(CostKey { payer, service, tool }, CostSum { spent, requests })| Cost {
            payer,
            service,
            tool,
            spent,
            requests,
        })
        .collect()
    }
}
