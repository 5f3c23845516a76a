//! Models of absurd sizes, and thousands of cut and changed files: each is an error with a message
//! or a usable model, within [`room`] and [`MOST_TIME`]. They run in a child process, so that a
//! crash fails the test.
//!
//! `WHISPER_FUZZ=N` runs N times as many cases, and `WHISPER_MODEL` names a folder whose files are
//! changed, too.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::tiny::{self, Shape};
use crate::{Model, Options, Scratch};

/// Limit for loading and for half a second of sound; far above the measured times, because machines
/// are busy.
const MOST_TIME: Duration = Duration::from_secs(20);
/// Marks a child process of this test.
const CHILD: &str = "WHISPER_FUZZ_CHILD";
/// Processor time for the usual number of cases, in seconds; far above any test's.
const SECONDS: usize = 2_000;

/// Memory that files of this size may take besides themselves while they are loaded and used.
fn room(bytes: usize) -> usize {
    (64 << 20) + 8 * bytes
}

/// Multiplier of the usual number of cases.
#[expect(clippy::disallowed_methods, reason = "tests are told by their own environment")]
fn times() -> usize {
    std::env::var("WHISPER_FUZZ").ok().and_then(|it| it.parse().ok()).unwrap_or(1)
}

#[derive(Clone)]
struct Bytes {
    weights: Vec<u8>,
    tokenizer: Vec<u8>,
    config: Vec<u8>,
}

/// Random numbers, the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n.max(1)
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    used: usize,
    longest: Duration,
    /// Most memory besides the files, in MiB.
    most: usize,
}

/// A figure of this process, in bytes; 0 where the system has none.
fn memory(figure: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    number.unwrap_or_default() << 10
}

impl Tally {
    fn case(&mut self, files: &Bytes, of: &dyn std::fmt::Debug) {
        // Resets the peak.
        let _ = fs::write("/proc/self/clear_refs", "5");
        let (before, begun) = (memory("VmRSS"), Instant::now());
        self.cases += 1;
        match Model::from_bytes(&files.weights, &files.tokenizer, &files.config) {
            Ok(model) => {
                let prompt = "Names: Thorin, Elara. ".repeat(10);
                let options = Options { max_tokens: 8, prompt: &prompt, ..Options::default() };
                let samples = tiny::signal();
                let samples = &samples[..samples.len().min(model.max_samples())];
                let heard = model.transcribe(&mut Scratch::new(), samples, &options, &|| false);
                assert!(heard.is_ok(), "{of:?}: {heard:?}");
                self.used += 1;
            }
            Err(error) => {
                let text = error.to_string();
                assert!((10..400).contains(&text.len()), "{of:?}: {text}");
            }
        }
        let (took, taken) = (begun.elapsed(), memory("VmHWM").saturating_sub(before));
        let length = files.weights.len() + files.tokenizer.len() + files.config.len();
        assert!(taken <= room(length), "{of:?}: {taken} bytes of memory for {length} of files");
        assert!(took < MOST_TIME, "{of:?}: {took:?}");
        self.longest = self.longest.max(took);
        self.most = self.most.max(taken >> 20);
    }
}

/// Runs the test called `name` of this file as `work` in a child within limits.
fn within_limits(name: &str, work: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return work();
    }
    let seconds = SECONDS * times();
    let limits = format!("ulimit -t {seconds}; ulimit -v 8000000; exec \"$0\" \"$@\"");
    let mut child = Command::new("/bin/sh");
    child.args(["-c", &limits]).arg(std::env::current_exe().unwrap());
    child.args(["--exact", &format!("tests::fuzz::{name}"), "--nocapture", "--test-threads=1"]);
    let ran = child.env(CHILD, "1").output().unwrap();
    let (said, errors) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains("1 passed"), "{}\n{said}\n{errors}", ran.status);
    eprintln!("{errors}");
}

impl From<tiny::Files> for Bytes {
    fn from(files: tiny::Files) -> Self {
        let (tokenizer, config) = (files.tokenizer.into(), files.config.into());
        Self { weights: files.weights, tokenizer, config }
    }
}

#[test]
fn absurd_model_shapes_use_bounded_resources() {
    within_limits("absurd_model_shapes_use_bounded_resources", || {
        let (mut tally, usual) = (Tally::default(), Shape::default());
        let absurd = [
            Shape { width: 2, hidden: 1_000_000, layers: 1, ..usual },
            Shape { width: 2, bands: 1_000_000, ..usual },
            Shape { width: 2, context: 1_000_000, ..usual },
            Shape { width: 1, heads: 1, positions: 1500, layers: 400, ..usual },
            Shape { width: 600, positions: 1500, layers: 0, ..usual },
            Shape { positions: 1, ..usual },
        ];
        for shape in absurd {
            tally.case(&tiny::shaped(shape).into(), &shape);
        }
        let mut dice = Dice(15);
        for _ in 0..60 * times() {
            let width = dice.of(&[1, 2, 4, 16, 48]);
            let long = if width < 4 { 20_000 } else { 3 };
            let shape = Shape {
                width,
                heads: dice.of(&[0, 1, 2, 4, 255]),
                bands: dice.of(&[1, 2, 79, 80, 128, 129, long]),
                positions: dice.of(&[1, 2, 3, 40, 1499, 1500, 1501]),
                context: dice.of(&[15, 16, 17, 448, 4096, long]),
                hidden: dice.of(&[1, 3, 64, 4 * width, 16 * width, long]),
                layers: dice.below(5),
            };
            tally.case(&tiny::shaped(shape).into(), &shape);
        }
        eprintln!("models of absurd sizes: {tally:?}");
    });
}

/// Invalid lengths, dimensions and ids.
const NUMBERS: [u32; 10] = [0, 1, 2, 5, 1500, 65_535, 65_536, 1 << 24, 1 << 31, u32::MAX];

/// Changes the weights in one way, mostly near `marks`, at names and lengths.
fn spoil_weights(bytes: &mut Vec<u8>, marks: &[usize], dice: &mut Dice) {
    if bytes.is_empty() {
        return;
    }
    let mark = dice.of(marks).min(bytes.len() - 1);
    let near = (mark + dice.below(64)).min(bytes.len() - 1);
    let anywhere = dice.below(bytes.len());
    match dice.below(9) {
        0 => bytes.truncate(anywhere),
        1 => bytes[anywhere] ^= 1 << dice.below(8),
        2 => bytes[near] ^= 1 << dice.below(8),
        3 | 4 => bytes[near] = dice.of(&[0, 1, 2, 4, 5, 127, 128, 255, b'/']),
        5 | 6 => {
            let number = dice.of(&NUMBERS).to_le_bytes();
            let end = bytes.len().min(near + 4);
            bytes[near..end].copy_from_slice(&number[..end - near]);
        }
        7 => {
            let end = bytes.len().min(anywhere + 4 + dice.below(60));
            let fill = dice.of(&[0, 0x7e, 0x7f, 0x80, 0xff]);
            bytes[anywhere..end].fill(fill);
        }
        _ => {
            let from = dice.of(marks).min(bytes.len());
            let piece = bytes[from..bytes.len().min(from + 64)].to_vec();
            let end = bytes.len().min(mark + piece.len());
            bytes[mark..end].copy_from_slice(&piece[..end - mark]);
        }
    }
}

/// Changes a JSON file in one way.
fn spoil_json(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if bytes.is_empty() {
        return;
    }
    let at = dice.below(bytes.len());
    let digits = |bytes: &[u8], from: usize| {
        let begin = bytes[from..].iter().position(u8::is_ascii_digit).map(|it| from + it)?;
        let length = bytes[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        Some(begin..begin + length)
    };
    match dice.below(7) {
        0 => bytes.truncate(at),
        1 => bytes[at] = dice.of(b"0-9\"[]{}e, \xff\0"),
        2 => bytes.insert(at, dice.of(b"0-9\"[]{}e,\xff\\")),
        3 | 4 => {
            let number =
                dice.of(&["4294967295", "-1", "1e9", "300", "257", "0", "null", "[]", "\"x\""]);
            if let Some(place) = digits(bytes, at) {
                drop(bytes.splice(place, number.bytes()));
            }
        }
        5 => drop(bytes.splice(at..at, std::iter::repeat_n(b'[', 5_000))),
        _ => {
            let end = bytes.len().min(at + 1 + dice.below(200));
            let piece = bytes[at..end].to_vec();
            let to = dice.below(bytes.len());
            drop(bytes.splice(to..to, piece));
        }
    }
}

/// Runs `cases` copies of `good`, each changed in one to five ways.
fn spoilt(good: &Bytes, cases: usize, seed: u64) -> Tally {
    let names = |window: &(usize, &[u8])| window.1 == b"coder/" && window.0 > 4;
    let marks = good.weights.windows(6).enumerate().filter(names).map(|(at, _)| at - 4);
    let marks: Vec<usize> = [0, 16].into_iter().chain(marks).collect();
    let (mut tally, mut dice) = (Tally::default(), Dice(seed));
    tally.case(good, &"as it is");
    assert_eq!(tally.used, 1);
    for number in 0..cases {
        let mut files = good.clone();
        for _ in 0..=dice.below(5) {
            match dice.below(8) {
                0 | 1 => spoil_json(&mut files.tokenizer, &mut dice),
                2 => spoil_json(&mut files.config, &mut dice),
                _ => spoil_weights(&mut files.weights, &marks, &mut dice),
            }
        }
        tally.case(&files, &format!("seed {seed}, case {number}"));
    }
    tally
}

#[test]
fn spoilt_files_are_errors_or_can_be_used() {
    within_limits("spoilt_files_are_errors_or_can_be_used", || {
        let tally = spoilt(&tiny::files().into(), 3_000 * times(), 15);
        eprintln!("spoilt small files: {tally:?}");
        assert!(tally.used > tally.cases / 50, "hardly any can be used: {tally:?}");
    });
}

#[test]
fn spoilt_released_models_fail_or_are_usable() {
    let Some(folder) = super::real::folder() else { return };
    within_limits("spoilt_released_models_fail_or_are_usable", || {
        let read = |name| fs::read(folder.join(name)).unwrap();
        let [weights, tokenizer, config] = ["model.bin", "tokenizer.json", "config.json"].map(read);
        let tally = spoilt(&Bytes { weights, tokenizer, config }, 20 * times(), 16);
        eprintln!("spoilt files of a released model: {tally:?}");
    });
}
