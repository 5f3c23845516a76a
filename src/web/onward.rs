//! Work on a connection after an answer has switched protocols.
//!
//! Entry type: [`Onward`]. A route leaves its work there, and the connection does it in its own
//! task: so it keeps its place among the open sockets, and ends with the listener.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;

/// Routes find it in the extensions of a request.
#[derive(Clone, Default)]
pub struct Onward(Arc<Mutex<Option<BoxFuture<'static, ()>>>>);

impl Onward {
    /// Leaves `work` to the connection; dropped if the answer could not be sent.
    pub fn set(&self, work: impl Future<Output = ()> + Send + 'static) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::pin(work));
    }

    pub fn take(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
