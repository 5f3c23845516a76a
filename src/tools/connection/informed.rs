//! Facts named by a server's headers and by the variables of its resources.
//!
//! Entry methods: [`Server::informed`], [`Server::read_again`]. **Never**: keeps a value.

use std::{collections::BTreeMap, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{client::Client, facts::UnknownName, server::Server, settle::Never, status::State};

/// Resources are read again at most once in this time because of a value.
const AT_MOST: Duration = Duration::from_secs(10);

impl Server {
    /// Waits until everything it names has a value.
    pub(super) async fn informed(&self) {
        let mut changes = self.shared.facts.changes();
        let mut has_waited = false;
        while let Err(UnknownName(name)) = self.values() {
            has_waited = true;
            tracing::debug!(server = self.address().name(), name, "a name has no value yet");
            self.known.state.send_replace(State::Lacking { name });
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        if has_waited {
            self.known.state.send_replace(State::Connecting);
        }
    }

    /// Reads its resources again when what it names has other `values`.
    pub(super) async fn read_again(
        &self,
        client: &Client,
        mut changes: watch::Receiver<()>,
        mut values: Option<Vec<String>>,
    ) -> Never {
        let mut read = None::<Instant>;
        while self.options.resources && changes.changed().await.is_ok() {
            if let Some(read) = read {
                sleep_until(read + AT_MOST).await;
                changes.mark_unchanged();
            }
            let Ok(now) = self.values() else { continue };
            if values.as_ref() != Some(&now) {
                read = Some(Instant::now());
                values = Some(now);
                self.read_resources(client).await;
                let server = self.address().name();
                tracing::info!(server, "resources were read again: a value they name has changed");
            }
        }
        std::future::pending().await
    }

    /// All its templates filled in.
    ///
    /// # Errors
    /// The first name without a value.
    pub(super) fn values(&self) -> Result<Vec<String>, UnknownName> {
        self.options.templates().map(|template| self.filled(template)).collect()
    }

    /// Current values for the templates of its resources.
    ///
    /// # Errors
    /// The first name without a value.
    pub(super) fn resource_vars(&self) -> Result<BTreeMap<String, String>, UnknownName> {
        let vars = self.options.resource_vars.iter();
        vars.map(|(name, template)| Ok((name.clone(), self.filled(template)?))).collect()
    }

    fn filled(&self, template: &str) -> Result<String, UnknownName> {
        self.shared.facts.fill(template, self.session.as_deref())
    }
}
