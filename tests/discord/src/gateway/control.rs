//! What a test does to gateway clients.
//!
//! Entry functions: on [`Discord`]. Never: protocol.

use super::session::{Order, Session};
use crate::discord::Discord;
use anyhow::Context as _;
use serde_json::json;
use std::time::Duration;

impl Discord {
    /// Waits until a user's client is connected and has been told of its guilds. Cancel safe.
    ///
    /// # Errors
    /// When it is not in time.
    pub async fn wait_connected(&self, user: u64, limit: Duration) -> anyhow::Result<()> {
        let connected = |state: &crate::state::State| {
            let mut mine = state.gateway.sessions.values().filter(|one| one.user == user);
            mine.any(|one| one.connection.is_some()).then_some(())
        };
        let found = self.inner.wait(limit, connected).await;
        found.with_context(|| format!("waiting {limit:?} for the client of {user} to connect"))
    }

    /// How often a user's client has identified.
    #[must_use]
    pub fn identifies(&self, user: u64) -> u64 {
        self.inner.read(|state| state.gateway.identifies.get(&user).copied().unwrap_or_default())
    }

    /// How often a user's client has resumed.
    #[must_use]
    pub fn resumes(&self, user: u64) -> u64 {
        self.inner.read(|state| state.gateway.resumes.get(&user).copied().unwrap_or_default())
    }

    /// Waits until a user's client has resumed so often. Cancel safe.
    ///
    /// # Errors
    /// When it has not in time.
    pub async fn wait_resumed(&self, user: u64, times: u64, limit: Duration) -> anyhow::Result<()> {
        let often = |state: &crate::state::State| {
            (state.gateway.resumes.get(&user).copied().unwrap_or_default() >= times).then_some(())
        };
        let found = self.inner.wait(limit, often).await;
        found.with_context(|| format!("waiting {limit:?} for the client of {user} to resume"))
    }

    /// Asks a user's client to reconnect (op 7).
    pub fn reconnect_gateway(&self, user: u64) {
        self.order(user, &Order::Send(json!({"op": 7, "s": null, "t": null, "d": null})));
    }

    /// Ends a user's sessions (op 9), which it may resume or not.
    pub fn invalidate_gateway(&self, user: u64, resumable: bool) {
        self.order(user, &Order::Send(json!({"op": 9, "s": null, "t": null, "d": resumable})));
        if !resumable {
            self.inner.change(|state| {
                for session in state.gateway.of(user) {
                    session.ended = true;
                }
            });
        }
    }

    /// Closes a user's gateway sockets with a code.
    pub fn close_gateway(&self, user: u64, code: u16) {
        self.order(user, &Order::Close(code));
    }

    /// Drops a user's gateway sockets without a word.
    pub fn cut_gateway(&self, user: u64) {
        self.order(user, &Order::Cut);
    }

    /// Keeps events back from a user, or lets them go.
    pub fn hold_events(&self, user: u64, held: bool) {
        self.inner.change(|state| state.gateway.of(user).for_each(|session| session.held = held));
    }

    /// Orders something for all connections of a user.
    fn order(&self, user: u64, order: &Order) {
        let give = |session: &mut Session| {
            if session.connection.is_some() {
                session.orders.push_back(order.clone());
            }
        };
        self.inner.change(|state| state.gateway.of(user).for_each(give));
    }
}
