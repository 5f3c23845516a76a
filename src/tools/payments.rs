//! Money for built-in tools that ask a paid service.
//!
//! Entry types: [`Payments`], [`Payment`]; [`super::CallContext::pay`] asks them. **Never**: knows a budget.

use futures::future::BoxFuture;

use super::CallError;
use crate::{
    logic::budget::Consumption,
    provider::{Attempts, Kind},
};

/// Sets money aside for a caller.
pub trait Payments: Send + Sync {
    /// Reserves what a request to the service priced as `service` may use at most. Cancel safe.
    ///
    /// # Errors
    /// [`super::CallErrorKind::Policy`] when a spending cap would be passed.
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

/// Payment for a request that costs nothing.
pub(super) struct Free;

impl Payment for Free {
    fn settle(self: Box<Self>, _used: Consumption) {}

    fn unused(self: Box<Self>) {}

    fn failed(self: Box<Self>, _kind: Kind) {}

    fn attempts(&self) -> Attempts {
        Attempts::default()
    }
}
