//! Beginning and end of one speaker's utterances.
//!
//! Entry types: [`Endpointer`], one for each speaker, and [`reads`], which tells from the words
//! whether more is to come; [`EndOfTurn`] is how long that makes the wait. Silence counts from the
//! stamp of the last voiced frame, so packets that stop coming (push-to-talk released) are silence
//! like any other.
//! **Never**: reads a clock, opens twice without closing, leaves an utterance open in silence.

mod patience;
mod reading;

use std::time::{Duration, Instant};

pub use patience::{Detector, EndOfTurn, Judgement, Patience};
pub use reading::{Reading, reads};

use crate::audio::FRAME;

/// A segment with less voice than this was a click.
const BLIP: Duration = Duration::from_millis(60);
/// A segment that begins this soon after the last one's voice belongs to the same utterance.
const CONTINUES: Duration = Duration::from_millis(600);
/// The longest segment.
const LONGEST: Duration = Duration::from_secs(30);
/// A partial has to stand unchanged this long before it shortens the wait.
const SETTLED: Duration = Duration::from_millis(150);
/// Voice that has gone on for longer since the last words of it says more than they do.
const OUTLIVED: Duration = Duration::from_millis(300);
/// Words that come after this much silence are of what was said before it, and nothing later.
const PAUSE: Duration = Duration::from_millis(100);

/// An input of an [`Endpointer`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// 20 ms of the speaker's audio.
    Frame {
        /// True if it is speech, as [`Voicing::voiced`](super::vad::Voicing::voiced) says.
        voiced: bool,
    },
    /// The text recognised of the open segment so far.
    Partial {
        /// Its reading by [`reads`].
        reading: Reading,
        /// Since when its text is the same.
        stable_since: Instant,
    },
    /// All of the open segment has been recognised, up to a pause that still lasts.
    Pause {
        /// Its reading by [`reads`].
        reading: Reading,
    },
    /// A sound model has judged the segment, up to a pause that still lasts.
    Judged(Judgement),
    /// Time has passed; wanted at [`Endpointer::wake_at`].
    Tick,
}

/// An instruction about the speaker's audio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A segment begins: recognise the audio kept from just before, then this frame.
    Open {
        /// It belongs to the same utterance as the segment before.
        continues: bool,
    },
    /// This frame belongs to the open segment.
    Feed,
    /// The segment is over. A frame that brings this is not part of it: it is kept for the next.
    Close {
        /// Reason for the end of the utterance.
        reason: CloseReason,
        /// The stamp of its last voiced frame.
        last_voiced_at: Instant,
    },
}

/// Reason for the end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Nobody has spoken for long enough.
    Silence,
    /// It has grown too long; if speech goes on, the next utterance opens at once.
    TooLong,
    /// Less than 60 ms of voice: no utterance.
    Blip,
}

/// One speaker's segments.
#[derive(Clone, Debug)]
pub struct Endpointer {
    /// Conditions for the end of a turn.
    ends: EndOfTurn,
    /// The segment being spoken.
    open: Option<Segment>,
    /// Time of the last voiced frame of the last real segment.
    previous: Option<Instant>,
}

/// A segment being spoken.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Its first frame.
    opened_at: Instant,
    /// Its last voiced frame.
    last_voiced_at: Instant,
    /// Voice in all.
    voiced: Duration,
    /// Reading of its words.
    words: Option<Said>,
    /// Reading of the sound of the voice before the pause, once it was judged.
    sounded: Option<Reading>,
}

/// Reading of the words of a segment.
#[derive(Clone, Copy, Debug)]
struct Said {
    /// Judgement of the words: more to come, or not.
    reading: Reading,
    /// Since when they are the same.
    since: Instant,
    /// From when on they may shorten the wait.
    settled_at: Instant,
}

impl Segment {
    /// Nothing is known yet of what begins at `now`.
    const fn new(now: Instant) -> Self {
        let (words, sounded) = (None, None);
        Self { opened_at: now, last_voiced_at: now, voiced: FRAME, words, sounded }
    }

    /// Time at which silence ends it.
    fn silent_at(&self, ends: EndOfTurn) -> Instant {
        let judged = self.sounded.is_some();
        let at = |reading| self.last_voiced_at + ends.after(reading, judged);
        let said = self.words.filter(|it| self.last_voiced_at <= it.since + OUTLIVED);
        let reading = |said| ends.reading(said, self.sounded);
        let Some(said) = said else { return at(reading(Reading::Open)) };
        match reading(said.reading) {
            Reading::Finished if said.reading == Reading::Finished => {
                at(Reading::Finished).max(said.settled_at).min(at(reading(Reading::Open)))
            }
            other => at(other),
        }
    }

    /// One more frame of voice: what is known of the pause before it is over.
    fn voice(&mut self, now: Instant) {
        let pause = self.last_voiced_at + PAUSE;
        self.words = self.words.filter(|it| it.since <= pause);
        self.last_voiced_at = now;
        self.voiced += FRAME;
        self.sounded = None;
    }
}

impl Endpointer {
    /// A speaker who has not spoken yet.
    pub const fn new(ends: EndOfTurn) -> Self {
        Self { ends, open: None, previous: None }
    }

    /// From now on an utterance ends so.
    pub const fn set_ends(&mut self, ends: EndOfTurn) {
        self.ends = ends;
    }

    /// Takes in one thing that happened at `now`; instants never go back. A frame's is when it
    /// arrived.
    pub fn handle(&mut self, now: Instant, input: Input) -> Option<Output> {
        if let Some(segment) = &mut self.open {
            match input {
                Input::Partial { reading, stable_since: since } => {
                    let settled_at = since + SETTLED;
                    segment.words = Some(Said { reading, since, settled_at });
                }
                Input::Pause { reading } => {
                    let (since, settled_at) = (now, now);
                    segment.words = Some(Said { reading, since, settled_at });
                }
                Input::Judged(judgement) => segment.sounded = Some(judgement.reading()),
                Input::Frame { .. } | Input::Tick => {}
            }
        }
        if let Some(close) = self.close_when_due(now) {
            return Some(close);
        }
        match input {
            Input::Frame { voiced } => self.frame(now, voiced),
            Input::Partial { .. } | Input::Pause { .. } | Input::Judged(_) | Input::Tick => None,
        }
    }

    /// Deadline of the next [`Input::Tick`]; `None` while nobody speaks.
    pub fn wake_at(&self) -> Option<Instant> {
        let segment = self.open.as_ref()?;
        Some(segment.silent_at(self.ends).min(segment.opened_at + LONGEST))
    }

    /// One frame that ends nothing.
    fn frame(&mut self, now: Instant, voiced: bool) -> Option<Output> {
        if let Some(segment) = &mut self.open {
            if voiced {
                segment.voice(now);
            }
            return Some(Output::Feed);
        }
        if !voiced {
            return None;
        }
        self.open = Some(Segment::new(now));
        let continues =
            self.previous.is_some_and(|at| now.saturating_duration_since(at) <= CONTINUES);
        Some(Output::Open { continues })
    }

    /// Ends the open segment when its time has come.
    fn close_when_due(&mut self, now: Instant) -> Option<Output> {
        let segment = self.open.filter(|_| self.wake_at().is_some_and(|at| now >= at))?;
        self.open = None;
        let reason = if segment.voiced < BLIP {
            CloseReason::Blip
        } else {
            self.previous = Some(segment.last_voiced_at);
            if now >= segment.silent_at(self.ends) {
                CloseReason::Silence
            } else {
                CloseReason::TooLong
            }
        };
        Some(Output::Close { reason, last_voiced_at: segment.last_voiced_at })
    }
}

#[cfg(test)]
mod tests;
