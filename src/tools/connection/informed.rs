//! Placeholders in a server's headers and resource variables.

use std::{collections::BTreeMap, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{client::Client, facts::UnknownName, server::Server, settle::Never, status::State};

/// Shortest interval between rereads of resources after a change of values.
const AT_MOST: Duration = Duration::from_secs(10);

impl Server {
    /// Waits until every placeholder has a value.
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

    /// Rereads resources when their placeholders have other `values`.
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

    /// All templates, filled in.
    pub(super) fn values(&self) -> Result<Vec<String>, UnknownName> {
        self.options.templates().map(|template| self.filled(template)).collect()
    }

    /// Variables of its resource templates, filled in.
    pub(super) fn resource_vars(&self) -> Result<BTreeMap<String, String>, UnknownName> {
        let vars = self.options.resource_vars.iter();
        vars.map(|(name, template)| Ok((name.clone(), self.filled(template)?))).collect()
    }

    fn filled(&self, template: &str) -> Result<String, UnknownName> {
        self.shared.facts.fill(template, self.session.as_deref())
    }
}
