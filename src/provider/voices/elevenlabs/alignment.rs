//! Sound with the times of its characters -> sound, words and ends of sentences.
//!
//! Entry type: [`Aligned`]. The service sends sound in chunks, each with the characters that are
//! spoken in it and their times within it; blanks are not counted. A sentence is spoken once all of
//! its characters are, and the rest of their chunk belongs to it. **Never**: fails on odd times.

use std::{collections::VecDeque, time::Duration};

use serde_json::Value;

use crate::{
    audio::SampleRate,
    provider::{Pcm, WordEnd, voices::socket::LineEvent},
};

/// Longest time that is believed, in milliseconds.
const LONGEST: f64 = 600_000.0;

#[derive(Default)]
pub struct Aligned(VecDeque<Sentence>);

/// The unspoken rest of a sentence.
struct Sentence {
    /// Characters of its words; the first word's are those not yet spoken.
    words: VecDeque<usize>,
    /// Words of the whole.
    all: usize,
    sounded: Duration,
}

/// Character of a chunk, and its times from the chunk's start.
struct Character {
    begins: Duration,
    ends: Duration,
}

impl Aligned {
    pub fn add(&mut self, text: &str) {
        let words: VecDeque<usize> = text.split_whitespace().map(|it| it.chars().count()).collect();
        let all = words.len();
        self.0.push_back(Sentence { words, all, sounded: Duration::ZERO });
    }

    /// Takes a chunk of sound, with the service's `alignment` object.
    pub fn chunk(&mut self, sound: Pcm, alignment: Option<&Value>) -> Vec<LineEvent> {
        let Pcm { mut samples, rate } = sound;
        let (mut events, mut from) = (Vec::new(), Duration::ZERO);
        let mut characters = alignment.into_iter().flat_map(characters).peekable();
        while let Some(character) = characters.next() {
            let Some(sentence) = self.0.front_mut() else { return events };
            events.extend(sentence.speaks(&character, from));
            if !sentence.words.is_empty() {
                continue;
            }
            if let Some(next) = characters.peek() {
                let begins = next.begins.max(from);
                let end = rate.samples_in(begins.saturating_sub(from)).min(samples.len());
                let rest = samples.split_off(end);
                push(&mut events, std::mem::replace(&mut samples, rest), rate);
                from = begins;
            } else {
                push(&mut events, std::mem::take(&mut samples), rate);
            }
            events.push(LineEvent::Done);
            self.0.pop_front();
        }
        if let Some(sentence) = self.0.front_mut() {
            sentence.sounded += rate.duration_of(samples.len());
            push(&mut events, samples, rate);
        }
        events
    }

    /// Ends all sentences: no sound follows.
    pub fn end(&mut self) -> Vec<LineEvent> {
        self.0.drain(..).map(|_| LineEvent::Done).collect()
    }
}

impl Sentence {
    /// Takes a character of a chunk whose sound belongs to the sentence from `from` on; returns the
    /// word that ends with it.
    fn speaks(&mut self, character: &Character, from: Duration) -> Option<LineEvent> {
        let word = self.words.front_mut()?;
        *word = word.saturating_sub(1);
        if *word > 0 {
            return None;
        }
        self.words.pop_front();
        let at = self.sounded + character.ends.saturating_sub(from);
        let part = (self.all - self.words.len()) as f32 / self.all as f32;
        Some(LineEvent::Word(WordEnd { at, part }))
    }
}

fn push(events: &mut Vec<LineEvent>, samples: Vec<i16>, rate: SampleRate) {
    if !samples.is_empty() {
        events.push(LineEvent::Sound(Pcm { samples, rate }));
    }
}

/// Characters of `alignment` without blanks, one by one: no more are read than sentences have.
/// Times that are missing are those of the one before.
fn characters(alignment: &Value) -> impl Iterator<Item = Character> {
    let begins = list(alignment, ["charStartTimesMs", "char_start_times_ms"]);
    let lasts = list(alignment, ["charDurationsMs", "charsDurationsMs"]);
    let mut known = Duration::ZERO;
    let texts = list(alignment, ["chars", "characters"]).iter().enumerate();
    texts.flat_map(move |(at, text)| {
        known = begins.get(at).and_then(time).unwrap_or(known);
        let (begins, ends) = (known, known + lasts.get(at).and_then(time).unwrap_or_default());
        let letters = text.as_str().unwrap_or_default().chars();
        letters.filter(|letter| !letter.is_whitespace()).map(move |_| Character { begins, ends })
    })
}

/// The list with one of these names; empty if it is missing.
fn list<'a>(alignment: &'a Value, names: [&str; 2]) -> &'a [Value] {
    let found = names.iter().find_map(|name| alignment.get(name)?.as_array());
    found.map(Vec::as_slice).unwrap_or_default()
}

fn time(milliseconds: &Value) -> Option<Duration> {
    let milliseconds = milliseconds.as_f64()?.clamp(0.0, LONGEST);
    Some(Duration::from_secs_f64(milliseconds / 1_000.0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// As many milliseconds of sound.
    fn sound(milliseconds: usize) -> Pcm {
        Pcm { samples: vec![9; 24 * milliseconds], rate: SampleRate::HZ_24000 }
    }

    /// Each character lasts 100 ms.
    fn alignment(text: &str) -> Value {
        let chars: Vec<String> = text.chars().map(String::from).collect();
        let begins: Vec<usize> = (0..chars.len()).map(|at| at * 100).collect();
        json!({"chars": chars, "charStartTimesMs": begins, "charDurationsMs": vec![100; begins.len()]})
    }

    /// Sound and words in milliseconds.
    fn told(events: &[LineEvent]) -> Vec<String> {
        let one = |event: &LineEvent| match event {
            LineEvent::Sound(pcm) => format!("sound {}", pcm.samples.len() / 24),
            LineEvent::Word(word) => format!("word {} {}", word.at.as_millis(), word.part),
            LineEvent::Done => "done".to_owned(),
            LineEvent::Free => "free".to_owned(),
        };
        events.iter().map(one).collect()
    }

    #[test]
    fn times_of_chunks_add_up() {
        let mut aligned = Aligned::default();
        aligned.add("Ay, no.");
        let first = aligned.chunk(sound(500), Some(&alignment("Ay, n")));
        assert_eq!(told(&first), ["word 300 0.5", "sound 500"]);
        let second = aligned.chunk(sound(250), Some(&alignment("o. ")));
        assert_eq!(told(&second), ["word 700 1", "sound 250", "done"]);
        assert_eq!(told(&aligned.chunk(sound(10), None)), [""; 0], "sound behind all sentences");
    }

    #[test]
    fn chunk_of_two_sentences_is_split() {
        let mut aligned = Aligned::default();
        aligned.add("Ay.");
        aligned.add("No.");
        let events = aligned.chunk(sound(800), Some(&alignment("Ay. No")));
        assert_eq!(told(&events), ["word 300 1", "sound 400", "done", "sound 400"]);
        let rest = aligned.chunk(sound(100), Some(&alignment(".")));
        assert_eq!(told(&rest), ["word 500 1", "sound 100", "done"]);
    }

    #[test]
    fn odd_alignments_do_no_harm() {
        let mut aligned = Aligned::default();
        aligned.add("Ay.");
        let odd = json!({"chars": ["A", 7, "y"], "charStartTimesMs": [-5, null, 1e300]});
        let events = aligned.chunk(sound(10), Some(&odd));
        assert_eq!(told(&events), ["sound 10"]);
        assert_eq!(told(&aligned.chunk(sound(10), Some(&json!("none")))), ["sound 10"]);
        assert_eq!(told(&aligned.end()), ["done"]);
        aligned.add("Ay.");
        let long = json!({"chars": ["Ay.".repeat(100_000)]});
        assert_eq!(told(&aligned.chunk(sound(10), Some(&long))), ["word 0 1", "done"]);
    }
}
