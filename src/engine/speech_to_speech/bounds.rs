//! Bounds of one answer of a service, whatever its pace, and its last pieces.
//!
//! Entry type: [`Bounds`] of silence, time and events; entry functions: [`finish`], [`drain`]. Its sound is
//! bounded by `Outgoing`, its price by `Contents`. **Never**: cuts an answer off.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{ending::Ended, line::S2sLine, outgoing::Outgoing};
use crate::{engine::ReplyPort, provider::Error};

/// Longest wait for more of an answer.
const MORE: Duration = Duration::from_secs(10);
/// Reason for an answer that costs too much.
pub const USED_UP: &str = "the answer was cut off: the money set aside for it is used up (ask for less at \
                           once)";
/// Longest time that an answer may take beside its speech.
const BESIDE: Duration = Duration::from_secs(10);
/// Most events of an answer: half a minute of speech in pieces of 20 ms, and as many words.
const EVENTS: usize = 4_096;

/// Bounds of one answer.
pub struct Bounds {
    /// Its longest speech.
    speech: Duration,
    /// Deadline for its next event.
    silent_at: Instant,
    /// Deadline for its end, from its first event on.
    ends_at: Option<Instant>,
    events: usize,
}

impl Bounds {
    /// Before any event; `speech`: longest speech of the answer, `first`: longest wait for its first event.
    pub fn new(speech: Duration, first: Duration) -> Self {
        Self { speech, silent_at: Instant::now() + first, ends_at: None, events: 0 }
    }

    /// An event has come.
    pub fn note(&mut self) {
        let now = Instant::now();
        self.events += 1;
        self.silent_at = now + MORE;
        self.ends_at.get_or_insert(now + self.speech + BESIDE);
    }

    /// The bound that is passed, for the game master.
    pub fn passed(&self) -> Option<String> {
        if self.events > EVENTS {
            return Some(format!("the answer was cut off: it has more than {EVENTS} events"));
        }
        self.ends_at.filter(|at| *at <= Instant::now())?;
        let seconds = (self.speech + BESIDE).as_secs();
        Some(format!("the answer was cut off: it was not over after {seconds} s"))
    }

    /// Deadline for its next event or its end.
    pub fn until(&self) -> Instant {
        self.ends_at.map_or(self.silent_at, |ends_at| ends_at.min(self.silent_at))
    }
}

/// Reason for an answer with more than this much `speech`.
pub fn too_long(speech: Duration) -> String {
    let seconds = speech.as_secs();
    format!(
        "the answer was cut off after {seconds} s of speech (ask for less at once, or raise \
         s2s.max_answer_s up to 30)"
    )
}

/// `ended`, once the pieces of the answer are passed on and its price is known. A session whose service
/// goes on although it was told to stop is lost: it would cost more and more.
///
/// # Errors
/// The table or the session is gone.
pub async fn finish(
    ended: Ended,
    line: &mut S2sLine,
    out: &mut Outgoing,
    replies: &ReplyPort,
    stop: &CancellationToken,
) -> Result<Ended, Error> {
    out.end();
    let open = line.get()?;
    let mut pending = open.pending.as_mut().map(std::mem::take).unwrap_or_default();
    let both = async { tokio::join!(open.end(&mut pending), drain(out, replies, stop)) };
    let done = stop.run_until_cancelled(both).await;
    open.pending = Some(pending);
    let Some((is_over, is_drained)) = done else { return Ok(Ended::Stopped) };
    if !is_over {
        line.lose();
    }
    Ok(if is_drained? { ended } else { Ended::Stopped })
}

/// Passes the pieces on that wait; false: the turn ended meanwhile.
///
/// # Errors
/// The table is gone.
pub async fn drain(
    out: &mut Outgoing,
    replies: &ReplyPort,
    stop: &CancellationToken,
) -> Result<bool, Error> {
    while !out.is_empty() {
        let Some(room) = stop.run_until_cancelled(replies.room()).await else {
            return Ok(false);
        };
        let room = room?;
        if let Some(reply) = out.pop() {
            room.send(reply);
        }
    }
    Ok(true)
}
