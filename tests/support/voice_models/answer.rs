//! Scripted answers, of which each service makes its own messages.
//!
//! Entry types: [`Answer`], [`Piece`]. A transcript comes before its sound, after it, or in between: by
//! turns.

use std::{f64::consts::TAU, sync::LazyLock};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

/// Samples a second of what is spoken.
pub const SPOKEN_RATE: u32 = 24_000;
/// Sound of one piece, in milliseconds.
pub const PIECE_MS: u64 = 100;
/// Bytes of one piece of words that do not end.
const FLOOD: usize = 1024;

/// One answer of a service.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// End of the answer.
    pub ending: Ending,
    /// True if it comes between unknown messages.
    pub is_strange: bool,
    /// True if it reports its real usage, and not 0.
    pub is_counted: bool,
    /// The part of it that comes late.
    pub late: Late,
}

/// A part of an answer that comes later than usual; only Gemini has such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// None does.
    Nothing,
    /// The end of the turn, and with it the usage: when the sound was played.
    End,
    /// The last piece of sound, and the end of the turn: after the results of its calls.
    Sound,
    /// All its words, and the end of the turn: after the results of its calls.
    Words,
}

/// A part of an answer.
#[derive(Clone, Debug)]
pub enum Part {
    /// Words, and seconds of sound.
    Say(String, f64),
    /// Words and seconds of sound, of which the second half never comes.
    Half(String, f64),
    /// A call of a tool, with its arguments.
    Call(String, Value),
    /// Sound without end.
    Sound,
    /// Words without end.
    Words,
    /// An unknown message of so many bytes.
    Huge(usize),
}

/// End of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is whole.
    Whole,
    /// The service itself breaks it off, and takes its calls back.
    Cancelled,
    /// It became too long.
    TooLong,
    /// The service has failed, and the session goes on.
    Failed,
    /// Nothing more comes.
    Stalls,
    /// The connection is gone.
    Cut,
    /// The session is too old.
    Expired,
}

impl Answer {
    fn of(parts: Vec<Part>, ending: Ending) -> Self {
        Self { parts, ending, is_strange: false, is_counted: true, late: Late::Nothing }
    }

    fn whole(parts: Vec<Part>) -> Self {
        Self::of(parts, Ending::Whole)
    }

    /// Says `text` in so many seconds.
    pub fn say(text: &str, seconds: f64) -> Self {
        Self::whole(vec![Part::Say(text.to_owned(), seconds)])
    }

    /// Calls one tool.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::calls(&[(name, arguments)])
    }

    /// Calls several tools at once.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let call =
            |(name, arguments): &(&str, Value)| Part::Call((*name).to_owned(), arguments.clone());
        Self::whole(calls.iter().map(call).collect())
    }

    /// Says something, then calls a tool.
    pub fn say_and_call(text: &str, seconds: f64, (name, arguments): (&str, Value)) -> Self {
        let call = Part::Call(name.to_owned(), arguments);
        Self::whole(vec![Part::Say(text.to_owned(), seconds), call])
    }

    /// A call with all its arguments, of an answer that the service then cancels.
    pub fn call_then_cancelled(name: &str, arguments: Value) -> Self {
        Self { ending: Ending::Cancelled, ..Self::call(name, arguments) }
    }

    /// Like [`Self::call`], for an answer that became too long.
    pub fn call_then_cut_off(name: &str, arguments: Value) -> Self {
        Self { ending: Ending::TooLong, ..Self::call(name, arguments) }
    }

    /// Fails before any sound; the session goes on.
    pub fn failed() -> Self {
        Self::of(Vec::new(), Ending::Failed)
    }

    /// Begins, and is silent for ever.
    pub fn stall() -> Self {
        Self::of(Vec::new(), Ending::Stalls)
    }

    /// The connection is gone before any sound.
    pub fn cut() -> Self {
        Self::of(Vec::new(), Ending::Cut)
    }

    /// The connection is gone in the middle of this.
    pub fn cut_in(text: &str, seconds: f64) -> Self {
        Self::of(vec![Part::Half(text.to_owned(), seconds)], Ending::Cut)
    }

    /// The session has expired: it is closed in the way of its service.
    pub fn expired() -> Self {
        Self::of(Vec::new(), Ending::Expired)
    }

    /// Sound without end.
    pub fn endless_sound() -> Self {
        Self::of(vec![Part::Sound], Ending::Stalls)
    }

    /// Words without sound and without end.
    pub fn endless_words() -> Self {
        Self::of(vec![Part::Words], Ending::Stalls)
    }

    /// So many calls of one tool.
    pub fn many_calls(count: usize, name: &str, arguments: &Value) -> Self {
        Self::calls(&vec![(name, arguments.clone()); count])
    }

    /// One message of so many bytes before what is said.
    pub fn huge(bytes: usize, text: &str, seconds: f64) -> Self {
        Self::whole(vec![Part::Huge(bytes), Part::Say(text.to_owned(), seconds)])
    }

    /// Speaks between messages and values of unknown kinds.
    pub fn strange(text: &str, seconds: f64) -> Self {
        Self { is_strange: true, ..Self::say(text, seconds) }
    }

    /// The answer with a part that comes late.
    pub fn with_late(self, late: Late) -> Self {
        Self { late, ..self }
    }

    /// Says something, and tells counts of 0.
    pub fn uncounted(text: &str, seconds: f64) -> Self {
        Self { is_counted: false, ..Self::say(text, seconds) }
    }
}

/// A piece of what is said.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'t> {
    /// Words.
    Words(&'t str),
    /// Sound.
    Sound,
}

/// Words and sound of the answer `number` in the order in which they come; of one that will be cut off
/// they come side by side, and the second half never does.
pub fn mixed(number: usize, text: &str, seconds: f64, is_whole: bool) -> Vec<Piece<'_>> {
    let pieces = pieces(seconds);
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    // The place of a word among the pieces of sound.
    let place = |at: usize| match number % 3 {
        0 if is_whole => -1.0,
        1 if is_whole => pieces as f64,
        _ => at as f64 * pieces as f64 / words.len() as f64 - 0.5,
    };
    let sounds = (0..pieces).map(|at| (at as f64, Piece::Sound));
    let said = words.iter().enumerate().map(|(at, word)| (place(at), Piece::Words(word)));
    let mut all: Vec<(f64, Piece)> = said.chain(sounds).collect();
    // Stable, so words stay in their order.
    all.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let keep = if is_whole { all.len() } else { all.len() / 2 };
    all.into_iter().take(keep).map(|(_, piece)| piece).collect()
}

/// Words of one piece of a flood.
pub fn flood() -> String {
    "word ".repeat(FLOOD / 5)
}

/// Pieces of sound in so many seconds, one at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "answers here last seconds"
)]
fn pieces(seconds: f64) -> usize {
    ((seconds * 1_000.0 / PIECE_MS as f64).round() as usize).max(1)
}

/// A piece of a tone of 220 Hz, as base64 of 16-bit samples: 22 periods, so that all pieces are alike. It is
/// made once, since a long answer of many would be late on a busy machine.
#[expect(clippy::cast_possible_truncation, reason = "a piece is short")]
pub fn tone() -> &'static str {
    static TONE: LazyLock<String> = LazyLock::new(|| {
        let length = SPOKEN_RATE as usize * PIECE_MS as usize / 1_000;
        STANDARD.encode((0..length).flat_map(sample).collect::<Vec<u8>>())
    });
    &TONE
}

#[expect(clippy::cast_possible_truncation, reason = "a sample fits")]
fn sample(at: usize) -> [u8; 2] {
    let phase = at as f64 * 220.0 / f64::from(SPOKEN_RATE) * TAU;
    ((phase.sin() * 8_000.0) as i16).to_le_bytes()
}
