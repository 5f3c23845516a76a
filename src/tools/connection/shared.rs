//! State shared by all servers.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::spawn_blocking;

use super::{facts::Facts, oauth::Tokens, remembered::RememberedServers, stdio::Room};
use crate::tools::ToolHost;

/// Says why no configured program may be started now; `None`: they may. It may take its time.
pub type StartCheck = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// State shared by all servers.
pub struct Shared {
    /// Host that receives their tools.
    pub host: ToolHost,
    /// Records of them that outlive a run.
    pub remembered: RememberedServers,
    /// Launch settings of children.
    pub room: Room,
    /// Values that headers may name.
    pub facts: Arc<Facts>,
    /// Source of tokens.
    pub tokens: Tokens,
    /// Asked before each start of a configured program.
    pub check: Mutex<Option<StartCheck>>,
}

impl Shared {
    /// Why no configured program may be started now.
    pub async fn refusal(&self) -> Option<String> {
        let check = self.check.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let asked = spawn_blocking(move || check()).await;
        asked.unwrap_or_else(|fault| Some(format!("its files cannot be checked: {fault}")))
    }
}
