//! Payment for built-in tools that use a paid service.

use futures::future::BoxFuture;

use super::CallError;
use crate::{
    logic::budget::Consumption,
    provider::{Attempts, Kind},
};

pub trait Payments: Send + Sync {
    /// Reserves the most a request to `service` may cost. Cancel safe.
    ///
    /// # Errors
    /// [`super::CallErrorKind::Policy`] if a spending cap would be exceeded.
    fn reserve(
        &self,
        service: &str,
        most: Consumption,
    ) -> BoxFuture<'static, Result<Box<dyn Payment>, CallError>>;
}

/// Money reserved for one request; fully booked if dropped unsettled.
pub trait Payment: Send + Sync {
    fn settle(self: Box<Self>, used: Consumption);

    /// Refunds everything: the request was not sent.
    fn unused(self: Box<Self>);

    /// Refunds the part a request that failed with `kind` cannot have cost.
    fn failed(self: Box<Self>, kind: Kind);

    /// Pays for retries.
    fn attempts(&self) -> Attempts;
}

pub(super) struct Free;

impl Payment for Free {
    fn settle(self: Box<Self>, _used: Consumption) {}

    fn unused(self: Box<Self>) {}

    fn failed(self: Box<Self>, _kind: Kind) {}

    fn attempts(&self) -> Attempts {
        Attempts::default()
    }
}
