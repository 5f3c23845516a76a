//! Money for sessions and for calls outside them. Entry type: [`Accounts`].
//!
//! Opens a [`Budget`] over an account of the ledger. One task per budget posts its spending and
//! sets money aside in advance, so a turn rarely waits for the disk; money set aside by a killed
//! process counts as spent. **Never**: refunds a session.

use std::{sync::Arc, time::Duration};

use futures::future::{BoxFuture, FutureExt};
use tokio::time::{Instant, sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::clock::{date, now};
use crate::{
    domain::{Cost, HEARING, Money, Npc, Scope},
    engine::{Budget, BudgetWriter, NpcPayments},
    figures::Figures,
    logic::budget::{BudgetOptions, Consumption, Ledger, Postings},
    memory::{AccountId, AccountRequest, DayCost, Error, MemoryStore, Posting},
    panics::caught,
    tools::{CallError, CallErrorKind, Payment, Payments},
};

/// Sessions within twelve hours of each other share an account; in ms.
const SESSION_LASTS: i64 = 12 * 3_600 * 1_000;
/// Delay before the store is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// Purpose of an account.
#[derive(Clone, Debug)]
pub enum AccountFor {
    /// Successive sessions of an owner within twelve hours.
    Play {
        /// The session that costs are booked on; empty: one that is not stored.
        session: String,
    },
    /// Calls outside sessions within twelve hours.
    Outside,
    /// One session that is stored and continued, with no time limit.
    Kept {
        session: String,
        /// Money spent before the ledger existed.
        before: f64,
    },
}

/// This process's accounts in one store. Cloning shares them.
#[derive(Clone)]
pub struct Accounts(Arc<Open>);

struct Open {
    /// `None`: no model has a price.
    store: Option<Arc<dyn MemoryStore>>,
    /// Of the program that spends.
    figures: Figures,
    writing: TaskTracker,
    stop: CancellationToken,
}

impl Accounts {
    /// Accounts in `store`; `None` if no model has a price.
    pub fn new(store: Option<Arc<dyn MemoryStore>>) -> Self {
        let (writing, stop) = (TaskTracker::new(), CancellationToken::new());
        Self(Arc::new(Open { store, figures: Figures::default(), writing, stop }))
    }

    /// Figures of the program, which all of its spending feeds.
    pub fn figures(&self) -> &Figures {
        &self.0.figures
    }

    /// Budget of `scope` within `options`. Writes nothing without prices.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn open(
        &self,
        scope: &Scope,
        account: AccountFor,
        options: &BudgetOptions,
    ) -> Result<Budget, Error> {
        let recent = now() - SESSION_LASTS;
        let (name, since, before, session) = match account {
            AccountFor::Play { session } => ("play".to_owned(), recent, 0.0, session),
            AccountFor::Outside => ("outside".to_owned(), recent, 0.0, String::new()),
            AccountFor::Kept { session, before } => {
                (format!("session:{session}"), 0, before, session)
            }
        };
        let Some(store) = self.0.store.clone().filter(|_| !options.prices.is_empty()) else {
            return Ok(Budget::new(Ledger::new(options.clone(), before)));
        };
        // Outside a session no player waits for a first word.
        let at_rest = name == "outside";
        let wanted = AccountRequest { name, since, now: now(), before: Money::of(before) };
        let account = store.account(scope, wanted).await?;
        let budget = Budget::new(Ledger::kept(options.clone(), at_rest));
        let at =
            Kept { store, figures: self.0.figures.clone(), scope: scope.clone(), account, session };
        let writer = budget.writer();
        // Earlier spending is known from here on, and money is reserved in advance.
        if let Some(postings) = writer.now() {
            at.post(&writer, &postings).await?;
        }
        self.0.writing.spawn(write_down(writer, at, self.0.stop.clone()));
        Ok(budget)
    }

    /// Stops spending, and waits until all of it is written and reservations are released.
    pub async fn close(&self) {
        self.0.stop.cancel();
        self.0.writing.close();
        self.0.writing.wait().await;
    }
}

/// Account of a store that records a budget.
struct Kept {
    store: Arc<dyn MemoryStore>,
    figures: Figures,
    scope: Scope,
    account: AccountId,
    /// Id of the session; empty outside sessions.
    session: String,
}

impl Kept {
    async fn post(&self, writer: &BudgetWriter, postings: &Postings) -> Result<(), Error> {
        let today = date(now());
        let start = |length| today.chars().take(length).collect::<String>();
        let day = start("YYYY-MM-DD".len());
        let on_day = |cost: &Cost| DayCost {
            day: day.clone(),
            session: self.session.clone(),
            cost: cost.clone(),
        };
        let posting = Posting {
            account: self.account,
            month: start("YYYY-MM".len()),
            month_max: postings.month_max,
            claims: postings.claims.clone(),
            costs: postings.costs.iter().map(on_day).collect(),
        };
        let began = Instant::now();
        let answer = self.store.post(&self.scope, posting).await;
        self.figures.store("spending", began.elapsed());
        match answer {
            Ok(granted) => {
                writer.posted(postings, &granted);
                for cost in &postings.costs {
                    self.figures.spent(&cost.service, kind(cost), cost.spent.0);
                }
                Ok(())
            }
            Err(error) => {
                writer.unposted(postings, error.to_string());
                Err(error)
            }
        }
    }
}

/// Kind of the expense `cost`.
fn kind(cost: &Cost) -> &'static str {
    match (cost.tool.is_empty(), cost.payer.as_str()) {
        (false, _) => "tool",
        (true, HEARING) => HEARING,
        (true, _) => "npc",
    }
}

/// Posts spending from a budget until it is closed.
async fn write_down(writer: BudgetWriter, at: Kept, stop: CancellationToken) {
    let writing = async {
        while let Some(postings) = writer.next().await {
            let posted = caught(at.post(&writer, &postings)).await.unwrap_or_else(|fault| {
                let error = Error::Failed(fault.to_string());
                writer.unposted(&postings, error.to_string());
                Err(error)
            });
            if let Err(error) = posted {
                tracing::warn!(%error, "cannot record what is spent");
                if writer.is_closed() {
                    // The reserved amount stays counted as spent.
                    return;
                }
                sleep(AGAIN).await;
            }
        }
    };
    let closing = async {
        stop.cancelled().await;
        writer.close();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = writing => {}
        () = closing => {}
    }
}

/// Pays for one NPC from the account for calls outside sessions, which each reservation opens.
struct OutsidePayments {
    accounts: Accounts,
    scope: Scope,
    options: BudgetOptions,
    npc: Arc<Npc>,
    /// Tool that costs are booked on.
    tool: Option<Arc<str>>,
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
            tool: None,
        })
    }
}

impl Payments for OutsidePayments {
    fn reserve(
        &self,
        service: &str,
        most: Consumption,
    ) -> BoxFuture<'static, Result<Box<dyn Payment>, CallError>> {
        let Self { accounts, scope, options, npc, tool } = self;
        let (accounts, npc, service) = (accounts.clone(), Arc::clone(npc), service.to_owned());
        let (scope, options, tool) = (scope.clone(), options.clone(), tool.clone());
        async move {
            let budget = accounts.open(&scope, AccountFor::Outside, &options).await;
            let budget = budget.map_err(|error| {
                let what = format!("cannot record what '{service}' costs: {error}");
                CallError::new(CallErrorKind::Policy, what)
            })?;
            let budget = tool.map_or_else(|| budget.clone(), |tool| budget.for_tool(&tool));
            NpcPayments::new(npc, budget).reserve(&service, most).await
        }
        .boxed()
    }

    fn for_tool(&self, tool: &str) -> Option<Arc<dyn Payments>> {
        let Self { accounts, scope, options, npc, tool: _ } = self;
        Some(Arc::new(Self {
            accounts: accounts.clone(),
            scope: scope.clone(),
            options: options.clone(),
            npc: Arc::clone(npc),
            tool: Some(Arc::from(tool)),
        }))
    }
}

#[cfg(test)]
mod tests;
