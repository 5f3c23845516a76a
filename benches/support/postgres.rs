//! A database of its own on the server that `GLYPHOXA_TEST_POSTGRES` names.

use std::env;

use tokio_postgres::{Client, NoTls};

/// A database for one bench.
pub struct Database {
    admin: String,
    name: String,
    url: String,
}

impl Database {
    /// The database `name`, which may not exist yet; `None`: there is no server.
    #[expect(clippy::disallowed_methods, reason = "benches are told where a server is")]
    pub fn named(name: &str) -> Option<Self> {
        let given = env::var("GLYPHOXA_TEST_POSTGRES").ok()?;
        let (address, options) = given.split_once('?').unwrap_or((&given, ""));
        let (address, _) = address.rsplit_once('/').filter(|(it, _)| it.contains("//"))?;
        let url = |database: &str| format!("{address}/{database}?{options}");
        Some(Self { admin: url("postgres"), name: name.to_owned(), url: url(name) })
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes it, unless it exists.
    pub async fn create(&self) {
        ask(&self.admin, &format!("CREATE DATABASE {}", self.name)).await;
    }

    /// Removes it, whoever uses it.
    pub async fn remove(&self) {
        ask(&self.admin, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await;
    }

    /// Runs SQL in it.
    pub async fn ask(&self, what: &str) {
        ask(&self.url, what).await;
    }

    /// The first column of a query in it.
    pub async fn numbers(&self, query: &str) -> Vec<i64> {
        with(&self.url, async |client| {
            let rows = client.query(query, &[]).await.expect("rows");
            rows.iter().map(|row| row.get::<_, i64>(0)).collect::<Vec<_>>()
        })
        .await
    }
}

/// Runs SQL on a server; objects that it creates may exist already.
async fn ask(url: &str, what: &str) {
    with(url, async |client| {
        if let Err(error) = client.batch_execute(what).await {
            let known =
                error.as_db_error().is_some_and(|said| said.message().contains("already exists"));
            assert!(known, "{what}: {error:?}");
        }
    })
    .await;
}

/// Runs `act` with a connection of its own.
async fn with<T>(url: &str, act: impl AsyncFnOnce(&Client) -> T) -> T {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a server");
    let running = tokio::spawn(connection);
    let made = act(&client).await;
    drop(client);
    running.await.expect("a connection").expect("it ends well");
    made
}
