//! Endpointing: finds where one speaker's utterances begin and end.
//!
//! Entry types: [`Endpointer`], one for each speaker; [`reads`] judges from the words whether more
//! is to come, [`EndOfTurn`] how long to wait for it. In go frames of 20 ms, readings of partial
//! texts and of the words before a pause, and a sound model's judgement; out come [`Output::Open`],
//! [`Output::Feed`] and [`Output::Close`]. Silence counts from the last voiced frame, so packets
//! that stop coming (push-to-talk released on Discord) are silence; a page says that its button was
//! released, which closes at once. An utterance closes after 300, 500 or 900
//! ms, as the game master has set; after at most 360 ms if its words are surely finished, after 900
//! or 1,040 ms if they trail off. A sound model that has not judged yet delays this to 400 ms. A
//! partial shortens the wait once it has been stable for 150 ms. Text that arrives late is dropped:
//! words that voice has outlived by 300 ms, and, when voice resumes, words that came after 100 ms
//! of silence. `tests/table.rs` measures the numbers.
//! **Never**: reads a clock, opens twice without closing, leaves an utterance open in silence.

mod patience;
mod reading;

use std::time::{Duration, Instant};

pub use patience::{Detector, EndOfTurn, Judgement, Patience};
pub use reading::{Reading, reads};

use crate::audio::FRAME;

/// Shortest voice of a segment; less was a click.
const BLIP: Duration = Duration::from_millis(60);
/// A segment that begins within this time of the last one's voice continues its utterance.
const CONTINUES: Duration = Duration::from_millis(600);
const LONGEST: Duration = Duration::from_secs(30);
/// Time a partial must be stable before it shortens the wait.
const SETTLED: Duration = Duration::from_millis(150);
/// Words are ignored when voice has gone on for this long after them.
const OUTLIVED: Duration = Duration::from_millis(300);
/// Words that arrive after this much silence cover only what was said before the pause.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    Frame {
        /// As [`Voicing::voiced`](super::vad::Voicing::voiced) says.
        voiced: bool,
    },
    /// Text of the open segment so far.
    Partial { reading: Reading, stable_since: Instant },
    /// Complete text of the open segment, up to a pause that still lasts.
    Pause { reading: Reading },
    /// Sound model's judgement of the segment, up to a pause that still lasts.
    Judged(Judgement),
    /// The speaker has let go of a talk button: nothing follows.
    Released,
    /// Time has passed; wanted at [`Endpointer::wake_at`].
    Tick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A segment begins: recognise the audio kept from just before, then this frame.
    Open { continues: bool },
    /// This frame belongs to the open segment.
    Feed,
    /// The segment is over. The frame that brings this is not part of it and is kept for the next.
    Close { reason: CloseReason, last_voiced_at: Instant },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    Silence,
    /// Reached the maximum length; if speech goes on, the next utterance opens at once.
    TooLong,
    Blip,
}

#[derive(Clone, Debug)]
pub struct Endpointer {
    ends: EndOfTurn,
    open: Option<Segment>,
    /// Last voiced frame of the last segment that was no click.
    previous: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    opened_at: Instant,
    last_voiced_at: Instant,
    voiced: Duration,
    words: Option<Said>,
    /// Reading of the sound before the pause.
    sounded: Option<Reading>,
}

#[derive(Clone, Copy, Debug)]
struct Said {
    reading: Reading,
    /// When the text last changed.
    since: Instant,
    /// When the words may begin to shorten the wait.
    settled_at: Instant,
}

impl Segment {
    const fn new(now: Instant) -> Self {
        let (words, sounded) = (None, None);
        Self { opened_at: now, last_voiced_at: now, voiced: FRAME, words, sounded }
    }

    /// The words, unless voice has outlived them.
    fn said(&self) -> Option<Said> {
        self.words.filter(|it| self.last_voiced_at <= it.since + OUTLIVED)
    }

    fn is_finished(&self, ends: EndOfTurn) -> bool {
        let finished = Reading::Finished;
        let reads = self.said().is_some_and(|said| said.reading == finished);
        reads && ends.reading(finished, self.sounded) == finished
    }

    fn silent_at(&self, ends: EndOfTurn) -> Instant {
        let judged = self.sounded.is_some();
        let at = |reading| self.last_voiced_at + ends.after(reading, judged);
        let reading = |said| ends.reading(said, self.sounded);
        let Some(said) = self.said() else { return at(reading(Reading::Open)) };
        match reading(said.reading) {
            Reading::Finished if said.reading == Reading::Finished => {
                at(Reading::Finished).max(said.settled_at).min(at(reading(Reading::Open)))
            }
            other => at(other),
        }
    }

    /// Adds a voiced frame, and forgets what was known of the pause before it.
    fn voice(&mut self, now: Instant) {
        let pause = self.last_voiced_at + PAUSE;
        self.words = self.words.filter(|it| it.since <= pause);
        self.last_voiced_at = now;
        self.voiced += FRAME;
        self.sounded = None;
    }
}

impl Endpointer {
    pub const fn new(ends: EndOfTurn) -> Self {
        Self { ends, open: None, previous: None }
    }

    pub const fn set_ends(&mut self, ends: EndOfTurn) {
        self.ends = ends;
    }

    /// Opens a segment that a recogniser was to end: its first and its last voice, and the length
    /// of voice in it.
    pub const fn take_over(&mut self, began: Instant, last_voiced_at: Instant, voiced: Duration) {
        let segment = Segment::new(began);
        self.open = Some(Segment { last_voiced_at, voiced, ..segment });
    }

    /// Drops the open segment: a recogniser ends it.
    pub const fn leave(&mut self) {
        self.open = None;
    }

    /// True if a segment is open.
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// True if a segment is open whose words so far end it sooner than silence alone.
    pub fn is_finished(&self) -> bool {
        self.open.is_some_and(|segment| segment.is_finished(self.ends))
    }

    /// `now` is when a frame arrived; it must never go back.
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
                Input::Frame { .. } | Input::Released | Input::Tick => {}
            }
        }
        if let Some(close) = self.close_when_due(now) {
            return Some(close);
        }
        match input {
            Input::Frame { voiced } => self.frame(now, voiced),
            Input::Released => {
                let segment = self.open?;
                Some(self.close(segment, CloseReason::Silence))
            }
            Input::Partial { .. } | Input::Pause { .. } | Input::Judged(_) | Input::Tick => None,
        }
    }

    /// Deadline of the next [`Input::Tick`]; `None` without an open segment.
    pub fn wake_at(&self) -> Option<Instant> {
        let segment = self.open.as_ref()?;
        Some(segment.silent_at(self.ends).min(segment.opened_at + LONGEST))
    }

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

    fn close_when_due(&mut self, now: Instant) -> Option<Output> {
        let segment = self.open.filter(|_| self.wake_at().is_some_and(|at| now >= at))?;
        let is_silent = now >= segment.silent_at(self.ends);
        let reason = if is_silent { CloseReason::Silence } else { CloseReason::TooLong };
        Some(self.close(segment, reason))
    }

    /// Closes the open segment for this reason, unless it was a click.
    fn close(&mut self, segment: Segment, reason: CloseReason) -> Output {
        self.open = None;
        let last_voiced_at = segment.last_voiced_at;
        if segment.voiced < BLIP {
            return Output::Close { reason: CloseReason::Blip, last_voiced_at };
        }
        self.previous = Some(last_voiced_at);
        Output::Close { reason, last_voiced_at }
    }
}

#[cfg(test)]
mod tests;
