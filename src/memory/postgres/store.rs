//! The store and its connection pool.
//!
//! Entry type: [`Postgres`]. **Never**: answers later than [`BOUND`].

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use deadpool_postgres::{Client, Hook, HookError, Manager, Pool, Runtime};
use rustls::crypto::ring;
use tokio::time::{Instant, timeout};
use tokio_postgres::NoTls;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    address::Address,
    fence::{Fence, NeededLease},
    migrate,
};
use crate::{domain::Owner, memory::Error};

/// Longest time for any request.
pub(super) const BOUND: Duration = Duration::from_secs(30);
/// Connections of one program: some for readers, one for writes.
const CONNECTIONS: usize = 6;
/// Longest wait for a free connection.
const WAIT: Duration = Duration::from_secs(5);
/// Turns on flushed commits even if the server has them off. Turns off JIT and parallel workers:
/// queries are too short for them. Bounds how long a session that was cut off holds its locks, which
/// others wait for: less than a lease lasts by default if it waits for its program, and as long as
/// ours (see [`Address`]) if it sends.
const SET_UP: &str = "SELECT set_config('synchronous_commit', 'on', false) \
     WHERE current_setting('synchronous_commit') = 'off'; \
     SET jit = off; SET max_parallel_workers_per_gather = 0; \
     SET idle_in_transaction_session_timeout = '5s'; SET tcp_user_timeout = '15s'";

/// A memory in PostgreSQL 15 or newer with the extension `vector`.
pub struct Postgres {
    pub(super) pool: Pool,
    pub(super) renewals: Pool,
    /// A renewal is under way, or its caller has given it up.
    pub(super) is_renewing: AtomicBool,
    pub(super) address: Address,
    pub(super) sample: Mutex<Option<Arc<WordSample>>>,
    /// `None`: no lease was ever asked for, and every write is let through.
    fence: Mutex<Option<Fence>>,
}

/// Words and the share of lines that contain them, as sampled by the server.
pub(super) struct WordSample {
    pub(super) lines: f64,
    pub(super) shares: HashMap<String, f64>,
    /// Share of words not in the sample.
    pub(super) others: f64,
    pub(super) read: Instant,
}

impl WordSample {
    pub(super) fn share(&self, word: &str) -> f64 {
        self.shares.get(word).copied().unwrap_or(self.others)
    }
}

impl Postgres {
    /// Connects and updates the schema. One of several programs migrates; the others wait. Fails on
    /// an unreachable server, or a newer or foreign schema.
    pub async fn open(address: &Address) -> Result<Self, Error> {
        let store = Self {
            pool: pool(address)?,
            renewals: pool(address)?,
            is_renewing: AtomicBool::new(false),
            address: address.clone(),
            sample: Mutex::new(None),
            fence: Mutex::new(None),
        };
        let opened = async {
            let mut client = store.client().await?;
            migrate::migrate(&mut client, &migrate::STEPS).await
        };
        within(opened).await.map_err(|error| error.at(address))?;
        Ok(store)
    }

    pub(super) async fn client(&self) -> Result<Client, Error> {
        Ok(self.pool.get().await?)
    }

    pub(super) fn set_fence(&self, fence: Fence) {
        *self.fence.lock().unwrap_or_else(PoisonError::into_inner) = Some(fence);
    }

    /// The lease that a write for `owner` needs, if any. Fails if it is not held.
    pub(super) fn needed_lease(&self, owner: Owner) -> Result<Option<NeededLease>, Error> {
        match (&*self.fence.lock().unwrap_or_else(PoisonError::into_inner), owner) {
            (Some(fence), Owner::Guild(guild)) => fence.needed(guild).map(Some),
            _ => Ok(None),
        }
    }
}

/// A pool for `address`; opens no connection yet.
pub(super) fn pool(address: &Address) -> Result<Pool, Error> {
    let config = address.config().clone();
    let manager = if address.is_encrypted() {
        // An error only means that one is installed already.
        _ = ring::default_provider().install_default();
        let (tls, _) = MakeRustlsConnect::with_native_certs().map_err(|_| {
            let hint = "install ca-certificates, or set SSL_CERT_FILE";
            Error::Away(format!("no certificates to check {address} with ({hint})"))
        })?;
        Manager::new(config, tls)
    } else {
        Manager::new(config, NoTls)
    };
    let set_up = Hook::async_fn(|client: &mut deadpool_postgres::ClientWrapper, _| {
        Box::pin(async move { client.batch_execute(SET_UP).await.map_err(HookError::Backend) })
    });
    let built = Pool::builder(manager)
        .max_size(CONNECTIONS)
        .wait_timeout(Some(WAIT))
        .create_timeout(Some(WAIT))
        .recycle_timeout(Some(WAIT))
        .post_create(set_up)
        .runtime(Runtime::Tokio1)
        .build();
    built.map_err(|error| Error::Away(error.to_string()))
}

/// Bounds `work` by [`BOUND`].
pub(super) async fn within<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = || Error::Away(format!("PostgreSQL has not answered within {} s", BOUND.as_secs()));
    timeout(BOUND, work).await.map_err(|_| late())?
}
