//! Running tables: notices to all their game masters, the end of those that are blocked; and notices
//! to an operator of calls that wait for one.
//!
//! Entry types: [`Tables`], which keeps no table open, and [`Notifier`]. **Never**: sends arguments
//! of a call.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::{
    callbacks::{CallbackAddress, Callbacks, NewCallback},
    clock::wall_clock,
    settings::SharedSettings,
};
use crate::{
    provider::{Signed, post_signed},
    session::{BLOCKED_AFTER, TableEvent, TableEvents, WeakTableEvents},
};

/// Interval of checks for blocked tables; short against [`BLOCKED_AFTER`].
const LOOK: Duration = Duration::from_secs(1);
/// Interval of two checks between which the whole program stood still.
const STOOD_STILL: Duration = Duration::from_secs(3);

#[derive(Clone, Debug, Serialize)]
pub struct WaitingCall {
    pub npc: String,
    pub tool: String,
    /// Name of the Discord server.
    pub guild: String,
    /// `None`: only the game master decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decide: Option<DecideAt>,
}

/// Address at which the notified system may decide a call.
#[derive(Clone, Debug, Serialize)]
pub struct DecideAt {
    pub url: CallbackAddress,
    /// End of the request, in seconds since 1970.
    pub expires: i64,
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
    settings: SharedSettings,
    /// Addresses at which the notified system decides calls.
    pub callbacks: Callbacks,
}

impl Notifier {
    /// Notifies the receiver of `settings`; no listener runs yet.
    pub fn new(settings: SharedSettings) -> Self {
        Self { settings, callbacks: Callbacks::default() }
    }

    /// Opens an address for deciding a call; `None`: no receiver is configured, or no listener
    /// runs.
    pub fn callback(&self) -> Option<NewCallback> {
        let is_configured = self.settings.load().approvals.notify.is_some();
        is_configured.then(|| self.callbacks.open()).flatten()
    }

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

/// Checks for blocked tables. While the whole program stands still (a debugger, SIGSTOP, a paused
/// machine, a starved one), the poll in progress of a healthy table seems to last. The checks are
/// late then too, and a table counts as blocked only after [`BLOCKED_AFTER`] without a late one.
struct Looks {
    last: Instant,
    /// All checks since were in time.
    since: Instant,
}

impl Looks {
    const fn new(now: Instant) -> Self {
        Self { last: now, since: now }
    }

    /// Adds a check at `now`; true if the age of a poll can be trusted.
    fn add(&mut self, now: Instant) -> bool {
        if now.duration_since(self.last) >= STOOD_STILL {
            self.since = now;
        }
        self.last = now;
        now.duration_since(self.since) >= BLOCKED_AFTER
    }
}

/// Running tables. Cloning shares them.
#[derive(Clone, Default)]
pub struct Tables(Arc<Mutex<Vec<WeakTableEvents>>>);

impl Tables {
    /// Adds an open table; `events` notifies its game master.
    pub fn add(&self, events: &TableEvents) {
        self.running().push(events.downgrade());
    }

    /// Notifies the game masters of all tables.
    pub fn tell(&self, notice: &str) {
        let now = Instant::now();
        self.running().retain(|table| {
            let events = table.upgrade();
            if let Some(events) = &events {
                events.tell(TableEvent::Notice(notice.to_owned()));
            }
            events.is_some() || table.is_blocked(now)
        });
    }

    /// Number of tables whose task does not return to its loop, also of those that have been ended:
    /// each takes one of the runtime's threads.
    pub fn blocked(&self) -> usize {
        self.blocked_at(Instant::now())
    }

    /// Ends tables that are blocked, as long as the result is awaited.
    pub async fn end_blocked(self) {
        let mut looks = Looks::new(Instant::now());
        loop {
            sleep(LOOK).await;
            let now = Instant::now();
            if looks.add(now) {
                self.end_blocked_at(now);
            }
        }
    }

    pub(super) fn blocked_at(&self, now: Instant) -> usize {
        self.running().iter().filter(|table| table.is_blocked(now)).count()
    }

    /// Ends the events of tables that are blocked at `now`: their listeners write down what was told,
    /// and their faces close them.
    pub(super) fn end_blocked_at(&self, now: Instant) {
        self.running().retain(|table| {
            let (events, is_blocked) = (table.upgrade(), table.is_blocked(now));
            // Without events it was ended before.
            if let Some(events) = events.as_ref().filter(|_| is_blocked) {
                tracing::error!("a table does not respond, so its session ends");
                let notice = "the table does not respond, so the session ends; the transcript is \
                              saved up to here";
                events.tell(TableEvent::Notice(notice.to_owned()));
                events.end();
            }
            events.is_some() || is_blocked
        });
    }

    fn running(&self) -> MutexGuard<'_, Vec<WeakTableEvents>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standing_still_blocks_no_table() {
        let begin = Instant::now();
        let (mut looks, mut now) = (Looks::new(begin), begin);
        let mut after = |pause: Duration| {
            now += pause;
            looks.add(now)
        };
        for _ in 1..10 {
            assert!(!after(LOOK), "the program has just begun");
        }
        assert!(after(LOOK));
        assert!(!after(Duration::from_secs(3_600)), "the laptop was closed");
        for _ in 1..10 {
            assert!(!after(LOOK));
        }
        assert!(after(LOOK), "what is still at work now is blocked");
    }
}
