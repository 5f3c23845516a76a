//! Bounds of one answer of a service, and its end.
//!
//! Entry types: [`Bounds`] of silence, pace, time and events; [`Ended`], [`NotAnswered`]. Entry
//! functions: [`meaning`], [`finish`], [`drain`]. `Outgoing` bounds the length of the sound,
//! `Contents` the price.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{line::S2sLine, outgoing::Outgoing};
use crate::{
    domain::{S2s, ToolCall},
    engine::{Failure, ReplyPort, tool_loop::Before},
    provider::{Error, Kind, Pace, SpeechEnding, SpeechSessionEvent},
};

/// Longest wait for more of an answer.
const MORE: Duration = Duration::from_secs(10);
/// Detail of an answer that costs too much.
pub const USED_UP: &str = "the answer was cut off: the money set aside for it is used up (ask for less at \
                           once)";
/// Longest time that an answer may take besides its speech.
const BESIDE: Duration = Duration::from_secs(10);
/// Most events of an answer: half a minute of speech in pieces of 20 ms, and as many words.
const EVENTS: usize = 4_096;

pub struct Bounds {
    speech: Duration,
    silent_at: Instant,
    pace: Pace,
    /// Deadline for its next sound; `None` before any sound and during calls.
    slow_at: Option<Instant>,
    /// Deadline for its end; set by its first event.
    ends_at: Option<Instant>,
    events: usize,
}

impl Bounds {
    /// `speech`: longest speech; `first`: longest wait for the first event.
    pub fn new(speech: Duration, first: Duration) -> Self {
        let silent_at = Instant::now() + first;
        Self { speech, silent_at, pace: Pace::default(), slow_at: None, ends_at: None, events: 0 }
    }

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

    /// The exceeded bound, for the game master. Fails if another engine has to continue: no more
    /// events, or sound slower than playback.
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

    pub fn until(&self) -> Instant {
        let others = [self.slow_at, self.ends_at].into_iter().flatten();
        others.fold(self.silent_at, Instant::min)
    }
}

pub fn too_long(speech: Duration) -> String {
    let (seconds, most) = (speech.as_secs(), S2s::MAX_ANSWER.as_secs());
    let fix = match speech < S2s::MAX_ANSWER {
        true => format!("ask for less at once, or raise s2s.max_answer_s up to {most}"),
        false => "ask for less at once, or give long answers with engine: cascaded".to_owned(),
    };
    format!("the answer was cut off after {seconds} s of speech ({fix})")
}

/// Returns `ended` once the answer is passed on and its price is known. Drops a session whose
/// service continues after a stop, because it would cost more and more. Fails if table or session
/// is gone.
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

/// Passes the waiting pieces on; false if the turn ended. Fails if the table is gone.
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

pub struct NotAnswered {
    pub why: String,
    /// Kind of the failure; `None` if the service did not fail.
    pub kind: Option<Kind>,
    /// Sentences played or queued, fillers included.
    pub sentences: usize,
    pub before: Before,
}

pub enum Ended {
    Whole(Vec<ToolCall>),
    Stopped,
    /// Another engine has to continue; the reason.
    HandedOver(String),
    /// Incomplete; ends the turn.
    Cut(Failure),
}

/// Interprets `ending` for a turn with `calls`; `is_heard` if words were played. Fails if another
/// engine has to answer.
pub fn meaning(
    ending: SpeechEnding,
    calls: Vec<ToolCall>,
    is_heard: bool,
    service: &str,
) -> Result<Ended, Error> {
    let failed = |what: &str| Failure::Model(format!("{service}: {what}"));
    Ok(match ending {
        SpeechEnding::Completed => Ended::Whole(calls),
        SpeechEnding::TooLong if is_heard => Ended::Cut(failed(
            "the answer was cut off: it is as long as one may be (ask for less at once)",
        )),
        SpeechEnding::Withheld if is_heard => Ended::Cut(failed(
            "the service withheld the rest of the answer (its content filter; ask in other words)",
        )),
        SpeechEnding::Failed(why) => return Err(Error::new(Kind::Unavailable, why)),
        SpeechEnding::Cancelled | SpeechEnding::TooLong | SpeechEnding::Withheld => {
            return Err(Error::new(Kind::Unavailable, "the service broke its answer off"));
        }
    })
}
