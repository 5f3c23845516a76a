//! A loopback recogniser that hears the lines which tests say, told from each other by how their
//! loudness goes up and down.
//!
//! Entry type: [`Ears`]. **Never**: gives partials.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lines here last seconds, and their frames fit"
)]

use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::chat_server::{ChatServer, Script};

/// The recogniser; it ends when dropped.
pub struct Ears(ChatServer);

impl Ears {
    /// A service that speaks OpenAI's protocol, and no key.
    pub fn start() -> Self {
        let server = ChatServer::start();
        server.otherwise(|request| {
            let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
            let text = heard(&request.body, &lines).unwrap_or_default();
            Script::json(200, &json!({ "text": text }))
        });
        Self(server)
    }

    /// The line of `providers` that hears with it.
    pub fn entry(&self) -> String {
        format!("  stt: {{ name: openai, base_url: \"{}\", model: ears }}\n", self.0.base_url())
    }
}

/// 20 ms at 16 kHz.
const FRAME: usize = 320;
/// Of the shorter of two, what has to lie in both.
const OVERLAP: f64 = 0.7;
/// Likeness from which on it is the same line; others have 0.7 at most.
const SAME: f64 = 0.8;
/// No line is shorter, in frames.
const SHORTEST: usize = 12;

struct Line {
    text: String,
    loudness: Vec<f64>,
}

static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());

/// From now on `samples`, 16 kHz mono, are heard as `text`.
pub fn remember(text: &str, samples: &[i16]) {
    LINES.lock().unwrap_or_else(PoisonError::into_inner).push(Line::new(text, samples));
}

impl Line {
    fn new(text: &str, samples: &[i16]) -> Self {
        let loudness = loudness(samples);
        let first = loudness.iter().position(|it| *it > 100.0).unwrap_or_default();
        let last = loudness.iter().rposition(|it| *it > 100.0).map_or(loudness.len(), |at| at + 1);
        Self { text: text.to_owned(), loudness: loudness[first..last].to_vec() }
    }
}

/// The words of `lines` in a request that holds a WAV file of 16 kHz mono, in their order; `None`: of no
/// line.
fn heard(body: &[u8], lines: &[Line]) -> Option<String> {
    let at = body.windows(4).position(|four| four == b"data")? + 4;
    let length: [u8; 4] = body.get(at..at + 4)?.try_into().ok()?;
    let sound = &body[at + 4..];
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?.min(sound.len());
    let samples = sound[..length].chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]]));
    let samples: Vec<i16> = samples.collect();
    let words = words_in(&loudness(&samples), lines);
    (!words.is_empty()).then(|| words.join(" "))
}

fn loudness(samples: &[i16]) -> Vec<f64> {
    let mean = |frame: &[i16]| frame.iter().map(|s| f64::from(*s).powi(2)).sum::<f64>();
    samples.chunks_exact(FRAME).map(|frame| (mean(frame) / FRAME as f64).sqrt()).collect()
}

/// Position of a line in a sound.
struct Found<'a> {
    line: &'a Line,
    /// Frame of the sound at which the line begins; before the sound, where its beginning is missing.
    at: isize,
    weight: f64,
}

/// The words of the likeliest line in `sound`, and of those before and after it.
fn words_in(sound: &[f64], lines: &[Line]) -> Vec<String> {
    if sound.len() < SHORTEST {
        return Vec::new();
    }
    let found = lines.iter().filter_map(|line| place_of(line, sound));
    let Some(best) = found.max_by(|one, other| one.weight.total_cmp(&other.weight)) else {
        return Vec::new();
    };
    let length = best.line.loudness.len().cast_signed();
    let in_sound = |at: isize| usize::try_from(at).unwrap_or(0).min(sound.len());
    let (from, to) = (in_sound(best.at), in_sound(best.at + length));
    // Of a line that was cut, the words that lie in the sound.
    let all: Vec<&str> = best.line.text.split(' ').collect();
    let share = |at: usize| {
        let share = (at.cast_signed() - best.at) as f64 / length as f64 * all.len() as f64;
        (share.round() as usize).min(all.len())
    };
    let mut words = words_in(&sound[..from], lines);
    words.extend(all[share(from)..share(to)].iter().map(|word| (*word).to_owned()));
    words.extend(words_in(&sound[to..], lines));
    words
}

fn place_of<'a>(line: &'a Line, sound: &[f64]) -> Option<Found<'a>> {
    let (length, whole) = (line.loudness.len(), sound.len());
    let least = ((length.min(whole) as f64 * OVERLAP) as usize).max(SHORTEST.min(length));
    let first = least.cast_signed() - length.cast_signed();
    let last = whole.cast_signed() - least.cast_signed();
    let found = (first..=last).filter_map(|at| {
        let (from, to) = (at.max(0), (at + length.cast_signed()).min(whole.cast_signed()));
        let overlap = to - from;
        let in_line = (from - at).cast_unsigned()..(to - at).cast_unsigned();
        let in_sound = from.cast_unsigned()..to.cast_unsigned();
        let likeness = likeness(&line.loudness[in_line], &sound[in_sound]);
        let weight = (likeness - 0.6) * overlap as f64;
        (likeness > SAME).then_some(Found { line, at, weight })
    });
    found.max_by(|one, other| one.weight.total_cmp(&other.weight))
}

/// Pearson's correlation of two of one length.
fn likeness(one: &[f64], other: &[f64]) -> f64 {
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (a, b) = (mean(one), mean(other));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        one.iter().zip(other).map(|(x, y)| f(x - a, y - b)).sum()
    };
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt().max(1.0)
}

#[test]
fn known_lines_are_recognised_in_audio() {
    use super::speech::{padded, plain_wav, speech};
    let lines = ["Bartok, roll two d six plus three", "Greymantle, good evening", "okay"];
    let said = lines.map(|line| speech("slt", line));
    // Lines that other tests say in the meantime would be heard too.
    let known: Vec<Line> = lines.iter().zip(&said).map(|(line, it)| Line::new(line, it)).collect();
    let heard = |samples: &[i16]| heard(&plain_wav(samples), &known);
    for (line, samples) in lines.iter().zip(&said) {
        assert_eq!(heard(&padded(0.3, samples, 0.4)).as_deref(), Some(*line));
    }
    let both = [padded(0.0, &said[0], 0.6), said[1].clone()].concat();
    assert_eq!(heard(&both).unwrap(), format!("{} {}", lines[0], lines[1]));
    let half = &said[0][..said[0].len() / 2];
    let words = heard(half).unwrap();
    assert!(lines[0].starts_with(&words) && words.len() < lines[0].len(), "{words}");
    let silence = [0; 16_000];
    assert_eq!(heard(&silence), None);
}
