//! A test's control over gateway clients.
//!
//! Entry functions: on [`Discord`]. Never: protocol.

use super::session::{Order, Session};
use crate::{discord::Discord, state::State};
use anyhow::Context as _;
use serde_json::json;
use std::{collections::BTreeMap, time::Duration};

impl Discord {
    /// Waits until a user's client is connected and has received its guilds. Cancel safe.
    ///
    /// # Errors
    /// Fails if that takes longer than `limit`.
    pub async fn wait_connected(&self, user: u64, limit: Duration) -> anyhow::Result<()> {
        let connected = |state: &State| {
            let mut mine = state.gateway.sessions.values().filter(|one| one.user == user);
            mine.any(|one| one.connection.is_some())
        };
        self.wait_until(connected, user, "connect", limit).await
    }

    /// Number of times a user's client has identified.
    #[must_use]
    pub fn identifies(&self, user: u64) -> u64 {
        self.inner.read(|state| count(&state.gateway.identifies, user))
    }

    /// Number of times a user's client has identified sooner than its bucket allows, and was rejected.
    #[must_use]
    pub fn identify_breaches(&self, user: u64) -> u64 {
        self.inner.read(|state| count(&state.gateway.breaches, user))
    }

    /// Shards of a user's clients that are connected and have received their guilds, in order; a shard
    /// with two sessions is there twice.
    #[must_use]
    pub fn shards(&self, user: u64) -> Vec<u64> {
        self.inner.read(|state| connected(state, user))
    }

    /// Waits until the shards of a user's clients, as [`Discord::shards`] has them, are as wanted. Cancel
    /// safe.
    ///
    /// # Errors
    /// Fails if that takes longer than `limit`; says which there were.
    pub async fn wait_shards(
        &self,
        user: u64,
        limit: Duration,
        wanted: impl Fn(&[u64]) -> bool,
    ) -> anyhow::Result<Vec<u64>> {
        let look = |state: &State| Some(connected(state, user)).filter(|shards| wanted(shards));
        let found = self.inner.wait(limit, look).await;
        found.with_context(|| {
            format!("waiting {limit:?} for shards; there are {:?}", self.shards(user))
        })
    }

    /// Waits until a user's client has identified so often; of one that is started again, this tells its
    /// connection from the one that the program before it had. Cancel safe.
    ///
    /// # Errors
    /// Fails if that takes longer than `limit`.
    pub async fn wait_identified(
        &self,
        user: u64,
        times: u64,
        limit: Duration,
    ) -> anyhow::Result<()> {
        let often = |state: &State| count(&state.gateway.identifies, user) >= times;
        self.wait_until(often, user, "identify", limit).await
    }

    /// Number of times a user's client has resumed.
    #[must_use]
    pub fn resumes(&self, user: u64) -> u64 {
        self.inner.read(|state| count(&state.gateway.resumes, user))
    }

    /// Waits until a user's client has resumed so often. Cancel safe.
    ///
    /// # Errors
    /// Fails if that takes longer than `limit`.
    pub async fn wait_resumed(&self, user: u64, times: u64, limit: Duration) -> anyhow::Result<()> {
        let often = |state: &State| count(&state.gateway.resumes, user) >= times;
        self.wait_until(often, user, "resume", limit).await
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

    /// Waits until it `is` so that the client of `user` has done what `doing` says.
    async fn wait_until(
        &self,
        is: impl Fn(&State) -> bool,
        user: u64,
        doing: &str,
        limit: Duration,
    ) -> anyhow::Result<()> {
        let found = self.inner.wait(limit, |state| is(state).then_some(())).await;
        found.with_context(|| format!("waiting {limit:?} for the client of {user} to {doing}"))
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

/// Shards of the sessions of a user that have a socket.
fn connected(state: &State, user: u64) -> Vec<u64> {
    let sessions = state.gateway.sessions.values();
    let mine = sessions.filter(|one| one.user == user && one.connection.is_some() && !one.ended);
    let mut shards: Vec<u64> = mine.map(|one| one.shard.0).collect();
    shards.sort_unstable();
    shards
}

/// Count of `user` in `counted`; 0 if absent.
fn count(counted: &BTreeMap<u64, u64>, user: u64) -> u64 {
    counted.get(&user).copied().unwrap_or_default()
}
