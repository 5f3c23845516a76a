//! State that the parts of an engine share.
//!
//! Entry function: [`locked`].

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `shared`, even where a holder of the lock has panicked.
pub fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
