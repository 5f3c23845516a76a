//! Payments for an NPC's tools, from the budget of its models.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};

use super::budget::{Budget, Reservation};
use crate::{
    domain::Npc,
    logic::budget::Consumption,
    provider::{Attempts, Kind},
    tools::{CallError, CallErrorKind, Payment, Payments},
};

pub struct NpcPayments {
    npc: Arc<Npc>,
    budget: Budget,
}

impl NpcPayments {
    pub fn new(npc: Arc<Npc>, budget: Budget) -> Self {
        Self { npc, budget }
    }
}

impl Payments for NpcPayments {
    fn reserve(
        &self,
        service: &str,
        most: Consumption,
    ) -> BoxFuture<'static, Result<Box<dyn Payment>, CallError>> {
        let (npc, budget) = (Arc::clone(&self.npc), self.budget.clone());
        let service = service.to_owned();
        async move {
            let (payer, cap) = (&npc.name, npc.policy.max_cost);
            match budget.reserve(Some(&service), payer, cap, most).await {
                Ok(reserved) => Ok(Box::new(reserved) as Box<dyn Payment>),
                Err(refused) => Err(CallError::new(CallErrorKind::Policy, refused.to_string())),
            }
        }
        .boxed()
    }

    fn for_tool(&self, tool: &str) -> Option<Arc<dyn Payments>> {
        Some(Arc::new(Self::new(Arc::clone(&self.npc), self.budget.for_tool(tool))))
    }
}

impl Payment for Reservation {
    fn settle(self: Box<Self>, used: Consumption) {
        Self::settle(*self, used);
    }

    fn unused(self: Box<Self>) {
        Self::unused(*self);
    }

    fn failed(self: Box<Self>, kind: Kind) {
        Self::failed(*self, kind);
    }

    fn attempts(&self) -> Attempts {
        Self::attempts(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::logic::budget::{BudgetOptions, Ledger, Price};

    fn payments(session_max: f64, npc_max: Option<f64>) -> (NpcPayments, Budget) {
        let price = Price { picture: 0.04, ..Price::default() };
        let prices = BTreeMap::from([("painter".to_owned(), price)]);
        let options =
            BudgetOptions { session_max: Some(session_max), prices, ..BudgetOptions::default() };
        let budget = Budget::new(Ledger::new(options, 0.0));
        let mut npc = Npc::plain("Greymantle");
        npc.policy.max_cost = npc_max;
        (NpcPayments::new(Arc::new(npc), budget.clone()), budget)
    }

    fn picture() -> Consumption {
        Consumption { pictures: 1, ..Consumption::default() }
    }

    #[tokio::test]
    async fn settled_payment_is_spent() {
        let (payments, budget) = payments(1.0, None);
        let payment = payments.reserve("painter", picture()).await.expect("there is money");
        payment.settle(picture());
        assert!((budget.spent() - 0.04).abs() < 1e-9, "{}", budget.spent());
        payments.reserve("painter", picture()).await.expect("there is more").unused();
        let unauthorized = payments.reserve("painter", picture()).await.expect("there is more");
        unauthorized.failed(Kind::Unauthorized);
        assert!((budget.spent() - 0.04).abs() < 1e-9, "{}", budget.spent());
    }

    #[tokio::test]
    async fn dropped_payment_is_booked_in_full() {
        let (payments, budget) = payments(1.0, None);
        drop(payments.reserve("painter", picture()).await.expect("there is money"));
        assert!((budget.spent() - 0.04).abs() < 1e-9, "{}", budget.spent());
    }

    #[tokio::test]
    async fn caps_refuse_a_payment() {
        for (session_max, npc_max) in [(0.01, None), (1.0, Some(0.01))] {
            let (payments, _) = payments(session_max, npc_max);
            let refused = payments.reserve("painter", picture()).await.err().expect("a cap");
            assert_eq!(refused.kind, CallErrorKind::Policy);
        }
    }
}
