//! The memory in PostgreSQL, which many programs may share.
//!
//! Entry type: [`Postgres`]; where it is, an [`Address`]. Connections are lent by a pool, which opens
//! new ones when the server has been away. **Never**: acknowledges a line that is not on the server's
//! disk, or answers later than [`BOUND`].

mod address;
mod append;
mod failure;
mod graph;
mod index;
mod migrate;
mod removal;
mod search;
mod settings;
mod sql;
mod transcript;
mod walk;
mod words;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use deadpool_postgres::{Client, Hook, HookError, Manager, Pool, Runtime};
use rustls::crypto::ring;
use tokio::time::timeout;
use tokio_postgres::NoTls;
use tokio_postgres_rustls::MakeRustlsConnect;

pub use address::Address;

use super::Error;

/// Longest time for anything that is asked of it.
const BOUND: Duration = Duration::from_secs(30);
/// Connections of one program: some for readers, one for what is written.
const CONNECTIONS: usize = 6;
/// Longest wait for one of them to be free.
const WAIT: Duration = Duration::from_secs(5);
/// A server that is told not to flush commits is told to do so here. Questions are too short for
/// compiling them or for sharing them among processes.
const SET_UP: &str = "SELECT set_config('synchronous_commit', 'on', false) \
     WHERE current_setting('synchronous_commit') = 'off'; \
     SET jit = off; SET max_parallel_workers_per_gather = 0";

/// A memory in PostgreSQL 15 or newer with the extension `vector`.
pub struct Postgres {
    pool: Pool,
    address: Address,
    sample: Mutex<Option<Arc<words::Sample>>>,
}

impl Postgres {
    /// Connects, and brings the schema up to date. Of several programs one does it; the others wait.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or its schema is newer or none of ours.
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
    async fn client(&self) -> Result<Client, Error> {
        Ok(self.pool.get().await?)
    }
}

/// Connections to where `address` says; none is opened yet.
fn pool(address: &Address) -> Result<Pool, Error> {
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
async fn within<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = || Error::Away(format!("PostgreSQL has not answered within {} s", BOUND.as_secs()));
    timeout(BOUND, work).await.map_err(|_| late())?
}

#[cfg(test)]
mod tests;
