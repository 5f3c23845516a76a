//! Tests of the published model need its file: `GLYPHOXA_MODELS` names the folder of models;
//! without it they print SKIPPED.

use std::{env, fs, path::PathBuf};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{trim::floats, *};
use crate::{audio::SampleRate, extent, skipped::skipped};

/// A protobuf message of these fields, all of them bytes.
fn message(fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, content) in fields {
        out.extend([number << 3 | 2, u8::try_from(content.len()).unwrap()]);
        out.extend_from_slice(content);
    }
    out
}

fn node(operation: &str, input: &str, output: &str) -> Vec<u8> {
    message(&[(1, input.as_bytes()), (2, output.as_bytes()), (4, operation.as_bytes())])
}

/// A network that rounds its inputs and outputs.
fn rounding() -> Vec<u8> {
    let nodes = [
        node("QuantizeLinear", "in", "a8"),
        node("DequantizeLinear", "a8", "a"),
        node("Tanh", "a", "b"),
        node("QuantizeLinear", "b", "b8"),
        node("DequantizeLinear", "b8", "logits"),
    ];
    let nodes: Vec<(u8, &[u8])> = nodes.iter().map(|it| (1, it.as_slice())).collect();
    message(&[(2, b"made by hand"), (7, &message(&nodes))])
}

#[test]
fn rounding_is_left_out_and_names_follow() {
    let left = node("Tanh", "in", "logits");
    let expected = message(&[(2, b"made by hand"), (7, &message(&[(1, &left)]))]);
    assert_eq!(floats(&rounding()).unwrap(), expected);
}

#[test]
fn arbitrary_bytes_are_read_or_refused() {
    let good = rounding();
    let mut rng = StdRng::seed_from_u64(15);
    for _ in 0..20_000 * extent::times() {
        let mut bytes = good.clone();
        for _ in 0..rng.random_range(1..6) {
            let at = rng.random_range(0..bytes.len());
            match rng.random_range(0..4) {
                0 => bytes[at] = rng.random(),
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, rng.random()),
                _ => bytes[at] = 0xff,
            }
        }
        // The output is no longer than the input.
        if let Ok(read) = floats(&bytes) {
            assert!(read.len() <= bytes.len() + 64, "{bytes:?}");
        }
    }
    // A dequantisation that leads to itself.
    let nodes = [node("QuantizeLinear", "a", "b"), node("DequantizeLinear", "b", "a")];
    let nodes: Vec<(u8, &[u8])> = nodes.iter().map(|it| (1, it.as_slice())).collect();
    let more = node("Tanh", "a", "logits");
    let round = message(&[(7, &message(&[nodes.as_slice(), &[(1, &more)]].concat()))]);
    assert!(floats(&round).is_err());
}

#[test]
fn altered_file_is_refused_and_absent_one_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE);
    let refused = |path: &Path| SmartTurn::open(path).err().expect("it is refused");
    let absent = refused(&path);
    assert_eq!(absent.kind(), Kind::Missing);
    let text = absent.to_string();
    assert!(text.starts_with("smart-turn is not here"), "{text}");
    assert!(text.ends_with("(glyphoxa models get smart-turn)"), "{text}");
    for bytes in [Vec::new(), rounding(), vec![0; 9_000_000]] {
        fs::write(&path, bytes).unwrap();
        let text = refused(&path).to_string();
        assert!(text.contains("differs from the published file"), "{text}");
    }
    assert!(refused(dir.path()).to_string().contains("is not here"));
}

/// The published file, if installed.
fn published() -> Option<PathBuf> {
    let models = env::var_os("GLYPHOXA_MODELS").map(PathBuf::from);
    let path = models.map(|it| it.join(NAME).join(FILE)).filter(|it| it.exists());
    if path.is_none() {
        skipped("tests with Smart Turn", &format!("GLYPHOXA_MODELS names no folder with {NAME}"));
    }
    path
}

fn frames(samples: &[i16]) -> Vec<Frame> {
    samples.chunks(320).map(|it| Frame::padded(it, SampleRate::HZ_16000)).collect()
}

#[test]
fn published_model_answers_and_gives_way() {
    let Some(path) = published() else { return };
    let judge = SmartTurn::open(&path).unwrap();
    let answer = judge.judge(frames(&[0; 16_000])).unwrap().blocking_recv().unwrap();
    assert!((0.0..=1.0).contains(&answer), "{answer}");
    // One is being judged and two wait; the next is not taken.
    let taken: Vec<_> = (0..8).map(|_| judge.judge(frames(&[0; 16_000]))).collect();
    let count = taken.iter().flatten().count();
    assert!((WAITING..=WAITING + 1).contains(&count), "{count}");
    assert!(taken[0].is_some() && taken[7].is_none());
}

/// A network that adds up its inputs: the smallest that answers.
fn adding() -> Vec<u8> {
    let axes = message(&[(7, &[2]), (8, b"axes")]);
    let axes = [&[1 << 3, 1, 2 << 3, 7][..], &axes].concat();
    let keep = [&message(&[(1, b"keepdims")])[..], &[3 << 3, 0, 0xa0, 1, 2]].concat();
    let sum: [(u8, &[u8]); 5] =
        [(1, b"input_features"), (1, b"axes"), (2, b"sum"), (4, b"ReduceSum"), (5, &keep)];
    let (sum, last) = (message(&sum), node("Sigmoid", "sum", "logits"));
    let (input, output) = (message(&[(1, b"input_features")]), message(&[(1, b"logits")]));
    let fields: [(u8, &[u8]); 6] =
        [(1, &sum), (1, &last), (2, b"adding"), (5, &axes), (11, &input), (12, &output)];
    // A graph is longer than `message` can count.
    let graph: Vec<u8> = fields.iter().flat_map(|field| message(&[*field])).collect();
    let opset = [&[1 << 3 | 2, 0, 2 << 3][..], &[15]].concat();
    let length = graph.len();
    let length = [u8::try_from(length & 0x7f).unwrap() | 0x80, u8::try_from(length >> 7).unwrap()];
    [&[1 << 3, 8][..], &message(&[(8, &opset)]), &[7 << 3 | 2], &length, &graph].concat()
}

/// True if a network answers. A panic ends only the judge's thread.
fn answers(onnx: &[u8]) -> bool {
    let tried = std::panic::catch_unwind(|| {
        let mut network = Network::load(onnx).ok()?;
        let answer = network.probability(&[0.1; 8_000]).ok()?;
        assert!(answer.is_finite());
        Some(answer)
    });
    tried.is_ok_and(|answer| answer.is_some())
}

/// Changes bytes, mostly where the file `describes` itself, or cuts.
fn spoiled(good: &[u8], describes: usize, rng: &mut StdRng) -> Vec<u8> {
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

/// In a child process with limits, because an unpublished file could do anything.
#[test]
fn spoilt_networks_answer_or_are_refused() {
    const CHILD: &str = "GLYPHOXA_TEST_CHILD";
    if env::var_os(CHILD).is_none() {
        let seconds = 2_000 * extent::times();
        let limits = format!("ulimit -t {seconds}; ulimit -v 4000000; exec \"$0\" \"$@\"");
        let name = "provider::smart_turn::tests::spoilt_networks_answer_or_are_refused";
        let mut child = std::process::Command::new("/bin/sh");
        child.args(["-c", &limits]).arg(env::current_exe().unwrap());
        child.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
        let ran = child.output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        let errors = String::from_utf8_lossy(&ran.stderr);
        let tail: String =
            errors.chars().skip(errors.chars().count().saturating_sub(3_000)).collect();
        assert!(ran.status.success() && said.contains("1 passed"), "{}: {tail}", ran.status);
        println!("{said}");
        return;
    }
    let times = extent::times();
    let real = published().map(|path| fs::read(path).unwrap());
    let all = [(adding(), 100, usize::MAX)].into_iter();
    let all = all.chain(real.map(|real| (real, 4, 400_000)));
    for (good, cases, describes) in all {
        assert!(answers(&good));
        let mut rng = StdRng::seed_from_u64(15);
        let (mut answered, mut longest) = (0, std::time::Duration::ZERO);
        for case in 0..cases * times {
            let bytes = spoiled(&good, describes, &mut rng);
            let begun = std::time::Instant::now();
            answered += usize::from(answers(&bytes));
            longest = longest.max(begun.elapsed());
            assert!(longest.as_secs() < 20, "case {case}: {longest:?}");
        }
        let (length, cases) = (good.len(), cases * times);
        println!("network of {length} bytes: {cases} cases, {answered} answer, {longest:?}");
    }
}
