//! Permission to send a request again, and its payer.
//!
//! Entry type: [`Attempts`]. **Never**: decides whether another attempt makes sense.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use super::{Error, Kind};

type Ask = dyn Fn(Kind) -> BoxFuture<'static, Result<(), Error>> + Send + Sync;

/// Asked before a request is sent again. Cloning shares it; by default every attempt is free.
#[derive(Clone, Default)]
pub struct Attempts {
    pays: Option<Arc<Ask>>,
    is_only: bool,
}

impl Attempts {
    /// Calls `ask` before each further attempt, with the kind of the previous failure.
    pub fn new(
        ask: impl Fn(Kind) -> BoxFuture<'static, Result<(), Error>> + Send + Sync + 'static,
    ) -> Self {
        Self { pays: Some(Arc::new(ask)), is_only: false }
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
        match &self.pays {
            Some(ask) => ask(failed).await,
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is_paid, is_only) = (self.pays.is_some(), self.is_only);
        f.debug_struct("Attempts").field("is_paid", &is_paid).field("is_only", &is_only).finish()
    }
}

/// Always equal, so that requests with equal contents compare equal.
impl PartialEq for Attempts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
