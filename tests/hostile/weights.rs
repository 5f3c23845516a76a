//! Voices out of malicious files: the character speaks with its second voice, and the program
//! goes on.

use std::{fs, path::PathBuf, process::Command};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::onnx::{FLOAT, branch, bytes, int, integers, node, tensor, value, voice};
use crate::support::{
    extent::times,
    program::{Place, run},
    skipped::skipped,
    whole,
};

/// Of the child: seconds of processor time, KiB of memory. The shell stays, and tells of a signal.
const LIMITS: &str = "ulimit -t 60; ulimit -v 4000000; \"$0\" \"$@\"; exit $?";
/// Exit status that the shell makes of an abort.
const ABORTED: i32 = 128 + 6;

const CAST: &str = "
npcs:
  - name: Mira
    voice: { provider: piper, voice_id: evil, fallback: { provider: flite, voice_id: slt } }
    lines: [{ say: Mira hears you. }]
";

const SETTINGS: &str = r#"{
    "audio": {"sample_rate": 22050}, "espeak": {"voice": "en-us"}, "num_speakers": 1,
    "phoneme_id_map": {"_": [0], "^": [1], "$": [2], " ": [3], "m": [4], "h": [5], "j": [6]}
}"#;

/// Result of a voice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It speaks.
    Used,
    /// The second one speaks.
    Second,
    /// Its sound is silent, or goes on for longer than its sentence: the turn ends with an error.
    Refused,
    /// It has asked for more memory than there is, which ends the program: a limit that
    /// ARCHITECTURE.md names.
    NoMemory,
}

/// Result of Mira's voice out of these files.
#[track_caller]
fn outcome(network: &[u8], settings: impl AsRef<[u8]>) -> Outcome {
    let place = Place::with_config(CAST);
    place.write("data/models/evil/v.onnx", network);
    place.write("data/models/evil/v.onnx.json", settings);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", LIMITS, env!("CARGO_BIN_EXE_glyphoxa")]);
    command.args(["ask", "--json", "--text", "Mira, hello", "--out", "o.wav"]);
    command.current_dir(place.path("")).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let ran = run(command, "");
    if ran.status == ABORTED && ran.stderr.contains("memory allocation of ") {
        return Outcome::NoMemory;
    }
    // A crash of the runtime is the voice's fault, and is reported.
    let broke = ran.stderr.contains("the runtime crashed on them");
    assert!(broke || !ran.stderr.contains("panicked"), "{}", ran.stderr);
    let line = ran.line();
    if line["outcome"] != "spoken" {
        let detail = line["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("silence") || detail.contains("goes on"), "{line:#}");
        return Outcome::Refused;
    }
    assert_eq!(ran.status, 0, "{ran:#?}");
    assert!(line["audio_ms"].as_u64().is_some_and(|ms| ms > 0), "{line:#}");
    let second = ran.stderr.contains("an NPC speaks in its fallback voice");
    assert!(!second || ran.stderr.contains("cannot be used: "), "{}", ran.stderr);
    if second { Outcome::Second } else { Outcome::Used }
}

#[test]
fn voice_made_by_hand_speaks() {
    let second = [integers("n", &[22_050]), node("ConstantOfShape", &["n"], "output", &[])];
    assert_eq!(outcome(&voice(&second), SETTINGS), Outcome::Refused, "a second of silence");
    let (small, settings) = small();
    assert_eq!(outcome(&small, settings), Outcome::Used);
}

#[test]
fn truncated_or_inconsistent_voices_are_not_used() {
    let sine = voice(&[
        node("Cast", &["input"], "f", &[int("to", FLOAT)]),
        node("Sin", &["f"], "output", &[]),
    ]);
    assert_eq!(outcome(&sine, SETTINGS), Outcome::Used);
    let short = tensor("output", &[1 << 40], FLOAT, &[0; 4]);
    let around = tensor("output", &[1 << 62, 4], FLOAT, &[]);
    let negative = tensor("output", &[u64::MAX], FLOAT, &[0; 4]);
    let itself = [node("Sin", &["output"], "output", &[])];
    let lengths = bytes(7, [0xff; 12]);
    let cut = (1..8).map(|n| sine[..n * sine.len() / 8].to_vec());
    let wrong = [voice(&[short]), voice(&[around]), voice(&[negative]), voice(&itself), lengths];
    for network in cut.chain(wrong) {
        assert_eq!(outcome(&network, SETTINGS), Outcome::Second, "{network:?}");
    }
    assert_eq!(outcome(&sine, &SETTINGS[..80]), Outcome::Second);
}

#[test]
fn voice_of_networks_in_networks_is_not_used() {
    let mut graph = value(12, "x", FLOAT);
    for _ in 0..4_000 {
        let inner = [branch("then_branch", &graph), branch("else_branch", b"")];
        graph = [node("If", &["c"], "x", &inner), value(12, "x", FLOAT)].concat();
    }
    let outer = [branch("then_branch", &graph), branch("else_branch", b"")];
    let network = voice(&[node("If", &["input"], "output", &outer)]);
    assert_eq!(outcome(&network, SETTINGS), Outcome::Second);
}

/// Changes bytes, mostly among the first `describes`, or cuts.
fn spoilt(good: &[u8], describes: usize, rng: &mut StdRng) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..rng.random_range(1..5) {
        let most = if rng.random_bool(0.8) { describes.min(bytes.len()) } else { bytes.len() };
        let at = rng.random_range(0..most.max(1));
        match rng.random_range(0..6) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes.insert(at, rng.random()),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.random_range(0..5)],
            _ => bytes[at] ^= 1 << rng.random_range(0..8),
        }
    }
    bytes
}

/// A voice that rounds, clips and shapes what it is given, and its description.
fn small() -> (Vec<u8>, Vec<u8>) {
    let network = voice(&[
        node("Cast", &["input"], "f", &[int("to", FLOAT)]),
        node("Sin", &["f"], "s", &[]),
        integers("shape", &[1, 1, -1]),
        node("Reshape", &["s", "shape"], "r", &[]),
        integers("times", &[1, 1, 40]),
        node("Tile", &["r", "times"], "output", &[]),
    ]);
    (network, SETTINGS.as_bytes().to_vec())
}

/// A voice of the folder that the environment names, if it does.
fn released() -> Option<(Vec<u8>, Vec<u8>)> {
    let folder = std::env::var_os("GLYPHOXA_MODELS").map(PathBuf::from);
    let voices = folder.iter().flat_map(|it| it.read_dir().into_iter().flatten().flatten());
    let files = voices.flat_map(|it| it.path().read_dir().into_iter().flatten().flatten());
    let json = files.map(|it| it.path()).find(|it| it.to_string_lossy().ends_with(".onnx.json"));
    let Some(json) = json else {
        skipped("tests with a Piper voice", "GLYPHOXA_MODELS names no folder with piper-joe");
        return None;
    };
    Some((fs::read(json.with_extension("")).unwrap(), fs::read(json).unwrap()))
}

#[test]
fn spoilt_voices_speak_or_give_way_to_the_second() {
    let all = [(small(), 12)].into_iter().chain(released().map(|real| (real, 4)));
    for ((network, settings), cases) in all {
        assert_eq!(outcome(&network, &settings), Outcome::Used);
        let mut rng = StdRng::seed_from_u64(15);
        let cases = times() * if whole() { cases } else { cases / 2 };
        let (mut used, mut no_memory) = (0, 0);
        for case in 0..cases {
            let (mut network, mut settings) = (network.clone(), settings.clone());
            if case % 4 == 0 {
                settings = spoilt(&settings, usize::MAX, &mut rng);
            } else {
                network = spoilt(&network, 400_000, &mut rng);
            }
            eprintln!("case {case}");
            match outcome(&network, &settings) {
                Outcome::Used => used += 1,
                Outcome::Second | Outcome::Refused => {}
                Outcome::NoMemory => no_memory += 1,
            }
        }
        let length = network.len();
        eprintln!("{length} bytes: {cases} cases, {used} still speak, {no_memory} had no memory");
    }
}
