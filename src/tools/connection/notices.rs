//! Changes of its lists that a server announces unasked.
//!
//! Entry type: [`Notices`]. **Never**: keeps more than that something has changed.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Changes a server announced since the last look; equal notices are one.
#[derive(Debug, Default)]
pub struct Notices {
    tools: AtomicBool,
    resources: AtomicBool,
    woken: Notify,
}

impl Notices {
    /// Its list of tools has changed.
    pub fn tools_changed(&self) {
        self.tools.store(true, Ordering::Relaxed);
        self.woken.notify_one();
    }

    /// Its resources have changed.
    pub fn resources_changed(&self) {
        self.resources.store(true, Ordering::Relaxed);
        self.woken.notify_one();
    }

    /// Waits until something was said. Cancel safe.
    pub async fn some(&self) {
        self.woken.notified().await;
    }

    /// Two flags: tools have changed, and resources have changed. Resets both.
    pub fn take(&self) -> (bool, bool) {
        (self.tools.swap(false, Ordering::Relaxed), self.resources.swap(false, Ordering::Relaxed))
    }
}
