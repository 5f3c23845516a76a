//! Permission to send a request again, and its payer.
//!
//! Entry type: [`Attempts`]. **Never**: decides whether another attempt makes sense.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use super::{Error, Kind};

type Ask = dyn Fn(Kind) -> BoxFuture<'static, Result<(), Error>> + Send + Sync;

/// Asked before a request is sent again. Cloning shares it; the default has nobody pay.
#[derive(Clone, Default)]
pub struct Attempts {
    /// Pays for another one.
    pays: Option<Arc<Ask>>,
    /// No other attempt is made.
    is_only: bool,
}

impl Attempts {
    /// `ask` is called before each further attempt, with the kind of the failure before it.
    pub fn new(
        ask: impl Fn(Kind) -> BoxFuture<'static, Result<(), Error>> + Send + Sync + 'static,
    ) -> Self {
        Self { pays: Some(Arc::new(ask)), is_only: false }
    }

    /// The request is sent once, for somebody else is asked when it fails.
    #[must_use]
    pub fn once(self) -> Self {
        Self { is_only: true, ..self }
    }

    /// True if it may be sent again at all.
    pub const fn are_several(&self) -> bool {
        !self.is_only
    }

    /// Waits until another attempt is paid for, after one that has failed so. Cancel safe.
    ///
    /// # Errors
    /// The payer has refused.
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

/// Always equal: requests with equal contents are equal, no matter who pays for them.
impl PartialEq for Attempts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
