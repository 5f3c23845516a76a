//! The first sound of an answer: from the end of speech, with what is on this machine alone. One JSON
//! line per case, then one that says which goals hold.
//!
//! The whole program in real time: Whisper hears, the scripted brain answers, a voice of this machine
//! speaks. `GLYPHOXA_MODELS` names the folder of model files; a case whose files are not there is
//! skipped on stderr. Thirty utterances: the shipped demo recording, then sentences of players that
//! flite's three voices say in turn. `first_frame` is when the first frame of the answer left;
//! `first_sound` is later by the silence with which the voice begins, measured once. What was said and
//! not answered, or answered without a sound, is counted, and fails the bench beyond a tenth.
//! `--quick` has the first of them and the first case.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of a program that fails is none")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "samples of a few minutes"
)]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use support::{
    figures::{Figures, goal, rounded},
    process::PROGRAM,
    skipped::skipped,
};
use tempfile::TempDir;

/// Sentences of players.
const SENTENCES: &str = include_str!("../tests/data/hearing_new_table_talk.txt");
/// Voices of the players.
const VOICES: [&str; 3] = ["slt", "rms", "awb"];
/// Samples per second of what they say.
const RATE: usize = 16_000;
/// Silence before each, in which the answer before is spoken.
const BETWEEN: usize = 4 * RATE;
/// Silence before and behind one alone.
const AROUND: usize = 2 * RATE;
/// Names of the NPCs.
const CAST: [&str; 5] = ["Bartok", "Greymantle", "Mira", "Hale", "Vesper"];
/// Text of every answer.
const ANSWER: &str = "Aye, so it is.";

/// One way to answer.
struct Case {
    /// Name in its line.
    name: &'static str,
    /// Settings of `turn`.
    turn: &'static str,
    /// Settings of the NPCs' `voice`.
    voice: &'static str,
    /// Files of a voice that it needs.
    needs: Option<&'static str>,
    /// First sound, p50 in ms.
    goal: f64,
}

/// Cases that are measured.
const CASES: [Case; 3] = [
    Case {
        name: "flite, by words",
        turn: "detector: text",
        voice: "provider: flite, voice_id: rms",
        needs: None,
        goal: 600.0,
    },
    Case {
        name: "flite, 500 ms of silence",
        turn: "detector: off, patience: normal",
        voice: "provider: flite, voice_id: rms",
        needs: None,
        goal: 750.0,
    },
    Case {
        name: "Piper joe, by words",
        turn: "detector: text",
        voice: "provider: piper, voice_id: joe",
        needs: Some("piper-joe"),
        goal: 1_000.0,
    },
];

fn main() {
    let models = env::var_os("GLYPHOXA_MODELS").map(PathBuf::from);
    let has = |name: &str| models.as_ref().is_some_and(|it| it.join(name).is_dir());
    if !has("whisper-tiny.en") {
        return skipped("first_sound", "GLYPHOXA_MODELS names no folder with whisper-tiny.en");
    }
    let quick = env::args().any(|argument| argument == "--quick");
    let (said, cases) = if quick {
        (Said::of(1, AROUND), &CASES[..1])
    } else {
        (Said::of(30, BETWEEN), &CASES[..])
    };
    let (mut goals, mut lost) = (Vec::new(), 0);
    for case in cases {
        match case.needs.filter(|name| !has(name)) {
            Some(name) => skipped(case.name, &format!("GLYPHOXA_MODELS has no {name}")),
            None => goals.push(case.measure(&said, &mut lost)),
        }
    }
    println!("{}", json!({ "goals": goals }));
    let all = said.count * goals.len();
    assert!(lost * 10 <= all, "{lost} of {all} utterances were not answered");
}

/// Everything that is said.
struct Said {
    /// 16 kHz mono.
    samples: Vec<i16>,
    /// Utterances in them.
    count: usize,
}

impl Said {
    /// The first `count` utterances, with so many samples of silence around each.
    fn of(count: usize, silence: usize) -> Self {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/player.wav");
        let demo = fs::read(demo).expect("the demo recording");
        assert_eq!(demo.get(24..28), Some(&16_000_u32.to_le_bytes()[..]), "16 kHz");
        let sentences = SENTENCES.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let spoken = sentences.zip(VOICES.into_iter().cycle()).map(|(said, by)| flite(by, said));
        let all: Vec<Vec<i16>> =
            std::iter::once(samples(&demo)).chain(spoken).take(count).collect();
        let silence = vec![0; silence];
        let one_after_the_other = all.iter().flat_map(|it| [&silence[..], loud(it)].concat());
        let samples = one_after_the_other.chain(silence.iter().copied()).collect();
        Self { samples, count: all.len() }
    }
}

impl Case {
    /// Says everything, prints the line and counts what was not answered; whether its goal holds.
    fn measure(&self, said: &Said, lost: &mut usize) -> Value {
        let folder = TempDir::new().expect("a folder");
        let Self { turn, voice, .. } = self;
        let npc = |name| {
            let lines = format!("lines: [{{ say: \"{ANSWER}\" }}]");
            format!("  - {{ name: {name}, voice: {{ {voice} }}, {lines} }}\n")
        };
        let config = format!("turn: {{ {turn} }}\nnpcs:\n{}", CAST.map(npc).concat());
        fs::write(folder.path().join("glyphoxa.yaml"), config).expect("a file");
        fs::write(folder.path().join("said.wav"), wav(&said.samples)).expect("a file");
        let begins = self.begins(folder.path());
        let lines = ask(folder.path(), &["--npc", "Bartok", "--realtime", "--in", "said.wav"]);
        let time = |line: &Value, name: &str| line["ms"][name].as_f64();
        let spoken: Vec<&Value> = lines.iter().filter(|line| line["outcome"] == "spoken").collect();
        let all = |name: &str| Figures::new(spoken.iter().filter_map(|line| time(line, name)));
        let frames = all("speech_end_to_first_audio");
        let mut line = json!({ "case": self.name, "said": said.count, "lines": lines.len() });
        line["answered"] = frames.n().into();
        line["voice_begins_with_silence_ms"] = rounded(begins);
        all("speech_end_to_final").add_to(&mut line, "final_");
        frames.add_to(&mut line, "first_frame_");
        let sounds = frames.less(-begins);
        sounds.add_to(&mut line, "first_sound_");
        println!("{line}");
        *lost += said.count.saturating_sub(frames.n());
        goal(&format!("first sound in ms, {}, p50", self.name), sounds.at(50), self.goal)
    }

    /// Silence before the first sound of the answer, in ms.
    fn begins(&self, folder: &Path) -> f64 {
        ask(folder, &["--text", "Bartok, hello", "--out", "answer.wav"]);
        let answer = fs::read(folder.join("answer.wav")).expect("an answer");
        let samples = samples(&answer);
        let first = samples.iter().position(is_loud).expect("a sound");
        first as f64 / 48.0
    }
}

/// Lines of the program for a run in `folder`.
fn ask(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let mut ask = Command::new(PROGRAM);
    ask.args(["ask", "--json"]).args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = ask.output().expect("the program starts");
    let complains = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complains}");
    let lines = String::from_utf8_lossy(&output.stdout);
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// True if it is more than the noise that voices leave in silence.
fn is_loud(sample: &i16) -> bool {
    sample.unsigned_abs() > 300
}

/// From the first loud sample to the last.
fn loud(samples: &[i16]) -> &[i16] {
    let first = samples.iter().position(is_loud).unwrap_or(0);
    let last = samples.iter().rposition(is_loud).map_or(samples.len(), |at| at + 1);
    samples.get(first..last).unwrap_or_default()
}

/// Samples of flite's speech.
fn flite(voice: &str, text: &str) -> Vec<i16> {
    let output = Command::new("flite").args(["-voice", voice, "-t", text, "/dev/stdout"]).output();
    samples(&output.expect("flite is installed by ./dev setup").stdout)
}

/// Samples of a WAV file with nothing but sound behind its header.
fn samples(wav: &[u8]) -> Vec<i16> {
    let (pairs, _) = wav.get(44..).unwrap_or_default().as_chunks::<2>();
    pairs.iter().map(|pair| i16::from_le_bytes(*pair)).collect()
}

/// 16 kHz, mono, 16 bits.
fn wav(samples: &[i16]) -> Vec<u8> {
    let length = (samples.len() * 2) as u32;
    let rate = RATE as u32;
    let mut file = b"RIFF".to_vec();
    file.extend((36 + length).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend([rate, 2 * rate].map(u32::to_le_bytes).concat());
    file.extend(b"\x02\0\x10\0data");
    file.extend(length.to_le_bytes());
    file.extend(samples.iter().flat_map(|it| it.to_le_bytes()));
    file
}
