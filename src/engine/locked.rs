//! Lock of shared state.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ignores poisoning.
pub fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
