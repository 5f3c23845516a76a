//! Faults of the program itself while a guild is served.
//!
//! Entry method: [`Guild::failed`]. **Never**: leaves work marked as under way.

use std::time::Duration;

use tokio::time::Instant;

use super::state::Guild;
use crate::panics::{Panicked, caught_now};

/// Delay before a lost voice connection is made again.
const REJOIN: Duration = Duration::from_secs(5);

impl Guild {
    /// Handles a panic in this guild: logs it, undoes unfinished work, notifies; returns how long
    /// to wait before going on. Repeated failures end the session; its transcript stays.
    pub fn failed(&mut self, fault: &Panicked) -> Option<Duration> {
        tracing::error!(guild = self.id.get(), %fault, "something failed in a guild");
        let wait = self.panics.count(Instant::now());
        // The notice itself may be what fails.
        let told = caught_now(|| self.tell_of(fault, wait.is_some()));
        if let Err(again) = told {
            tracing::error!(guild = self.id.get(), fault = %again, "cannot notify the game master");
        }
        wait
    }

    fn tell_of(&mut self, fault: &Panicked, goes_on: bool) {
        if let Some(session) = &mut self.session {
            // Users whose notice was under way are notified again.
            session.people.tell_again();
            if goes_on && !session.voice.is_up() {
                // The failure may have hit the reconnect itself.
                self.reconnect_after(REJOIN);
            }
        }
        match goes_on {
            true => self.tell_dm(format!("Something in me failed, but I carry on: {fault}")),
            false if self.session.is_some() => {
                self.tell_dm(format!(
                    "Something in me keeps failing, so I end the session; the transcript is \
                     kept: {fault}"
                ));
                // The session ends whatever else fails.
                let _ = self.stop("something in me keeps failing");
            }
            false => {}
        }
    }
}
