//! Services that are opened once and shared by all users with equal settings.
//!
//! Entry type: [`Pool`]. **Never**: opens twice what has equal settings.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Error;

/// Open services by their settings. They are few, so a list is searched.
pub struct Pool<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for Pool<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + PartialEq, V: Clone> Pool<K, V> {
    /// The value opened with `settings`, else the one that `open` makes now.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn get(&self, settings: &K, open: impl FnOnce() -> Result<V, Error>) -> Result<V, Error> {
        let mut opened = self.opened();
        if let Some((_, service)) = opened.iter().find(|(known, _)| known == settings) {
            return Ok(service.clone());
        }
        let service = open()?;
        opened.push((settings.clone(), service.clone()));
        Ok(service)
    }

    /// Lets go of what `is_wanted` says no to; who uses it still, keeps it.
    pub fn retain(&self, is_wanted: impl Fn(&K) -> bool) {
        self.opened().retain(|(settings, _)| is_wanted(settings));
    }

    /// Held while a client is made, never across an await.
    fn opened(&self) -> MutexGuard<'_, Vec<(K, V)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
