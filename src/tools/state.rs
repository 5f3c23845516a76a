//! What all handles of one tool host share.

use std::sync::Mutex;

use arc_swap::ArcSwapOption;
use rand::rngs::StdRng;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Catalog, cache::Cache, connection::Facts, select::Selecting};

/// What all handles of one host share.
pub(super) struct HostState {
    pub(super) catalog: Catalog,
    pub(super) cache: Cache,
    /// How lists are narrowed.
    pub(super) selector: Selecting,
    /// Spreads repeated calls.
    pub(super) jitter: Mutex<StdRng>,
    /// Calls that outlive their turns.
    pub(super) late: TaskTracker,
    pub(super) shutdown: CancellationToken,
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
            shutdown: CancellationToken::new(),
            facts: ArcSwapOption::empty(),
        }
    }
}
