//! State shared by all handles of one tool host, and its [`Permits`].

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::AtomicU64},
};

use arc_swap::ArcSwapOption;
use dashmap::DashMap;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Catalog, Snapshot, cache::Cache, connection::Facts, late_calls::LateCalls, policy::AllCalls,
    select::Selecting,
};
use crate::domain::SessionId;

/// Longest wait for a game master's decision, by default.
const APPROVAL_EXPIRES_MS: u64 = 60_000;

pub(super) struct HostState {
    pub(super) catalog: Catalog,
    pub(super) cache: Cache,
    pub(super) selector: Selecting,
    /// Jitter of retries.
    pub(super) jitter: Mutex<StdRng>,
    /// Calls that outlive their turns.
    pub(super) late: TaskTracker,
    /// The same calls by person and session.
    pub(super) late_calls: Arc<LateCalls>,
    pub(super) shutdown: CancellationToken,
    pub(super) calls: AllCalls,
    pub(super) permits: DashMap<SessionId, Permits>,
    /// In milliseconds.
    pub(super) approval_expires: AtomicU64,
    pub(super) facts: ArcSwapOption<Facts>,
}

impl HostState {
    pub(super) fn new(jitter: StdRng) -> Self {
        Self {
            catalog: Catalog::default(),
            cache: Cache::default(),
            selector: Selecting::default(),
            jitter: Mutex::new(jitter),
            late: TaskTracker::new(),
            late_calls: Arc::default(),
            shutdown: CancellationToken::new(),
            calls: AllCalls::default(),
            permits: DashMap::new(),
            approval_expires: AtomicU64::new(APPROVAL_EXPIRES_MS),
            facts: ArcSwapOption::empty(),
        }
    }
}

/// Fingerprints of allowed definitions, by identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permits(BTreeMap<String, String>);

impl Permits {
    /// Allows `tool` while it has this definition.
    pub fn allow(&mut self, tool: &str, definition: &str) {
        self.0.insert(tool.to_owned(), definition.to_owned());
    }

    /// Withdraws a permission; false if there was none.
    pub fn revoke(&mut self, tool: &str) -> bool {
        self.0.remove(tool).is_some()
    }

    pub fn allows(&self, tool: &str, definition: &str) -> bool {
        self.0.get(tool).is_some_and(|allowed| allowed == definition)
    }

    /// One line per permission, noting whether it still matches `snapshot`.
    pub fn standing(&self, snapshot: &Snapshot) -> Vec<String> {
        let lines = self.0.iter().map(|(tool, definition)| {
            let found = snapshot.all().iter().find(|placed| *placed.tool.identity == *tool);
            match found.map(|placed| *placed.tool.fingerprint == *definition) {
                Some(true) => format!("{tool}: needs no approval"),
                Some(false) => format!("{tool}: has changed since, so it asks again"),
                None => format!("{tool}: not available now"),
            }
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_definition_is_asked_about_again() {
        let mut permits = Permits::default();
        permits.allow("home.wipe", "a");
        assert!(permits.allows("home.wipe", "a"));
        assert!(!permits.allows("home.wipe", "b") && !permits.allows("home.dust", "a"));
        assert!(permits.revoke("home.wipe") && !permits.revoke("home.wipe"));
        assert!(!permits.allows("home.wipe", "a"));
    }
}
