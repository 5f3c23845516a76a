//! Barge-in: stops an NPC that a player interrupts, and ducks it for a noise that may be nothing.
//!
//! Entry types: [`BargeIn`], one for each turn an NPC speaks; [`is_stop_word`] recognises
//! utterances that need no answer. In go judged frames of 20 ms, and partial and final texts; out
//! come [`Output::Duck`], [`Output::Swell`] and, last of all, [`Output::Stop`]. Nothing counts
//! until the NPC has been audible for 250 ms, because people finish their own sentence. From then
//! on any probable voice ducks. A stop word stops the NPC at once. So do 300 ms of voice with a
//! meaningful word (no "mm-hm" or "and then"), once a second partial or the final text confirms the
//! word or it is 100 ms old. Without text, unbroken voice stops it after 700 ms, or after 1 s if
//! partials are expected: Whisper's first partial of a long "mm-hm" arrives after 750 ms. After 400
//! ms of silence it was a false alarm, though late words may still stop the NPC.
//! **Never**: decides whose voice counts (the caller passes on the addressed player's and the game
//! master's only), or reads a clock.

use std::time::{Duration, Instant};

use super::command::{NpcNames, name_at};
use super::language::{all, is_any};
use super::vad::Voicing;
use super::words::Words;
use crate::audio::FRAME;

/// Time the NPC must be audible before anything interrupts it.
pub const ARMED_AFTER: Duration = Duration::from_millis(250);
/// Voice needed to confirm a word.
const CONFIRMING: Duration = Duration::from_millis(300);
/// Age at which an unrepeated word counts: the first guess at a listening noise is often a word.
const WORD_STANDS: Duration = Duration::from_millis(100);
/// Voice needed where no text is expected.
const CONFIRMING_WORDLESS: Duration = Duration::from_millis(700);
/// Voice needed while partials are on their way.
const CONFIRMING_BEFORE_PARTIALS: Duration = Duration::from_millis(1_000);
/// Longest gap within a run of voice; laughter has longer ones.
const LONGEST_GAP: Duration = Duration::from_millis(120);
/// Silence after which a duck was a false alarm.
const FALSE_ALARM: Duration = Duration::from_millis(400);
/// Gaps up to this length count as voice.
const JOINED: Duration = Duration::from_millis(40);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// The NPC's first packet has left.
    Audible,
    /// A 20 ms frame of a player who may interrupt.
    Voice(Voicing),
    Partial(&'a str),
    Final(&'a str),
    /// Time has passed; wanted at [`BargeIn::wake_at`].
    Tick,
    /// The utterance is over; its final text, if any, was passed in before this.
    SpeechEnded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Duck,
    /// False alarm: restore the volume.
    Swell,
    Stop {
        reason: StopReason,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    StopWord,
    /// Voice with at least one meaningful word.
    Words,
    Voice,
}

#[derive(Clone, Debug, Default)]
pub struct BargeIn {
    audible_at: Option<Instant>,
    /// Ducked for a voice that is not confirmed yet.
    ducked: bool,
    stopped: bool,
    /// Voice that stops the NPC while no text is known.
    wordless: Duration,
    voice: Voice,
}

/// Voice from the frame that ducked to the next false alarm.
#[derive(Clone, Debug, Default)]
struct Voice {
    received_at: Option<Instant>,
    voiced_at: Option<Instant>,
    voiced: Duration,
    /// Voiced time since the last long gap.
    run: Duration,
    run_from: Option<Instant>,
    text: Text,
}

/// Weight of the text received so far.
#[derive(Clone, Debug, Default)]
enum Text {
    #[default]
    Unknown,
    /// Only listening noises and little words.
    Nothing,
    /// At least one meaningful word.
    Words {
        /// The first such word, folded.
        first: String,
        since: Instant,
        /// Confirmed by another partial or by the final text.
        is_sure: bool,
    },
}

impl BargeIn {
    /// `partials`: the recogniser sends partial texts.
    pub fn new(partials: bool) -> Self {
        let wordless = if partials { CONFIRMING_BEFORE_PARTIALS } else { CONFIRMING_WORDLESS };
        Self { wordless, ..Self::default() }
    }

    /// `now` must never go back.
    pub fn handle(&mut self, now: Instant, input: Input<'_>) -> Option<Output> {
        if self.stopped {
            return None;
        }
        match input {
            Input::Audible => {
                self.audible_at.get_or_insert(now);
                None
            }
            Input::Voice(voicing) if self.is_armed(now) => self.voice(now, voicing),
            Input::Partial(text) if self.is_armed(now) => self.text(now, text, false),
            Input::Final(text) if self.is_armed(now) => self.text(now, text, true),
            Input::Tick => self.confirm(now).or_else(|| self.quiet(now)),
            Input::SpeechEnded => self.swell(),
            Input::Voice(_) | Input::Partial(_) | Input::Final(_) => None,
        }
    }

    pub fn wake_at(&self) -> Option<Instant> {
        let guess = match &self.voice.text {
            Text::Words { since, .. } if self.voice.voiced >= CONFIRMING => Some(*since),
            _ => None,
        };
        let due = [guess.map(|since| since + WORD_STANDS), self.false_alarm_at()];
        let due = due.into_iter().flatten().min();
        due.filter(|_| !self.stopped)
    }

    fn false_alarm_at(&self) -> Option<Instant> {
        self.voice.received_at.filter(|_| self.ducked).map(|at| at + FALSE_ALARM)
    }

    fn is_armed(&self, now: Instant) -> bool {
        self.audible_at.is_some_and(|at| now.saturating_duration_since(at) >= ARMED_AFTER)
    }

    fn voice(&mut self, now: Instant, voicing: Voicing) -> Option<Output> {
        let mut output = None;
        if !self.ducked {
            if !voicing.probable {
                return None;
            }
            self.ducked = true;
            self.voice = Voice::default();
            output = Some(Output::Duck);
        }
        self.voice.frame(now, voicing);
        self.confirm(now).or(output).or_else(|| self.quiet(now))
    }

    fn text(&mut self, now: Instant, text: &str, is_final: bool) -> Option<Output> {
        let spoken = without_notes(text);
        let words = Words::of(&spoken);
        if begins_with_stop(&words) {
            return Some(self.stop(StopReason::StopWord));
        }
        let meant = words.iter().find(|word| !is_backchannel(word) && !is_little(word));
        self.voice.text = match (meant, std::mem::take(&mut self.voice.text)) {
            (None, _) if words.is_empty() && text.trim().is_empty() => Text::Unknown,
            (None, _) => Text::Nothing,
            (Some(word), Text::Words { first, since, .. }) if first == word => {
                Text::Words { first, since, is_sure: true }
            }
            (Some(word), _) => {
                Text::Words { first: word.to_owned(), since: now, is_sure: is_final }
            }
        };
        self.confirm(now)
    }

    fn confirm(&mut self, now: Instant) -> Option<Output> {
        let reason = match &self.voice.text {
            Text::Words { since, is_sure, .. }
                if self.voice.voiced >= CONFIRMING
                    && (*is_sure || now.saturating_duration_since(*since) >= WORD_STANDS) =>
            {
                StopReason::Words
            }
            Text::Unknown if self.voice.is_unbroken(self.wordless) => StopReason::Voice,
            _ => return None,
        };
        Some(self.stop(reason))
    }

    fn stop(&mut self, reason: StopReason) -> Output {
        self.stopped = true;
        Output::Stop { reason }
    }

    fn quiet(&mut self, now: Instant) -> Option<Output> {
        if self.false_alarm_at().is_some_and(|at| now >= at) { self.swell() } else { None }
    }

    /// Ends a false alarm, but keeps the words: late ones may still confirm it.
    fn swell(&mut self) -> Option<Output> {
        std::mem::take(&mut self.ducked).then_some(Output::Swell)
    }
}

impl Voice {
    /// Measures time by timestamps, so that overlapping speakers and bursts do not count double.
    fn frame(&mut self, now: Instant, voicing: Voicing) {
        if voicing.probable || voicing.voiced {
            self.received_at = Some(now);
        }
        if !voicing.voiced {
            return;
        }
        let gap = self.voiced_at.map(|at| now.saturating_duration_since(at));
        let step = gap.filter(|gap| *gap <= JOINED).unwrap_or(FRAME);
        if gap.is_none_or(|gap| gap > LONGEST_GAP) {
            (self.run, self.run_from) = (Duration::ZERO, Some(now));
        }
        self.voiced_at = Some(now);
        self.voiced += step;
        self.run += step;
    }

    /// True if at least three quarters of the run is voiced.
    fn is_unbroken(&self, length: Duration) -> bool {
        let (Some(from), Some(to)) = (self.run_from, self.voiced_at) else { return false };
        let span = to.saturating_duration_since(from) + FRAME;
        self.run >= length && self.run * 4 >= span * 3
    }
}

/// True if all of `text` is a stop word, perhaps with names: "Bartok, stop", "wait wait".
pub fn is_stop_word(text: &str, names: &[NpcNames]) -> bool {
    let words = Words::of(text);
    let (mut at, mut stops) = (0, false);
    while at < words.len() {
        let stop = stop_at(&words, at);
        stops |= stop > 0;
        at += match stop {
            0 if is_beside(&words, at) => 1,
            0 => match name_at(names, &words, at) {
                Some((_, after)) => after - at,
                None => return false,
            },
            length => length,
        };
    }
    stops
}

/// True if `words` begin with a stop word, interjections skipped.
fn begins_with_stop(words: &Words) -> bool {
    let first = (0..words.len()).find(|&at| stop_at(words, at) > 0 || !is_beside(words, at));
    first.is_some_and(|at| stop_at(words, at) > 0)
}

/// Length in words of the stop phrase at `at`; zero for none. The list has longer phrases first.
fn stop_at(words: &Words, at: usize) -> usize {
    all(|it| it.stops).find_map(|phrase| words.phrase_at(at, phrase)).unwrap_or(0)
}

fn is_beside(words: &Words, at: usize) -> bool {
    words.get(at).is_some_and(|word| is_any(|it| it.beside_stop, word))
}

fn is_backchannel(word: &str) -> bool {
    let laughter = |vowel: char| {
        let rest = word.trim_start_matches(['h', vowel]);
        rest.is_empty() && word.starts_with(['h', vowel]) && word.contains('h')
    };
    is_any(|it| it.backchannels, word)
        || (word.len() > 2 && "aeio".chars().any(laughter))
        || word == "ha"
}

/// `text` without notes of noises in brackets or between asterisks.
fn without_notes(text: &str) -> String {
    let mut spoken = String::with_capacity(text.len());
    let mut close = None;
    for c in text.chars() {
        match (close, c) {
            (Some(end), c) if c == end => close = None,
            (Some(_), _) => {}
            (None, '[') => close = Some(']'),
            (None, '(') => close = Some(')'),
            (None, '<') => close = Some('>'),
            (None, '*') => close = Some('*'),
            (None, c) => spoken.push(c),
        }
    }
    spoken
}

#[cfg(test)]
mod tests;

fn is_little(word: &str) -> bool {
    word.chars().nth(1).is_none() || is_any(|it| it.little, word)
}
