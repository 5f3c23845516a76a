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
