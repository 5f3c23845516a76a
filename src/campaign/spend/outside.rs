//! Payments for tools called as an NPC outside sessions. Entry method: [`Accounts::payments`].

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};

use super::{AccountFor, Accounts};
use crate::{
    domain::{Npc, Scope},
    engine::NpcPayments,
    logic::budget::{BudgetOptions, Consumption},
    tools::{CallError, CallErrorKind, Payment, Payments},
};

/// Pays for one NPC from the account for calls outside sessions, which each reservation opens.
struct OutsidePayments {
    accounts: Accounts,
    scope: Scope,
    options: BudgetOptions,
    npc: Arc<Npc>,
}

impl Accounts {
    /// Payments for `npc` outside sessions, within `options` and its own cap.
    pub fn payments(
        &self,
        scope: &Scope,
        options: &BudgetOptions,
        npc: &Arc<Npc>,
    ) -> Arc<dyn Payments> {
        Arc::new(OutsidePayments {
            accounts: self.clone(),
            scope: scope.clone(),
            options: options.clone(),
            npc: Arc::clone(npc),
        })
    }
}

impl Payments for OutsidePayments {
    fn reserve(
        &self,
        service: &str,
        most: Consumption,
    ) -> BoxFuture<'static, Result<Box<dyn Payment>, CallError>> {
        let Self { accounts, scope, options, npc } = self;
        let (accounts, npc, service) = (accounts.clone(), Arc::clone(npc), service.to_owned());
        let (scope, options) = (scope.clone(), options.clone());
        async move {
            let budget = accounts.open(&scope, AccountFor::Outside, &options).await;
            let budget = budget.map_err(|error| {
                let what = format!("cannot record what '{service}' costs: {error}");
                CallError::new(CallErrorKind::Policy, what)
            })?;
            NpcPayments::new(npc, budget).reserve(&service, most).await
        }
        .boxed()
    }
}
