//! Permission to send a request again, and its payer.
//!
//! Entry types: [`Attempts`], [`Payer`]. **Never**: decides whether another attempt makes sense.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use super::{Error, Kind};

/// Pays for a request.
pub trait Payer: Send + Sync {
    /// Resolves once another attempt is paid for; its refusal is the error. Cancel safe.
    fn again(&self, failed: Kind) -> BoxFuture<'static, Result<(), Error>>;

    /// The request has failed before anything was received.
    fn failed(&self, _kind: Kind) {}

    /// The request is never sent.
    fn unsent(&self) {}
}

/// A payer of further attempts only.
struct Further<F>(F);

impl<F> Payer for Further<F>
where
    F: Fn(Kind) -> BoxFuture<'static, Result<(), Error>> + Send + Sync,
{
    fn again(&self, failed: Kind) -> BoxFuture<'static, Result<(), Error>> {
        self.0(failed)
    }
}

/// Asked before a request is sent again. Cloning shares it; by default every attempt is free.
#[derive(Clone, Default)]
pub struct Attempts {
    payer: Option<Arc<dyn Payer>>,
    is_only: bool,
}

impl Attempts {
    /// Calls `ask` before each further attempt, with the kind of the previous failure.
    pub fn new(
        ask: impl Fn(Kind) -> BoxFuture<'static, Result<(), Error>> + Send + Sync + 'static,
    ) -> Self {
        Self::of(Arc::new(Further(ask)))
    }

    pub fn of(payer: Arc<dyn Payer>) -> Self {
        Self { payer: Some(payer), is_only: false }
    }

    /// Allows one attempt: another service is asked when it fails.
    #[must_use]
    pub fn once(self) -> Self {
        Self { is_only: true, ..self }
    }

    pub const fn are_several(&self) -> bool {
        !self.is_only
    }

    /// Waits until the payer allows another attempt; its refusal is the error. Cancel safe.
    pub async fn again(&self, failed: Kind) -> Result<(), Error> {
        match &self.payer {
            Some(payer) => payer.again(failed).await,
            None => Ok(()),
        }
    }

    /// Reports that the request has failed before anything was received.
    pub fn failed(&self, kind: Kind) {
        self.payer.iter().for_each(|payer| payer.failed(kind));
    }

    /// Reports that the request is never sent.
    pub fn unsent(&self) {
        self.payer.iter().for_each(|payer| payer.unsent());
    }
}

impl fmt::Debug for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is_paid, is_only) = (self.payer.is_some(), self.is_only);
        f.debug_struct("Attempts").field("is_paid", &is_paid).field("is_only", &is_only).finish()
    }
}

/// Always equal, so that requests with equal contents compare equal.
impl PartialEq for Attempts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
