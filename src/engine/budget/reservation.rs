//! Money for one request and its retries.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::time::timeout;

use super::account::Account;
use crate::{
    engine::locked::locked,
    logic::budget::{Consumption, OverBudget, Requested, ReservedAmount},
    provider::{Attempts, Error, Kind, Payer},
};

const PATIENCE: Duration = Duration::from_secs(5);

/// Reserved money. Booked in full if dropped unsettled, because a cancelled request may have been
/// billed.
#[must_use = "a request is settled when it is over"]
pub struct Reservation(Arc<Reserved>);

struct Reserved {
    account: Account,
    /// Name in the price list; `None`: free.
    model: Option<String>,
    payer: String,
    payer_cap: Option<f64>,
    expected: Consumption,
    amount: Mutex<Option<ReservedAmount>>,
    /// Consumption counted by the service so far.
    counted: Mutex<Consumption>,
}

impl Reservation {
    pub(super) fn new(
        account: Account,
        model: Option<&str>,
        payer: &str,
        payer_cap: Option<f64>,
        expected: Consumption,
    ) -> Result<Self, Error> {
        let (amount, counted) = (Mutex::default(), Mutex::default());
        let (model, payer) = (model.map(str::to_owned), payer.to_owned());
        let reserved = Reserved { account, model, payer, payer_cap, expected, amount, counted };
        *reserved.amount() = reserved.set_aside()?;
        Ok(Self(Arc::new(reserved)))
    }

    pub fn is_ready(&self) -> bool {
        matches!(self.0.is_covered(), Ok(true))
    }

    /// Waits until the store has granted the money. Fails with [`Kind::OverBudget`] at a cap or
    /// without the store. Cancel safe.
    pub fn ready(&self) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        self.ready_within(PATIENCE)
    }

    /// Like [`Self::ready`], with another longest wait for the store.
    pub fn ready_within(
        &self,
        patience: Duration,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let reserved = Arc::clone(&self.0);
        async move { reserved.ready(patience).await }
    }

    pub fn attempts(&self) -> Attempts {
        if self.0.model.is_none() {
            return Attempts::default();
        }
        Attempts::of(Arc::new(Pays(Arc::clone(&self.0))))
    }

    pub fn expected(&self) -> Consumption {
        self.0.expected
    }

    /// Notes the service's count so far; at least this is booked in any case.
    pub fn counted(&self, counted: Consumption) {
        *locked(&self.0.counted) = counted;
    }

    pub fn settle(self, used: Consumption) {
        self.0.settle(Some(used));
    }

    pub fn unused(self) {
        self.0.release();
    }

    /// Returns the money if certainly not billed, except what the service has counted.
    pub fn failed(self, kind: Kind) {
        self.0.failed(kind);
    }
}

struct Pays(Arc<Reserved>);

impl Payer for Pays {
    fn again(&self, failed: Kind) -> BoxFuture<'static, Result<(), Error>> {
        let reserved = Arc::clone(&self.0);
        async move { reserved.again(failed).await }.boxed()
    }

    fn failed(&self, kind: Kind) {
        self.0.failed(kind);
    }

    fn unsent(&self) {
        self.0.release();
    }
}

impl Reserved {
    fn set_aside(&self) -> Result<Option<ReservedAmount>, Error> {
        let Some(model) = self.model.as_deref() else { return Ok(None) };
        let Self { payer, payer_cap, expected, .. } = self;
        let (payer_cap, expected) = (*payer_cap, *expected);
        let tool = self.account.tool.as_deref();
        let requested = Requested { model, payer, payer_cap, expected, tool };
        let reserved = self.account.shared.with(|ledger| ledger.reserve(&requested));
        reserved.map(Some).map_err(|error| over_budget(&error))
    }

    fn is_covered(&self) -> Result<bool, OverBudget> {
        let amount = self.amount();
        let Some(amount) = &*amount else { return Ok(true) };
        self.account.shared.look(|ledger| ledger.is_covered(amount))
    }

    async fn ready(&self, patience: Duration) -> Result<(), Error> {
        let mut changed = self.account.shared.changed.subscribe();
        let covered = async {
            loop {
                changed.mark_unchanged();
                match self.is_covered() {
                    Ok(true) => return Ok(()),
                    Err(refused) => return Err(refused),
                    Ok(false) => {}
                }
                if changed.changed().await.is_err() {
                    return Err(OverBudget::Away("the account is closed".to_owned()));
                }
            }
        };
        let late = || {
            let seconds = patience.as_secs();
            OverBudget::Away(format!("the store has not answered within {seconds} s"))
        };
        let covered = timeout(patience, covered).await.unwrap_or_else(|_| Err(late()));
        covered.map_err(|refused| {
            // Nothing was sent.
            self.release();
            over_budget(&refused)
        })
    }

    async fn again(&self, failed: Kind) -> Result<(), Error> {
        if !failed.may_be_billed() {
            return Ok(());
        }
        // Booked even if the retry is refused.
        self.settle(None);
        let fresh = self.set_aside()?;
        *self.amount() = fresh;
        self.ready(PATIENCE).await
    }

    fn failed(&self, kind: Kind) {
        if kind.may_be_billed() {
            return;
        }
        let counted = self.take_counted();
        if counted == Consumption::default() {
            self.release();
        } else {
            self.settle(Some(counted));
        }
    }

    fn settle(&self, used: Option<Consumption>) {
        let Some(amount) = self.take() else { return };
        let counted = self.take_counted();
        self.account.shared.with(|ledger| match used {
            Some(used) => ledger.settle(amount, used),
            None => ledger.settle_at_least(amount, counted),
        });
    }

    fn take_counted(&self) -> Consumption {
        std::mem::take(&mut *locked(&self.counted))
    }

    fn release(&self) {
        if let Some(amount) = self.take() {
            self.account.shared.with(|ledger| ledger.release(amount));
        }
    }

    fn take(&self) -> Option<ReservedAmount> {
        self.amount().take()
    }

    /// **Never**: held across an await.
    fn amount(&self) -> MutexGuard<'_, Option<ReservedAmount>> {
        locked(&self.amount)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.0.settle(None);
    }
}

/// Books a retry that began after its [`Reservation`] was dropped.
impl Drop for Reserved {
    fn drop(&mut self) {
        self.settle(None);
    }
}

fn over_budget(error: &OverBudget) -> Error {
    Error::new(Kind::OverBudget, error.to_string())
}
