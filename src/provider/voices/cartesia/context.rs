//! One context of the service: its sound, words and ends of inputs -> those of its sentences.
//!
//! Entry type: [`Context`]. Within a context the service keeps the order of its inputs. Times count
//! from the start of the context's sound. **Never**: fails on odd times.

use std::{collections::VecDeque, mem, time::Duration};

use serde_json::Value;
use tokio::time::Instant;

use crate::{
    audio::{SampleRate, SplitSamples},
    provider::{Pcm, WordEnd, voices::socket::LineEvent},
};

/// Rate of the sound that the service is asked for.
const RATE: SampleRate = SampleRate::HZ_24000;
/// Longest time that is believed, in seconds.
const LONGEST: f64 = 3_600.0;
/// Time after its last input in which a context takes another one: the service keeps it for a
/// second after its last sound. The rest of the second allows for the network.
const ALIVE: Duration = Duration::from_millis(800);

pub struct Context {
    pub id: String,
    /// Not yet spoken.
    sentences: VecDeque<Sentence>,
    /// Of its sentences, and not yet given on.
    events: Vec<LineEvent>,
    /// All of its sound.
    sounded: Duration,
    split: SplitSamples,
    last_input: Instant,
    is_ended: bool,
}

struct Sentence {
    /// Letters and digits of its words; the first word's are those not yet spoken.
    words: VecDeque<usize>,
    /// Words of the whole.
    all: usize,
    /// Sound of its context before it; known once it is the first.
    begins: Duration,
}

impl Context {
    pub fn new(id: String, now: Instant) -> Self {
        Self {
            id,
            sentences: VecDeque::new(),
            events: Vec::new(),
            sounded: Duration::ZERO,
            split: SplitSamples::default(),
            last_input: now,
            is_ended: false,
        }
    }

    /// True if the service surely takes another input.
    pub fn is_alive(&self, now: Instant) -> bool {
        !self.is_ended && now.saturating_duration_since(self.last_input) < ALIVE
    }

    /// True if all of its sentences are spoken.
    pub fn is_spoken(&self) -> bool {
        self.sentences.is_empty()
    }

    /// Adds a sentence that is sent `now`, or has no words and is not sent.
    pub fn add(&mut self, text: &str, now: Instant) {
        let words: VecDeque<usize> =
            text.split_whitespace().map(letters).filter(|word| *word > 0).collect();
        if !words.is_empty() {
            self.last_input = now;
        }
        let all = words.len();
        self.sentences.push_back(Sentence { words, all, begins: self.sounded });
        self.skip();
    }

    /// No input follows.
    pub const fn end(&mut self) {
        self.is_ended = true;
    }

    /// Takes 16-bit sound. That behind its sentences is dropped, and counted: a sample may be split
    /// there, and times go on.
    pub fn sound(&mut self, bytes: &[u8]) {
        let samples = self.split.push(bytes);
        self.sounded += RATE.duration_of(samples.len());
        if !samples.is_empty() && !self.sentences.is_empty() {
            self.events.push(LineEvent::Sound(Pcm { samples, rate: RATE }));
        }
    }

    /// Takes the service's `word_timestamps`. Those that end before the sentence are late ones of
    /// the sentence before it.
    pub fn words(&mut self, times: &Value) {
        let Some(sentence) = self.sentences.front_mut() else { return };
        let list = |name: &str| times.get(name).and_then(Value::as_array).map(Vec::as_slice);
        let words = list("words").unwrap_or_default().iter().map(Value::as_str);
        let ends = list("end").unwrap_or_default().iter().map(time);
        for (word, end) in words.zip(ends) {
            let (Some(word), Some(end)) = (word, end) else { continue };
            if let Some(at) = end.checked_sub(sentence.begins).filter(|at| !at.is_zero()) {
                self.events.extend(sentence.speaks(word, at));
            }
        }
    }

    /// The first sentence is spoken.
    pub fn flushed(&mut self) {
        self.pass();
        self.skip();
    }

    /// All sentences are spoken.
    pub fn done(&mut self) {
        self.is_ended = true;
        self.events.extend(self.sentences.drain(..).map(|_| LineEvent::Done));
    }

    pub fn take(&mut self) -> Vec<LineEvent> {
        mem::take(&mut self.events)
    }

    /// Sound that was not given on.
    pub fn held(&self) -> Duration {
        let length = |event: &LineEvent| match event {
            LineEvent::Sound(pcm) => pcm.rate.duration_of(pcm.samples.len()),
            _ => Duration::ZERO,
        };
        self.events.iter().map(length).sum()
    }

    /// Ends sentences without words, for which nothing comes.
    fn skip(&mut self) {
        while self.sentences.front().is_some_and(|it| it.all == 0) {
            self.pass();
        }
    }

    fn pass(&mut self) {
        if self.sentences.pop_front().is_some() {
            self.events.push(LineEvent::Done);
        }
        if let Some(next) = self.sentences.front_mut() {
            next.begins = self.sounded;
        }
    }
}

impl Sentence {
    /// Takes a word of the service that ends `at` this time; returns the sentence's own words that
    /// end with it, as one.
    fn speaks(&mut self, word: &str, at: Duration) -> Option<LineEvent> {
        let (mut spoken, before) = (letters(word), self.words.len());
        while let Some(first) = self.words.front_mut() {
            let taken = spoken.min(*first);
            (*first, spoken) = (*first - taken, spoken - taken);
            if *first > 0 {
                break;
            }
            self.words.pop_front();
        }
        let part = (self.all - self.words.len()) as f32 / self.all as f32;
        (self.words.len() < before).then_some(LineEvent::Word(WordEnd { at, part }))
    }
}

/// Letters and digits of a word; services differ in the marks around it.
fn letters(word: &str) -> usize {
    word.chars().filter(|c| c.is_alphanumeric()).count()
}

fn time(seconds: &Value) -> Option<Duration> {
    Some(Duration::from_secs_f64(seconds.as_f64()?.clamp(0.0, LONGEST)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn context(sentences: &[&str]) -> Context {
        let now = Instant::now();
        let mut context = Context::new("turn-0".to_owned(), now);
        sentences.iter().for_each(|text| context.add(text, now));
        context
    }

    /// As many milliseconds of sound.
    fn sound(milliseconds: usize) -> Vec<u8> {
        vec![9; 48 * milliseconds]
    }

    /// Sound and words in milliseconds.
    fn told(context: &mut Context) -> Vec<String> {
        let one = |event: LineEvent| match event {
            LineEvent::Sound(pcm) => format!("sound {}", pcm.samples.len() / 24),
            LineEvent::Word(word) => format!("word {} {}", word.at.as_millis(), word.part),
            LineEvent::Done => "done".to_owned(),
            LineEvent::Free => "free".to_owned(),
        };
        context.take().into_iter().map(one).collect()
    }

    #[test]
    fn times_count_from_the_start_of_a_sentence() {
        let mut context = context(&["Ay, no.", "I am."]);
        context.sound(&sound(500));
        context.words(&json!({"words": ["Ay", "no."], "start": [0, 0.25], "end": [0.25, 0.5]}));
        context.flushed();
        assert_eq!(told(&mut context), ["sound 500", "word 250 0.5", "word 500 1", "done"]);
        context.words(&json!({"words": ["no."], "start": [0.25], "end": [0.5]}));
        context.words(&json!({"words": ["I", "am."], "start": [0.5, 0.75], "end": [0.75, 1.0]}));
        context.sound(&sound(500));
        assert_eq!(told(&mut context), ["word 250 0.5", "word 500 1", "sound 500"]);
        context.done();
        assert_eq!(told(&mut context), ["done"]);
        context.sound(&sound(10));
        assert_eq!(told(&mut context), [""; 0], "sound behind all sentences");
    }

    #[test]
    fn sound_behind_a_sentence_splits_no_sample() {
        let mut context = context(&["Ay."]);
        context.flushed();
        context.sound(&[1, 0, 2]);
        context.add("No.", Instant::now());
        context.sound(&[0, 5, 0]);
        let sound = Pcm { samples: vec![2, 5], rate: RATE };
        assert_eq!(context.take(), [LineEvent::Done, LineEvent::Sound(sound)]);
    }

    #[test]
    fn words_may_be_split_and_joined() {
        let mut context = context(&["Well-met, old friend!"]);
        let words = ["Well", "met", "oldfriend"];
        context.words(&json!({"words": words, "end": [0.125, 0.25, 0.5]}));
        assert_eq!(told(&mut context), ["word 250 0.33333334", "word 500 1"]);
    }

    #[test]
    fn odd_messages_do_no_harm() {
        let mut context = context(&["Ay."]);
        context.words(&json!({"words": ["A", 7, "Ay"], "end": [-5, null, 1e300]}));
        context.words(&json!("none"));
        context.sound(&[1, 0, 2]);
        context.sound(&[0]);
        assert_eq!(told(&mut context), ["word 3600000 1", "sound 0", "sound 0"]);
        context.flushed();
        context.flushed();
        assert_eq!(told(&mut context), ["done"]);
    }

    #[test]
    fn sentences_without_words_end_in_order() {
        let mut context = context(&["…", "Ay.", " "]);
        assert_eq!(told(&mut context), ["done"]);
        context.sound(&sound(10));
        context.flushed();
        assert_eq!(told(&mut context), ["sound 10", "done", "done"]);
    }
}
