//! Everything that changes, behind one lock, and the bell that rings when it does.
//!
//! Entry types: [`Inner`], [`State`]. Never: holding the lock across an await.

use crate::{
    clock::Clock,
    gateway::Gateways,
    interactions::Interactions,
    options::Options,
    rest::{Faults, Limits, Request},
    tls::Certificates,
    voice::Voice,
    world::{message::Message, model::World},
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, time::Instant};

/// An uploaded file.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// State that changes.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Users, guilds, channels.
    pub(crate) world: World,
    /// Gateway sessions.
    pub(crate) gateway: Gateways,
    /// Interactions by id.
    pub(crate) interactions: Interactions,
    /// Registered commands of each guild; global ones under none.
    pub(crate) commands: BTreeMap<Option<u64>, Vec<Value>>,
    /// Uploads by id.
    pub(crate) uploads: BTreeMap<u64, Upload>,
    /// Rate limits' counters.
    pub(crate) limits: Limits,
    /// Faults injected on demand.
    pub(crate) faults: Faults,
    /// All REST requests.
    pub(crate) requests: Vec<Request>,
    /// Violations of clients.
    pub(crate) violations: Vec<String>,
    /// Until when nothing passes the network.
    pub(crate) frozen_until: Option<Instant>,
}

/// State that all tasks share.
pub(crate) struct Inner {
    /// Options it was started with.
    pub(crate) options: Options,
    /// Time and ids.
    pub(crate) clock: Clock,
    /// The authority.
    pub(crate) certificates: Certificates,
    /// Address of REST.
    pub(crate) rest: SocketAddr,
    /// Address of the gateway.
    pub(crate) gateway: SocketAddr,
    /// The voice servers.
    pub(crate) voice: Voice,
    /// State that changes.
    pub(crate) state: Mutex<State>,
    /// Rings at every change.
    pub(crate) bell: watch::Sender<()>,
}

impl Inner {
    /// Looks.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes, and wakes all tasks that wait.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.bell.send_replace(());
        result
    }

    /// Changes the state without waking those who wait for changes.
    pub(crate) fn quietly<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until `look` finds something. Cancel safe.
    pub(crate) async fn wait<T>(
        &self,
        limit: Duration,
        mut look: impl FnMut(&State) -> Option<T>,
    ) -> Option<T> {
        let mut bell = self.bell.subscribe();
        let search = async {
            loop {
                bell.mark_unchanged();
                if let Some(found) = self.read(&mut look) {
                    return Some(found);
                }
                bell.changed().await.ok()?;
            }
        };
        tokio::time::timeout(limit, search).await.ok().flatten()
    }

    /// Waits until the network passes again.
    pub(crate) async fn thawed(&self) {
        while let Some(until) = self.read(|state| state.frozen_until) {
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// The address of an upload.
    pub(crate) fn upload_url(&self, channel: u64, id: u64, name: &str) -> String {
        format!("https://{}/attachments/{channel}/{id}/{name}", self.rest)
    }

    /// Address of the gateway for a client.
    pub(crate) fn gateway_url(&self) -> String {
        let scheme = if self.options.gateway_tls { "wss" } else { "ws" };
        format!("{scheme}://{}", self.gateway)
    }
}

impl State {
    /// Notes what a client did that Discord would not have taken.
    pub(crate) fn violation(&mut self, what: impl Into<String>) {
        let what = what.into();
        tracing::debug!(violation = %what, "violation");
        self.violations.push(what);
    }

    /// All messages of a channel that everyone may see.
    pub(crate) fn messages(&self, channel: u64) -> Vec<Message> {
        let there = |message: &&Message| !message.deleted && message.ephemeral_for.is_none();
        let channel = self.world.channels.get(&channel);
        channel.map(|one| one.messages.iter().filter(there).cloned().collect()).unwrap_or_default()
    }
}

/// State as the handles of tests hold it.
pub(crate) type Shared = Arc<Inner>;
