//! When one speaker's utterance begins and when it is over.
//!
//! Entry types: [`Endpointer`], one for each speaker, and [`reads`], which tells from the words
//! whether more is to come. Silence counts from the stamp of the last voiced frame, so packets that
//! stop coming (push-to-talk released) are silence like any other.
//! **Never**: reads a clock, opens twice without closing, leaves an utterance open in silence.

use std::time::{Duration, Instant};

use super::barge_in::is_stop_word;
use super::command::{self, Command, NpcNames, name_at};
use super::language::is_any;
use super::words::Words;
use crate::audio::FRAME;

/// A segment with less voice than this was a click.
const BLIP: Duration = Duration::from_millis(60);
/// A segment that begins this soon after the last one's voice belongs to the same utterance.
const CONTINUES: Duration = Duration::from_millis(600);
/// The longest segment.
const LONGEST: Duration = Duration::from_secs(30);
/// A partial has to stand unchanged this long before it shortens the wait.
const SETTLED: Duration = Duration::from_millis(150);
/// The shortest and the longest wait for someone who trails off.
const TRAILING: (Duration, Duration) = (Duration::from_millis(900), Duration::from_millis(1_800));

/// How long a table waits in silence before an utterance is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patience {
    /// 300 ms, less or more where the words tell.
    Snappy,
    /// 500 ms, less or more where the words tell.
    #[default]
    Normal,
    /// 900 ms, less or more where the words tell.
    Patient,
}

impl Patience {
    /// Silence that ends an utterance whose words say nothing either way.
    pub const fn silence(self) -> Duration {
        match self {
            Self::Snappy => Duration::from_millis(300),
            Self::Normal => Duration::from_millis(500),
            Self::Patient => Duration::from_millis(900),
        }
    }

    /// Silence that ends an utterance with this reading; [`SETTLED`] guards the shorter wait.
    fn after(self, reading: Reading) -> Duration {
        let (least, most) = TRAILING;
        match reading {
            Reading::Open => self.silence(),
            Reading::Finished => self.silence() * 3 / 5,
            Reading::TrailsOff => (self.silence() * 2).clamp(least, most),
        }
    }
}

/// Whether the words so far suggest that more is to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// A whole question, sentence, command or stop word.
    Finished,
    /// The words do not tell.
    #[default]
    Open,
    /// Broken off ("and", "um"), or a name alone.
    TrailsOff,
}

/// Whether `text`, a partial transcript, suggests more to come; `names` are the NPCs'.
pub fn reads(text: &str, names: &[NpcNames]) -> Reading {
    let words = Words::of(text);
    let Some(last) = words.len().checked_sub(1).and_then(|at| words.get(at)) else {
        return Reading::Open;
    };
    let end = text.trim_end_matches([' ', '\n', '"', '\'', '”', '“', '’', '»', '«', ')']);
    if end.ends_with(['?', '!', '？', '！']) {
        return Reading::Finished;
    }
    if end.ends_with([',', '-', '–', '—', '…']) || end.ends_with("...") {
        return Reading::TrailsOff;
    }
    // "Bartok say …" is a command from its first word on and so tells nothing.
    let ordered = command::parse(text, names)
        .is_some_and(|command| !matches!(command, Command::Say { .. } | Command::Scene(_)));
    if ordered || is_stop_word(text, names) {
        return Reading::Finished;
    }
    if is_any(|it| it.unfinished, last) || is_only_name(&words, names) {
        return Reading::TrailsOff;
    }
    if end.ends_with(['.', '。']) { Reading::Finished } else { Reading::Open }
}

/// Whether the words only call an NPC by name.
fn is_only_name(words: &Words, names: &[NpcNames]) -> bool {
    let (mut at, mut named) = (0, false);
    while let Some(word) = words.get(at) {
        at = match name_at(names, words, at) {
            Some((_, after)) => {
                named = true;
                after
            }
            None if is_any(|it| it.calling, word) => at + 1,
            None => return false,
        };
    }
    named
}

/// What reaches an [`Endpointer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// 20 ms of the speaker's audio.
    Frame {
        /// Whether it is speech, as [`Voicing::voiced`](super::vad::Voicing::voiced) says.
        voiced: bool,
    },
    /// What has been recognised of the open segment.
    Partial {
        /// What [`reads`] says of it.
        reading: Reading,
        /// Since when its text is the same.
        stable_since: Instant,
    },
    /// Time has passed; wanted at [`Endpointer::wake_at`].
    Tick,
}

/// What is to be done with the speaker's audio.
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
        /// What ended the utterance.
        reason: CloseReason,
        /// The stamp of its last voiced frame.
        last_voiced_at: Instant,
    },
}

/// Why a segment ended.
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
    /// How long to wait.
    patience: Patience,
    /// The segment being spoken.
    open: Option<Segment>,
    /// When the last real segment was last voiced.
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
    /// What its words say, and since when they are the same.
    partial: Option<(Reading, Instant)>,
}

impl Segment {
    /// When silence ends it.
    fn silent_at(&self, patience: Patience) -> Instant {
        let at = |reading| self.last_voiced_at + patience.after(reading);
        match self.partial {
            None => at(Reading::Open),
            Some((Reading::Finished, since)) => {
                at(Reading::Finished).max(since + SETTLED).min(at(Reading::Open))
            }
            Some((reading, _)) => at(reading),
        }
    }
}

impl Endpointer {
    /// A speaker who has not spoken yet.
    pub const fn new(patience: Patience) -> Self {
        Self { patience, open: None, previous: None }
    }

    /// From now on as much silence ends an utterance.
    pub const fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// Takes in one thing that happened at `now`; instants never go back. A frame's is when it
    /// arrived.
    pub fn handle(&mut self, now: Instant, input: Input) -> Option<Output> {
        if let (Input::Partial { reading, stable_since }, Some(segment)) = (input, &mut self.open) {
            segment.partial = Some((reading, stable_since));
        }
        if let Some(close) = self.close_when_due(now) {
            return Some(close);
        }
        match input {
            Input::Frame { voiced } => self.frame(now, voiced),
            Input::Partial { .. } | Input::Tick => None,
        }
    }

    /// When [`Input::Tick`] is wanted at the latest; `None` while nobody speaks.
    pub fn wake_at(&self) -> Option<Instant> {
        let segment = self.open.as_ref()?;
        Some(segment.silent_at(self.patience).min(segment.opened_at + LONGEST))
    }

    /// One frame that ends nothing.
    fn frame(&mut self, now: Instant, voiced: bool) -> Option<Output> {
        if let Some(segment) = &mut self.open {
            if voiced {
                segment.last_voiced_at = now;
                segment.voiced += FRAME;
            }
            return Some(Output::Feed);
        }
        if !voiced {
            return None;
        }
        self.open =
            Some(Segment { opened_at: now, last_voiced_at: now, voiced: FRAME, partial: None });
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
            if now >= segment.silent_at(self.patience) {
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
