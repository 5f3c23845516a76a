//! Notifies an operator of a call that waits for a game master. Entry type: [`Notifier`].
//! Game masters decide elsewhere. **Never**: sends arguments of a call.

use std::time::UNIX_EPOCH;

use serde::Serialize;

use super::{clock::wall_clock, settings::SharedSettings};
use crate::provider::{Signed, post_signed};

#[derive(Clone, Debug, Serialize)]
pub struct WaitingCall {
    pub npc: String,
    pub tool: String,
    /// Name of the Discord server.
    pub guild: String,
}

#[derive(Serialize)]
struct Body<'a> {
    event: &'static str,
    #[serde(flatten)]
    call: &'a WaitingCall,
}

/// Notifies an operator of waiting calls. Cloning shares it.
#[derive(Clone)]
pub struct Notifier {
    pub settings: SharedSettings,
}

impl Notifier {
    /// Sends the notification, if a receiver is configured. Logs failures. Cancel safe.
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
