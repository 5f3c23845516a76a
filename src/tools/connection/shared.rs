//! State shared by all servers.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::spawn_blocking;

use super::{facts::Facts, oauth::Tokens, remembered::RememberedServers, stdio::Room};
use crate::tools::ToolHost;

/// Reason no configured program may start now; may block.
pub type StartCheck = Arc<dyn Fn() -> Option<String> + Send + Sync>;

pub struct Shared {
    pub host: ToolHost,
    /// Records that outlive a run.
    pub remembered: RememberedServers,
    pub room: Room,
    pub facts: Arc<Facts>,
    pub tokens: Tokens,
    /// Runs before each start of a configured program.
    pub check: Mutex<Option<StartCheck>>,
}

impl Shared {
    /// Reason no configured program may start now.
    pub async fn refusal(&self) -> Option<String> {
        let check = self.check.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let asked = spawn_blocking(move || check()).await;
        asked.unwrap_or_else(|fault| Some(format!("its files cannot be checked: {fault}")))
    }
}
