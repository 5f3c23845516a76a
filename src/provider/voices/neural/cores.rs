//! Threads that compute speech, and values loaded once for all tables.
//!
//! Entry types: [`Cores`], [`Kept`]. **Never**: computes more at once than there are cores, or
//! loads a value twice.

use std::{
    collections::HashMap,
    fmt::Display,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
    thread::available_parallelism,
};

use tokio::{
    sync::{OnceCell, Semaphore},
    task::spawn_blocking,
};

use crate::provider::{Error, Kind};

/// Permits for cores; clones share them.
#[derive(Clone)]
pub struct Cores(Arc<Semaphore>);

impl Default for Cores {
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new(cores)))
    }
}

impl Cores {
    /// Runs `work` on its own thread, once a core is free; `what` names the files in errors. A
    /// panic of the runtime becomes an error.
    pub async fn computed<T: Send + 'static>(
        &self,
        what: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let done = spawn_blocking(move || {
            let _until_done = permit;
            work()
        });
        done.await.map_err(|_| unusable(what, "the runtime crashed on them"))
    }
}

/// Error for unusable files; `what` is, for example, "the Piper voice 'joe'".
pub fn unusable(what: &str, why: impl Display) -> Error {
    let text = format!("the files of {what} cannot be used: {why} (download them again)");
    Error::new(Kind::Protocol, text)
}

type Slot<V> = Arc<OnceCell<Arc<V>>>;

/// Values that are loaded on first use and then shared.
pub struct Kept<K, V>(Mutex<HashMap<K, Slot<V>>>);

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash, V> Kept<K, V> {
    /// The value of `key`, from `load` on first use. Cancel safe. After an error the next call
    /// retries.
    pub async fn get_or_load<F: Future<Output = Result<V, Error>>>(
        &self,
        key: &K,
        load: impl FnOnce() -> F,
    ) -> Result<Arc<V>, Error> {
        let place = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(key.clone()).or_default())
        };
        let load = || async { load().await.map(Arc::new) };
        place.get_or_try_init(load).await.cloned()
    }

    pub fn loaded(&self, key: &K) -> Option<Arc<V>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(key)?.get().cloned()
    }
}
