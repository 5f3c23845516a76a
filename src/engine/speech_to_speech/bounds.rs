//! Bounds of one answer of a service, whatever its pace, and its last pieces.
//!
//! Entry type: [`Bounds`] of silence, pace, time and events; entry functions: [`finish`], [`drain`]. The length
//! of its sound is bounded by `Outgoing`, its price by `Contents`. **Never**: cuts an answer off.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{ending::Ended, line::S2sLine, outgoing::Outgoing};
use crate::{
    domain::S2s,
    engine::ReplyPort,
    provider::{Error, Kind, Pace, SpeechSessionEvent},
};

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
    pace: Pace,
    /// Deadline for its next sound; `None`: none has come, or a call is being made.
    slow_at: Option<Instant>,
    /// Deadline for its end, from its first event on.
    ends_at: Option<Instant>,
    events: usize,
}

impl Bounds {
    /// Before any event; `speech`: longest speech of the answer, `first`: longest wait for its first event.
    pub fn new(speech: Duration, first: Duration) -> Self {
        let silent_at = Instant::now() + first;
        Self { speech, silent_at, pace: Pace::default(), slow_at: None, ends_at: None, events: 0 }
    }

    /// `event` has come.
    pub fn note(&mut self, event: &SpeechSessionEvent) {
        let now = Instant::now();
        self.events += 1;
        self.silent_at = now + MORE;
        self.ends_at.get_or_insert(now + self.speech + BESIDE);
        match event {
            SpeechSessionEvent::Audio { sound, .. } => {
                self.pace.take(sound.rate.duration_of(sound.samples.len()), now);
                self.slow_at = self.pace.until(now);
            }
            // No sound comes while a model writes a call.
            SpeechSessionEvent::Calling | SpeechSessionEvent::Call(_) => {
                (self.pace, self.slow_at) = (Pace::default(), None);
            }
            _ => {}
        }
    }

    /// The bound that is passed, for the game master; `None`: the answer may go on.
    ///
    /// # Errors
    /// Another engine has to go on: nothing more comes, or sound more slowly than it is played.
    pub fn passed(&self) -> Result<Option<String>, Error> {
        if self.events > EVENTS {
            let why = format!("the answer was cut off: it has more than {EVENTS} events");
            return Ok(Some(why));
        }
        let now = Instant::now();
        if self.ends_at.is_some_and(|at| at <= now) {
            let seconds = (self.speech + BESIDE).as_secs();
            return Ok(Some(format!("the answer was cut off: it was not over after {seconds} s")));
        }
        if self.slow_at.is_some_and(|at| at <= now) {
            let why = "the sound of the voice model comes more slowly than it is played";
            return Err(Error::new(Kind::Interrupted, why));
        }
        if self.silent_at <= now {
            return Err(Error::new(Kind::Timeout, "the voice model says nothing any more"));
        }
        Ok(None)
    }

    /// Deadline for its next event, its next sound or its end.
    pub fn until(&self) -> Instant {
        let others = [self.slow_at, self.ends_at].into_iter().flatten();
        others.fold(self.silent_at, Instant::min)
    }
}

/// Reason for an answer with more than this much `speech`.
pub fn too_long(speech: Duration) -> String {
    let (seconds, most) = (speech.as_secs(), S2s::MAX_ANSWER.as_secs());
    let fix = match speech < S2s::MAX_ANSWER {
        true => format!("ask for less at once, or raise s2s.max_answer_s up to {most}"),
        false => "ask for less at once, or give long answers with engine: cascaded".to_owned(),
    };
    format!("the answer was cut off after {seconds} s of speech ({fix})")
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
