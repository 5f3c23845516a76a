//! The store and its pool of connections.
//!
//! Entry type: [`Postgres`]. **Never**: answers later than [`BOUND`].

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use deadpool_postgres::{Client, Hook, HookError, Manager, Pool, Runtime};
use rustls::crypto::ring;
use tokio::time::timeout;
use tokio_postgres::NoTls;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{super::Error, address::Address, migrate, sample::WordSample};

/// Longest time for anything that is asked of it.
pub(super) const BOUND: Duration = Duration::from_secs(30);
/// Connections of one program: some for readers, one for what is written.
const CONNECTIONS: usize = 6;
/// Longest wait for one of them to be free.
const WAIT: Duration = Duration::from_secs(5);
/// Turns on the flushing of commits where the server has it off. Questions are too short for
/// compiling them or for sharing them among processes.
const SET_UP: &str = "SELECT set_config('synchronous_commit', 'on', false) \
     WHERE current_setting('synchronous_commit') = 'off'; \
     SET jit = off; SET max_parallel_workers_per_gather = 0";

/// A memory in PostgreSQL 15 or newer with the extension `vector`.
pub struct Postgres {
    pub(super) pool: Pool,
    pub(super) address: Address,
    pub(super) sample: Mutex<Option<Arc<WordSample>>>,
}

impl Postgres {
    /// Connects, and brings the schema up to date. Of several programs one does it; the others wait.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or its schema is newer or not ours.
    pub async fn open(address: &Address) -> Result<Self, Error> {
        let pool = pool(address)?;
        let store = Self { pool, address: address.clone(), sample: Mutex::new(None) };
        let opened = async {
            let mut client = store.client().await?;
            migrate::migrate(&mut client, &migrate::STEPS).await
        };
        within(opened).await.map_err(|error| error.at(address))?;
        Ok(store)
    }

    /// A connection that stands.
    pub(super) async fn client(&self) -> Result<Client, Error> {
        Ok(self.pool.get().await?)
    }
}

/// Connections to where `address` says; none is opened yet.
pub(super) fn pool(address: &Address) -> Result<Pool, Error> {
    let config = address.config().clone();
    let manager = if address.is_encrypted() {
        // An error only says that there is one already.
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

/// Does `work` within [`BOUND`].
pub(super) async fn within<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = || Error::Away(format!("PostgreSQL has not answered within {} s", BOUND.as_secs()));
    timeout(BOUND, work).await.map_err(|_| late())?
}
