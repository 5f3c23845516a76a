//! Flags for list changes that a server announces.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Announced changes since the last look; repeated notices merge.
#[derive(Debug, Default)]
pub struct Notices {
    tools: AtomicBool,
    resources: AtomicBool,
    woken: Notify,
}

impl Notices {
    pub fn tools_changed(&self) {
        self.tools.store(true, Ordering::Relaxed);
        self.woken.notify_one();
    }

    pub fn resources_changed(&self) {
        self.resources.store(true, Ordering::Relaxed);
        self.woken.notify_one();
    }

    /// Waits for a notice. Cancel safe.
    pub async fn some(&self) {
        self.woken.notified().await;
    }

    /// Resets and returns both flags: tools changed, resources changed.
    pub fn take(&self) -> (bool, bool) {
        (self.tools.swap(false, Ordering::Relaxed), self.resources.swap(false, Ordering::Relaxed))
    }
}
