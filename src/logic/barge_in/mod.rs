//! Interruptions of an NPC that is speaking, and noises that only make it quieter for a moment.
//!
//! Entry type: [`BargeIn`], one for each turn an NPC speaks. Any probable voice ducks at once; a
//! stop word, words that are no mere "mm-hm" or "and then", or a long unbroken voice stops the NPC;
//! anything else was a false alarm. [`is_stop_word`] tells whole utterances that need no answer.
//! **Never**: decides whose voice counts (the caller passes on the addressed player's and the game
//! master's only), reads a clock, says anything after it has said [`Output::Stop`].

use std::time::{Duration, Instant};

use super::command::{NpcNames, name_at};
use super::language::{all, is_any};
use super::vad::Voicing;
use super::words::Words;
use crate::audio::FRAME;

/// The NPC must be heard this long before anything interrupts it: people finish their own sentence.
pub const ARMED_AFTER: Duration = Duration::from_millis(250);
/// Voice that confirms together with a word.
const CONFIRMING: Duration = Duration::from_millis(300);
/// A word that no second partial holds stands for so long before it counts: the first guess at a
/// listening noise is often a word.
const WORD_STANDS: Duration = Duration::from_millis(100);
/// Voice that confirms where no text is known.
const CONFIRMING_WORDLESS: Duration = Duration::from_millis(700);
/// Voice that confirms where partials are on their way: Whisper's first of a long "mm-hm" comes after 750 ms.
const CONFIRMING_BEFORE_PARTIALS: Duration = Duration::from_millis(1_000);
/// A longer gap makes a voice bursts, as laughter is.
const LONGEST_GAP: Duration = Duration::from_millis(120);
/// Silence after which it was a false alarm.
const FALSE_ALARM: Duration = Duration::from_millis(400);
/// Voiced frames this close together count with the time between them.
const JOINED: Duration = Duration::from_millis(40);

/// An input of a [`BargeIn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// The NPC's first packet has left.
    Audible,
    /// A 20 ms frame of somebody who may interrupt.
    Voice(Voicing),
    /// The words of their utterance so far.
    Partial(&'a str),
    /// Its final text.
    Final(&'a str),
    /// Time has passed; wanted at [`BargeIn::wake_at`].
    Tick,
    /// Their utterance is over and its final text, if any, was passed in before this.
    SpeechEnded,
}

/// An instruction to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Make the NPC quieter.
    Duck,
    /// It was nothing: back to its own loudness.
    Swell,
    /// End the NPC's turn.
    Stop {
        /// Reason for the stop.
        reason: StopReason,
    },
}

/// Evidence that confirmed an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A stop word.
    StopWord,
    /// Voice with at least one real word.
    Words,
    /// Unbroken voice of which no text is known.
    Voice,
}

/// Interruptions of one turn that an NPC speaks.
#[derive(Clone, Debug, Default)]
pub struct BargeIn {
    /// First time the NPC was heard.
    audible_at: Option<Instant>,
    /// Quieter since a voice, which is not confirmed yet.
    ducked: bool,
    /// Confirmed; nothing else happens.
    stopped: bool,
    /// Voice that confirms while no text is known.
    wordless: Duration,
    /// The voice now or last heard.
    voice: Voice,
}

/// One stretch of voice: from the frame that ducked to the next false alarm.
#[derive(Clone, Debug, Default)]
struct Voice {
    /// Newest frame that was voiced or probably so.
    received_at: Option<Instant>,
    /// Newest voiced frame.
    voiced_at: Option<Instant>,
    /// Voiced time in all.
    voiced: Duration,
    /// Voiced time since the last long gap, and when that began.
    run: Duration,
    /// First frame of the run.
    run_from: Option<Instant>,
    /// The words heard so far.
    text: Text,
}

/// Weight of the words heard so far.
#[derive(Clone, Debug, Default)]
enum Text {
    /// No partial transcript has come yet.
    #[default]
    Unknown,
    /// Listening noises and little words only.
    Nothing,
    /// At least one word that means something.
    Words {
        /// The first of those, folded.
        first: String,
        /// Since when it is heard.
        since: Instant,
        /// Another partial has held it too, or the final text does.
        is_sure: bool,
    },
}

impl BargeIn {
    /// A turn of which nothing has been heard yet; `partials`: the recogniser gives them.
    pub fn new(partials: bool) -> Self {
        let wordless = if partials { CONFIRMING_BEFORE_PARTIALS } else { CONFIRMING_WORDLESS };
        Self { wordless, ..Self::default() }
    }

    /// Takes in one thing that happened at `now`; instants never go back.
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

    /// Deadline of the next [`Input::Tick`].
    pub fn wake_at(&self) -> Option<Instant> {
        let guess = match &self.voice.text {
            Text::Words { since, .. } if self.voice.voiced >= CONFIRMING => Some(*since),
            _ => None,
        };
        let due = [guess.map(|since| since + WORD_STANDS), self.false_alarm_at()];
        let due = due.into_iter().flatten().min();
        due.filter(|_| !self.stopped)
    }

    /// Time at which silence makes it a false alarm.
    fn false_alarm_at(&self) -> Option<Instant> {
        self.voice.received_at.filter(|_| self.ducked).map(|at| at + FALSE_ALARM)
    }

    /// True if the NPC was heard long enough.
    fn is_armed(&self, now: Instant) -> bool {
        self.audible_at.is_some_and(|at| now.saturating_duration_since(at) >= ARMED_AFTER)
    }

    /// One frame of voice or silence.
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

    /// The words so far, or all of them.
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

    /// Stops when voice and words are enough.
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

    /// The last word of this machine.
    fn stop(&mut self, reason: StopReason) -> Output {
        self.stopped = true;
        Output::Stop { reason }
    }

    /// A false alarm when it has been silent long enough.
    fn quiet(&mut self, now: Instant) -> Option<Output> {
        if self.false_alarm_at().is_some_and(|at| now >= at) { self.swell() } else { None }
    }

    /// Ends a false alarm. The words heard are kept: late words may still confirm it.
    fn swell(&mut self) -> Option<Output> {
        std::mem::take(&mut self.ducked).then_some(Output::Swell)
    }
}

impl Voice {
    /// Adds a frame. Time is counted by stamps, so that neither two people at once nor frames in
    /// a heap count double.
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

    /// A long voice nearly without gaps: at least three quarters of it voiced.
    fn is_unbroken(&self, length: Duration) -> bool {
        let (Some(from), Some(to)) = (self.run_from, self.voiced_at) else { return false };
        let span = to.saturating_duration_since(from) + FRAME;
        self.run >= length && self.run * 4 >= span * 3
    }
}

/// True if all of `text` is a stop word, said to anybody ("Bartok, stop", "wait wait"): the NPC's turn ends
/// and nobody answers.
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

/// True if the first words, an interjection aside, are a stop word.
fn begins_with_stop(words: &Words) -> bool {
    let first = (0..words.len()).find(|&at| stop_at(words, at) > 0 || !is_beside(words, at));
    first.is_some_and(|at| stop_at(words, at) > 0)
}

/// Words of the stop phrase at `at`; zero for none. Longer phrases come first in the list.
fn stop_at(words: &Words, at: usize) -> usize {
    all(|it| it.stops).find_map(|phrase| words.phrase_at(at, phrase)).unwrap_or(0)
}

/// True if the word at `at` may stand beside a stop word.
fn is_beside(words: &Words, at: usize) -> bool {
    words.get(at).is_some_and(|word| is_any(|it| it.beside_stop, word))
}

/// True if a folded word only shows that somebody listens, or laughs.
fn is_backchannel(word: &str) -> bool {
    let laughter = |vowel: char| {
        let rest = word.trim_start_matches(['h', vowel]);
        rest.is_empty() && word.starts_with(['h', vowel]) && word.contains('h')
    };
    is_any(|it| it.backchannels, word)
        || (word.len() > 2 && "aeio".chars().any(laughter))
        || word == "ha"
}

/// `text` without notes of noises in square, round or pointed brackets or between asterisks.
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

/// True if a folded word says nothing by itself.
fn is_little(word: &str) -> bool {
    word.chars().nth(1).is_none() || is_any(|it| it.little, word)
}
