//! Money spent, by service, NPC, tool and session. Entry type: [`CostReport`].

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{domain::Money, memory::DayCost};

/// Name of costs outside sessions.
const OUTSIDE: &str = "outside sessions";

/// Costs of a month, in the currency of the price list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostReport {
    /// YYYY-MM.
    pub month: String,
    pub cost: f64,
    /// Paid requests.
    pub requests: u64,
    /// Counted as spent beside `cost`: set aside, lost with a killed program, or from before costs
    /// were told apart.
    pub set_aside: f64,
    pub services: Vec<CostRow>,
    /// NPCs; the recogniser is "hearing".
    pub npcs: Vec<CostRow>,
    pub tools: Vec<CostRow>,
    pub sessions: Vec<CostRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostRow {
    pub name: String,
    pub cost: f64,
    pub requests: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    spent: Money,
    requests: u64,
}

/// Sums by name.
#[derive(Clone, Debug, Default)]
pub struct CostSums(BTreeMap<String, Sum>);

impl CostSums {
    fn add(&mut self, name: &str, of: &DayCost) {
        let sum = self.0.entry(name.to_owned()).or_default();
        sum.spent = sum.spent.plus(of.cost.spent);
        sum.requests = sum.requests.saturating_add(of.cost.requests);
    }

    /// Cost of `name`; 0 without one.
    pub fn of(&self, name: &str) -> f64 {
        self.0.get(name).map_or(0.0, |sum| sum.spent.units())
    }

    /// Most expensive first.
    pub fn rows(&self) -> Vec<CostRow> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by(|a, b| b.1.spent.cmp(&a.1.spent).then_with(|| a.0.cmp(b.0)));
        let rows = all.into_iter().map(|(name, sum)| CostRow {
            name: name.clone(),
            cost: sum.spent.units(),
            requests: sum.requests,
        });
        rows.collect()
    }
}

/// Costs, added up in each way that a report shows.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    pub total: Money,
    pub requests: u64,
    pub services: CostSums,
    pub npcs: CostSums,
    pub tools: CostSums,
    pub sessions: CostSums,
}

impl Costs {
    pub fn of<'a>(all: impl IntoIterator<Item = &'a DayCost>) -> Self {
        let mut costs = Self::default();
        for of in all {
            let DayCost { day: _, session, cost } = of;
            costs.total = costs.total.plus(cost.spent);
            costs.requests = costs.requests.saturating_add(cost.requests);
            costs.services.add(&cost.service, of);
            costs.npcs.add(&cost.payer, of);
            costs.sessions.add(if session.is_empty() { OUTSIDE } else { session.as_str() }, of);
            if !cost.tool.is_empty() {
                costs.tools.add(&cost.tool, of);
            }
        }
        costs
    }

    /// The report of `month`, in which `counted` is spent or set aside.
    pub fn report(&self, month: &str, counted: Money) -> CostReport {
        CostReport {
            month: month.to_owned(),
            cost: self.total.units(),
            requests: self.requests,
            set_aside: counted.less(self.total).units(),
            services: self.services.rows(),
            npcs: self.npcs.rows(),
            tools: self.tools.rows(),
            sessions: self.sessions.rows(),
        }
    }
}
