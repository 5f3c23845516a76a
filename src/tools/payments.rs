//! Money for built-in tools that ask a paid service.
//!
//! Entry types: [`Payments`], [`Payment`]; entry method: [`CallContext::pay`]. **Never**: knows a budget.

use futures::future::BoxFuture;

use super::{CallContext, CallError, CallErrorKind};
use crate::{
    logic::budget::Consumption,
    provider::{Attempts, Kind},
};

/// Sets money aside for a caller.
pub trait Payments: Send + Sync {
    /// Reserves what a request to the service priced as `service` may use at most. Cancel safe.
    ///
    /// # Errors
    /// [`CallErrorKind::Policy`] when a spending cap would be passed.
    fn reserve(
        &self,
        service: &str,
        most: Consumption,
    ) -> BoxFuture<'static, Result<Box<dyn Payment>, CallError>>;
}

/// Money reserved for one request; booked in full when dropped unsettled.
pub trait Payment: Send + Sync {
    /// Books `used`.
    fn settle(self: Box<Self>, used: Consumption);

    /// Gives everything back: the request was not sent.
    fn unused(self: Box<Self>);

    /// Gives back what a request that failed with `kind` cannot have cost.
    fn failed(self: Box<Self>, kind: Kind);

    /// Pays for sending the request again.
    fn attempts(&self) -> Attempts;
}

impl CallContext {
    /// Reserves money for a request of this call; a free service (`None`) always passes. Cancel safe.
    ///
    /// # Errors
    /// [`CallErrorKind::Policy`] when a spending cap would be passed, or no budget counts this call.
    pub async fn pay(
        &self,
        service: Option<&str>,
        most: Consumption,
    ) -> Result<Box<dyn Payment>, CallError> {
        let Some(service) = service else { return Ok(Box::new(Free)) };
        let payments = self.authority.caller().and_then(|caller| caller.payments.as_ref());
        let payments = payments.ok_or_else(|| {
            let why = format!(
                "'{service}' costs money, and nothing counts it here (call the tool in a session)"
            );
            CallError::new(CallErrorKind::Policy, why)
        })?;
        payments.reserve(service, most).await
    }
}

/// A request that costs nothing.
struct Free;

impl Payment for Free {
    fn settle(self: Box<Self>, _used: Consumption) {}

    fn unused(self: Box<Self>) {}

    fn failed(self: Box<Self>, _kind: Kind) {}

    fn attempts(&self) -> Attempts {
        Attempts::default()
    }
}
