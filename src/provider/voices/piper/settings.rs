//! The description beside a Piper network: a JSON file with its sounds, speakers and scales.
//!
//! Entry type: [`Settings`]. The file is not trusted: every number is checked here, before it
//! reaches the network.

use std::collections::HashMap;

use serde::Deserialize;

use crate::audio::SampleRate;

/// Rates of voices, in Hz.
const RATES: std::ops::RangeInclusive<u32> = 8_000..=48_000;
/// Largest alphabet, and most speakers.
const MOST: i32 = 100_000;
/// Most numbers of one sound.
const MOST_IDS: usize = 16;
/// Limits of the factor on the lengths of sounds; 1: as trained.
const LENGTHS: std::ops::RangeInclusive<f32> = 0.1..=10.0;
/// Limits of a voice's randomness.
const NOISES: std::ops::RangeInclusive<f32> = 0.0..=3.0;

/// Longest quotation of a value, in characters.
const MOST_VALUE: usize = 40;
/// Longest quotation of a JSON error, which may hold a value of any length.
const MOST_SAID: usize = 200;

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("it does not describe a Piper voice: {}", shortened(&.0.to_string(), MOST_SAID))]
    Shape(#[from] serde_json::Error),
    #[error("its '{key}' is \"{value}\", which is out of range")]
    Number { key: &'static str, value: String },
    #[error("it reads \"{0}\" instead of the phonemes of espeak-ng")]
    Phonemes(String),
    /// Its alphabet lacks a symbol that every sentence needs.
    #[error("its alphabet has no '{0}'")]
    Alphabet(char),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub rate: SampleRate,
    /// The voice of espeak-ng for its phonemes.
    pub espeak: String,
    /// Randomness of the sound.
    pub noise: f32,
    /// Factor on the lengths of sounds; 1: as trained.
    pub length: f32,
    /// Randomness of those lengths.
    pub noise_w: f32,
    /// Numbers of each sound.
    pub alphabet: HashMap<char, Vec<i32>>,
    /// Sounds with another spelling in the alphabet.
    pub replaced: HashMap<char, String>,
    /// 1: the network has no input for the speaker.
    pub n_speakers: i32,
    pub speakers: HashMap<String, i32>,
}

#[derive(Deserialize)]
struct Written {
    audio: Audio,
    espeak: Phonemes,
    #[serde(default)]
    inference: Inference,
    phoneme_type: Option<String>,
    phoneme_id_map: HashMap<String, Vec<i64>>,
    #[serde(default)]
    phoneme_map: HashMap<String, Vec<String>>,
    num_speakers: Option<i64>,
    #[serde(default)]
    speaker_id_map: HashMap<String, i64>,
}

#[derive(Deserialize)]
struct Audio {
    sample_rate: u32,
}

#[derive(Deserialize)]
struct Phonemes {
    voice: String,
}

#[derive(Deserialize)]
#[serde(default)]
struct Inference {
    noise_scale: f32,
    length_scale: f32,
    noise_w: f32,
}

impl Default for Inference {
    fn default() -> Self {
        Self { noise_scale: 0.667, length_scale: 1.0, noise_w: 0.8 }
    }
}

impl Settings {
    pub fn read(bytes: &[u8]) -> Result<Self, SettingsError> {
        let written: Written = serde_json::from_slice(bytes)?;
        if let Some(other) = written.phoneme_type.filter(|kind| kind != "espeak") {
            return Err(SettingsError::Phonemes(shortened(&other, MOST_VALUE)));
        }
        if !may_be_language(&written.espeak.voice) {
            return Err(number("espeak.voice", shortened(&written.espeak.voice, MOST_VALUE)));
        }
        let hz = written.audio.sample_rate;
        let rate = SampleRate::new(hz).ok().filter(|_| RATES.contains(&hz));
        let n_speakers = index("num_speakers", written.num_speakers.unwrap_or(1))?.max(1);
        let speakers = written.speaker_id_map.into_iter().map(|(name, id)| {
            let id = index("speaker_id_map", id)?;
            if id < n_speakers { Ok((name, id)) } else { Err(number("speaker_id_map", id)) }
        });
        let inference = written.inference;
        Ok(Self {
            rate: rate.ok_or_else(|| number("audio.sample_rate", hz))?,
            espeak: written.espeak.voice,
            noise: within("inference.noise_scale", inference.noise_scale, &NOISES)?,
            length: within("inference.length_scale", inference.length_scale, &LENGTHS)?,
            noise_w: within("inference.noise_w", inference.noise_w, &NOISES)?,
            alphabet: alphabet(written.phoneme_id_map)?,
            replaced: written.phoneme_map.into_iter().filter_map(replaced).collect(),
            n_speakers,
            speakers: speakers.collect::<Result<_, _>>()?,
        })
    }

    /// The speaker with this name or number; by default the first.
    pub fn speaker(&self, asked: Option<&str>) -> Option<i32> {
        let Some(asked) = asked else { return Some(0) };
        let by_number = || asked.parse().ok().filter(|id| (0..self.n_speakers).contains(id));
        self.speakers.get(asked).copied().or_else(by_number)
    }
}

/// Numbers of each sound, including the symbols of every sentence.
fn alphabet(written: HashMap<String, Vec<i64>>) -> Result<HashMap<char, Vec<i32>>, SettingsError> {
    let mut alphabet = HashMap::with_capacity(written.len());
    for (sound, ids) in written {
        if ids.len() > MOST_IDS {
            return Err(number("phoneme_id_map", ids.len()));
        }
        let ids = ids.into_iter().map(|id| index("phoneme_id_map", id));
        // Longer keys are never looked up: espeak-ng's output is read by characters.
        if let Some(sound) = only(&sound) {
            alphabet.insert(sound, ids.collect::<Result<_, _>>()?);
        }
    }
    match ['^', '_', '$'].into_iter().find(|needed| !alphabet.contains_key(needed)) {
        Some(missing) => Err(SettingsError::Alphabet(missing)),
        None => Ok(alphabet),
    }
}

fn replaced((sound, by): (String, Vec<String>)) -> Option<(char, String)> {
    Some((only(&sound)?, by.concat().chars().take(MOST_IDS).collect()))
}

fn only(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

fn may_be_language(voice: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_+".contains(c);
    (1..=40).contains(&voice.len()) && !voice.starts_with('-') && voice.chars().all(fits)
}

fn index(key: &'static str, value: i64) -> Result<i32, SettingsError> {
    let fits = |id: &i32| (0..MOST).contains(id);
    i32::try_from(value).ok().filter(fits).ok_or_else(|| number(key, value))
}

fn within(
    key: &'static str,
    value: f32,
    bounds: &std::ops::RangeInclusive<f32>,
) -> Result<f32, SettingsError> {
    if bounds.contains(&value) { Ok(value) } else { Err(number(key, value)) }
}

fn number(key: &'static str, value: impl ToString) -> SettingsError {
    SettingsError::Number { key, value: value.to_string() }
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(most).collect()
}
