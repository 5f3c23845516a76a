//! Microphone checks: plays a line, then shows the user what was heard of them.
//!
//! Entry type: [`MicChecks`]. **Never**: shows one player's words to another.

use std::time::Duration;

use serenity::all::UserId;
use tokio::sync::oneshot;

use crate::session::{Outcome, SpeakerId, TurnLine};

pub const TEST_LINE: &str = "Hello. If you can hear me, say a few words now.";
/// Longest wait for the user's words; then they get the advice of [`nothing`].
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Users waiting for the result of their check.
#[derive(Debug, Default)]
pub struct MicChecks(Vec<MicCheck>);

#[derive(Debug)]
struct MicCheck {
    user: SpeakerId,
    told: oneshot::Sender<String>,
}

impl MicChecks {
    /// Waits for the next words heard of `user`.
    pub fn begin(&mut self, user: UserId) -> oneshot::Receiver<String> {
        let (told, waiting) = oneshot::channel();
        self.0.retain(|check| !check.told.is_closed());
        self.0.push(MicCheck { user: SpeakerId(user.get()), told });
        waiting
    }

    /// Passes a line to its speaker's checks.
    pub fn understood(&mut self, line: &TurnLine) {
        if line.stt == TurnLine::TYPED {
            return;
        }
        for check in self.0.extract_if(.., |check| Some(check.user) == line.from) {
            // A dropped receiver has timed out and answered already.
            let _ = check.told.send(what_was_understood(line));
        }
    }
}

fn what_was_understood(line: &TurnLine) -> String {
    match line.outcome {
        Outcome::HearingError => {
            let why = line.detail.as_deref().unwrap_or("it gave no reason");
            format!("I heard you, but the recogniser failed: {why}")
        }
        _ if line.understood.trim().is_empty() => {
            "I heard your voice, but understood no word (speak nearer to the microphone, and in \
             the language of the NPCs)."
                .to_owned()
        }
        _ => format!("I heard: “{}”", line.understood),
    }
}

/// Advice if no word was heard; `came`: packets did arrive.
pub fn nothing(came: bool) -> &'static str {
    if came {
        "I got sound from you within 10 s, but no speech (turn your microphone up, or Discord's \
         noise suppression down)."
    } else {
        "I got nothing from you within 10 s (are you muted, or on push-to-talk? is the right \
         microphone chosen in Discord's settings? if none of that helps, leave the \
         channel and join again)."
    }
}
