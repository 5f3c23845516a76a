//! Who pays for a request that is sent again.
//!
//! Entry type: [`Attempts`]. **Never**: decides whether another attempt makes sense.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use super::{Error, Kind};

type Ask = dyn Fn(Kind) -> BoxFuture<'static, Result<(), Error>> + Send + Sync;

/// Asked before a request is sent again. Cloning shares it; the default has nobody pay.
#[derive(Clone, Default)]
pub struct Attempts(Option<Arc<Ask>>);

impl Attempts {
    /// `ask` is told how the attempt before has failed.
    pub fn new(
        ask: impl Fn(Kind) -> BoxFuture<'static, Result<(), Error>> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(ask)))
    }

    /// Waits until another attempt is paid for, after one that has failed so. Cancel safe.
    ///
    /// # Errors
    /// Nobody pays for it.
    pub async fn again(&self, failed: Kind) -> Result<(), Error> {
        match &self.0 {
            Some(ask) => ask(failed).await,
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attempts").field(&self.0.is_some()).finish()
    }
}

/// Requests are the same when the same is asked, whoever pays.
impl PartialEq for Attempts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
