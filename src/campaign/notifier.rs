//! Notifies an operator that a call waits for a game master.
//!
//! Entry type: [`Notifier`]. Only told: it is decided where game masters are. **Never**: sends
//! arguments of a call, or keeps anybody waiting.

use std::time::UNIX_EPOCH;

use serde::Serialize;

use super::{clock::wall_clock, settings::SharedSettings};
use crate::provider::{Signed, post_signed};

/// A call that waits.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingCall {
    /// The NPC that wants to make it.
    pub npc: String,
    /// Identity of the tool.
    pub tool: String,
    /// The server of Discord that is asked.
    pub guild: String,
}

#[derive(Serialize)]
struct Body<'a> {
    event: &'static str,
    #[serde(flatten)]
    call: &'a WaitingCall,
}

/// Tells an operator of calls that wait. Cloning shares it.
#[derive(Clone)]
pub struct Notifier {
    /// Settings with the receiver.
    pub settings: SharedSettings,
}

impl Notifier {
    /// Tells of `call`, where somebody is to be told; what goes wrong is logged. Cancel safe.
    pub fn tell(&self, call: WaitingCall) -> impl Future<Output = ()> + Send + use<> {
        let to = self.settings.load().approvals.notify.clone();
        async move {
            let Some(to) = to else { return };
            let body = Body { event: "approval_needed", call: &call };
            let body = serde_json::to_string(&body).unwrap_or_default();
            let at = wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let signed = Signed { url: &to.url, secret: &to.secret, at, body };
            if let Err(error) = post_signed(signed).await {
                tracing::warn!(%error, tool = call.tool, "cannot send a notification");
            }
        }
    }
}
