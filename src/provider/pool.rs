//! Services opened once and shared by all users with equal settings.
//!
//! Entry type: [`Pool`].

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Error;

pub struct Pool<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for Pool<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + PartialEq, V: Clone> Pool<K, V> {
    /// Returns the value opened with `settings`, or opens it; the error is that of `open`.
    pub fn get(&self, settings: &K, open: impl FnOnce() -> Result<V, Error>) -> Result<V, Error> {
        let mut opened = self.opened();
        if let Some((_, service)) = opened.iter().find(|(known, _)| known == settings) {
            return Ok(service.clone());
        }
        let service = open()?;
        opened.push((settings.clone(), service.clone()));
        Ok(service)
    }

    /// Removes entries that `is_wanted` rejects. Current users keep theirs.
    pub fn retain(&self, is_wanted: impl Fn(&K) -> bool) {
        self.opened().retain(|(settings, _)| is_wanted(settings));
    }

    /// Held while a client is made, never across an await.
    fn opened(&self) -> MutexGuard<'_, Vec<(K, V)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
