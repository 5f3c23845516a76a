//! State shared by all handles of one tool host.

use std::sync::{Arc, Mutex, atomic::AtomicU64};

use arc_swap::ArcSwapOption;
use dashmap::DashMap;
use rand::rngs::StdRng;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Catalog, Permits, cache::Cache, connection::Facts, late_calls::LateCalls, policy::AllCalls,
    select::Selecting,
};
use crate::domain::SessionId;

/// Longest wait for a game master's decision, unless the configuration says otherwise.
const APPROVAL_EXPIRES_MS: u64 = 60_000;

/// State shared by all handles of one host.
pub(super) struct HostState {
    pub(super) catalog: Catalog,
    pub(super) cache: Cache,
    /// Narrows lists of tools.
    pub(super) selector: Selecting,
    /// Spreads repeated calls.
    pub(super) jitter: Mutex<StdRng>,
    /// Calls that outlive their turns.
    pub(super) late: TaskTracker,
    /// Those calls by person and session.
    pub(super) late_calls: Arc<LateCalls>,
    pub(super) shutdown: CancellationToken,
    /// Counts of calls by NPCs, per session.
    pub(super) calls: AllCalls,
    /// Permissions that game masters gave for good, by session.
    pub(super) permits: DashMap<SessionId, Permits>,
    /// Longest wait for a game master's decision, in milliseconds.
    pub(super) approval_expires: AtomicU64,
    /// Values that servers have given for prompts.
    pub(super) facts: ArcSwapOption<Facts>,
}

impl HostState {
    /// A host without tools; `jitter` spreads repeated calls.
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
