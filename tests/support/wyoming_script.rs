//! Script of the loopback Wyoming service, and its record: values, beside `wyoming.rs`.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sound here lasts seconds, and its samples fit"
)]

use serde_json::{Value, json};

/// Its voices and their speakers; each has a tone of its own ([`pitch_of`]).
const VOICES: [(&str, &[&str]); 3] = [
    ("en_US-joe-medium", &[]),
    ("en_GB-alan-low", &[]),
    ("en_US-libritts-high", &["p3922", "p8699"]),
];

/// Behaviour of a service.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Behaviour as a recogniser, if it is one.
    pub hears: Option<Hears>,
    /// Behaviour as a voice, if it is one.
    pub speaks: Option<Speaks>,
    /// The fault, and when it happens.
    pub fault: Option<(When, Fault)>,
    /// It sends unknown events.
    pub is_chatty: bool,
}

/// Behaviour of a recogniser.
#[derive(Clone, Debug)]
pub struct Hears {
    /// Words it hears in any speech.
    pub words: String,
    /// It gives transcripts in pieces.
    pub streams: bool,
    /// It ends an utterance itself after so many seconds.
    pub ends_after: Option<f64>,
}

/// Behaviour of a voice.
#[derive(Clone, Copy, Debug)]
pub struct Speaks {
    /// It takes texts in pieces.
    pub streams: bool,
    /// Of its sound, in Hz.
    pub rate: u32,
    /// Channels of the sound.
    pub channels: u16,
}

/// Moment of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Its description was requested.
    Described,
    /// Everything it needs was sent, before any answer.
    Asked,
    /// While an utterance comes in, or in the middle of the sound.
    Midway,
}

/// Fault of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing more comes.
    Stall,
    /// The connection is closed.
    Cut,
    /// It says that it has failed, with these words, and closes.
    Error(&'static str),
    /// A line without an end.
    LongLine,
    /// More data is announced than there is memory.
    HugeData,
    /// More sound than that.
    HugePayload,
    /// Bytes that are no events.
    Rubbish,
    /// Three seconds of silence, and nothing more.
    Blank,
}

/// Record of its requests and connections.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Utterances that were told to their end.
    pub heard: Vec<Utterance>,
    /// Sentences.
    pub spoken: Vec<Sentence>,
    /// Requests that the real servers would not have taken.
    pub refused: Vec<String>,
    /// Connections that were closed on it before it was done.
    pub left: usize,
    /// Connections that both sides were done with.
    pub done: usize,
}

/// An utterance that it received.
#[derive(Clone, Debug)]
pub struct Utterance {
    /// Data of `transcribe`.
    pub request: Value,
    /// Data of `audio-start`.
    pub format: Value,
    /// Its length.
    pub seconds: f64,
}

/// A sentence that it was asked to speak.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// Text to say.
    pub text: String,
    /// The voice as it was named.
    pub voice: Value,
    /// The text came in pieces.
    pub in_pieces: bool,
}

impl Script {
    /// A recogniser that hears these words.
    pub fn hears(words: &str) -> Self {
        let hears = Hears { words: words.to_owned(), streams: false, ends_after: None };
        Self { hears: Some(hears), ..Self::default() }
    }

    /// A voice.
    pub fn speaks() -> Self {
        let speaks = Speaks { streams: false, rate: 22_050, channels: 1 };
        Self { speaks: Some(speaks), ..Self::default() }
    }

    /// Adds streaming: transcripts and speech in pieces.
    pub fn streamed(mut self) -> Self {
        self.hears.iter_mut().for_each(|it| it.streams = true);
        self.speaks.iter_mut().for_each(|it| it.streams = true);
        self
    }

    /// Sets the fault, and when it happens.
    pub fn with(self, when: When, fault: Fault) -> Self {
        Self { fault: Some((when, fault)), ..self }
    }
}

/// The tone of a voice, in Hz.
pub fn pitch_of(voice: &str) -> f64 {
    let index = VOICES.iter().position(|(name, _)| *name == voice).expect("a voice it has");
    [150.0, 200.0, 250.0][index]
}

/// The tone of a voice that was asked for.
pub fn pitch_for(voice: &Value) -> Option<f64> {
    let Some(name) = voice.get("name").and_then(Value::as_str) else {
        return Some(pitch_of(VOICES[0].0));
    };
    let (_, speakers) = VOICES.iter().find(|(known, _)| *known == name)?;
    let speaker = voice.get("speaker").and_then(Value::as_str);
    speaker.is_none_or(|speaker| speakers.contains(&speaker)).then(|| pitch_of(name))
}

/// A tone that is as long as so many letters.
pub fn tone(pitch: f64, letters: usize, speaks: Speaks) -> Vec<i16> {
    let rate = f64::from(speaks.rate);
    let length = (rate * 0.06 * letters.max(5) as f64) as usize;
    let sample =
        |at: usize| (8_000.0 * (std::f64::consts::TAU * pitch * at as f64 / rate).sin()) as i16;
    let channels = usize::from(speaks.channels);
    (0..length).flat_map(|at| std::iter::repeat_n(sample(at), channels)).collect()
}

/// Its answer to `describe`.
pub fn info(script: &Script) -> Value {
    let artifact = |name: &str| {
        json!({"name": name, "attribution": {"name": "nobody", "url": "http://127.0.0.1"},
            "installed": true, "description": "for tests", "version": null})
    };
    let with = |mut artifact: Value, more: Value| {
        let fields = more.as_object().expect("an object").clone();
        artifact.as_object_mut().expect("an object").extend(fields);
        artifact
    };
    let asr = script.hears.iter().map(|hears| {
        let models = ["tiny-int8", "base-int8"]
            .map(|name| with(artifact(name), json!({"languages": ["en", "de"]})));
        let more = json!({"models": models, "supports_transcript_streaming": hears.streams});
        with(artifact("loopback-ears"), more)
    });
    let tts = script.speaks.iter().map(|speaks| {
        let voices = VOICES.map(|(name, speakers)| {
            let speakers: Vec<Value> = speakers.iter().map(|it| json!({"name": it})).collect();
            with(artifact(name), json!({"languages": ["en_US"], "speakers": speakers}))
        });
        let more = json!({"voices": voices, "supports_synthesize_streaming": speaks.streams});
        with(artifact("loopback-mouth"), more)
    });
    json!({"asr": asr.collect::<Vec<_>>(), "tts": tts.collect::<Vec<_>>(), "handle": [],
        "intent": [], "wake": [], "mic": [], "snd": []})
}
