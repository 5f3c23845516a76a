//! Faults of the program itself while a guild is served.
//!
//! Entry method: [`Guild::failed`]. **Never**: leaves anything marked as under way that is not.

use std::time::Duration;

use tokio::time::Instant;

use super::state::Guild;
use crate::panics::{Panicked, caught_now};

/// A voice connection that is down is made again after this.
const REJOIN: Duration = Duration::from_secs(5);

impl Guild {
    /// Something has panicked that was done here: it is logged, undone, and told; how long to wait
    /// before going on. What fails again and again ends the session, and what was said stays.
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
