//! Cut, changed and invented files. Loading them fails with a message or gives a usable model.

use std::io::Cursor;

use super::tiny::{self, Files};
use crate::archive::Archive;
use crate::{LoadError, Options, Scratch};

/// Loads and uses a model. Returns the error's text.
fn outcome(files: &Files) -> Option<String> {
    match files.load() {
        Ok(model) => {
            let options = Options { max_tokens: 3, prompt: "the", ..Options::default() };
            let samples = tiny::signal();
            let samples = &samples[..samples.len().min(model.max_samples())];
            let heard = model.transcribe(&mut Scratch::new(), samples, &options, &|| false);
            heard.err().map(|error| error.to_string())
        }
        Err(error) => Some(error.to_string()),
    }
}

#[track_caller]
fn fails(files: &Files, words: &str) {
    let error = outcome(files).unwrap_or_default();
    assert!(error.contains(words), "{error:?} does not say {words:?}");
    assert!(error.len() < 400, "too long: {error}");
}

/// The small model with some bytes after the name of a variable replaced.
fn changed(name: &str, after: usize, bytes: &[u8]) -> Files {
    let mut files = tiny::files();
    let place =
        files.weights.windows(name.len()).position(|window| window == name.as_bytes()).unwrap();
    let at = place + name.len() + 1 + after;
    files.weights[at..at + bytes.len()].copy_from_slice(bytes);
    files
}

#[test]
fn small_model_itself_is_good() {
    assert_eq!(outcome(&tiny::files()), None);
}

#[test]
fn file_cut_anywhere_says_so() {
    let whole = tiny::files();
    let mut ends: Vec<usize> = (0..60).collect();
    ends.extend(
        whole.entries.iter().flat_map(|at| [at - 1, at + 1, at + 3, at + 20, at + 45, at + 50]),
    );
    ends.extend(whole.weights.len() - 60..whole.weights.len());
    for end in ends {
        let mut files = whole.clone();
        files.weights.truncate(end);
        fails(&files, "cut short");
    }
}

#[test]
fn file_shrinking_while_read_is_an_error() {
    // claims to be longer than it is, like a file that is cut after the list was read
    struct Shrunk(Cursor<Vec<u8>>, u64);
    impl std::io::Read for Shrunk {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.position() >= self.1 { Ok(0) } else { self.0.read(buffer) }
        }
    }
    impl std::io::Seek for Shrunk {
        fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
            self.0.seek(to)
        }
    }
    let files = tiny::files();
    let half = files.weights.len() as u64 / 2;
    let weights = Shrunk(Cursor::new(files.weights), half);
    let error = crate::Model::read(weights, files.tokenizer.as_bytes(), files.config.as_bytes());
    assert!(matches!(error.err(), Some(LoadError::Read(_))));
}

#[test]
fn other_formats_are_named() {
    let mut files = tiny::files();
    files.weights[0] = 7;
    fails(&files, "format version 7");
    let mut files = tiny::files();
    files.weights[6..17].copy_from_slice(b"Transformer");
    fails(&files, "\"Transformer\"");
    files.weights = b"PK\x03\x04 a zip file".to_vec();
    fails(&files, "format version");
}

#[test]
fn absurd_lengths_are_refused_before_allocating() {
    let most = u32::MAX.to_le_bytes();
    // counts of variables and of aliases
    let mut files = tiny::files();
    files.weights[22..26].copy_from_slice(&most);
    fails(&files, "more variables");
    let mut files = tiny::files();
    let aliases = files.weights.len() - 2 * 28 - 4;
    files.weights[aliases..aliases + 4].copy_from_slice(&most);
    fails(&files, "more aliases");
    // a name's length, a rank, dimensions, a size
    let mut files = tiny::files();
    let last = files.entries[files.entries.len() - 1];
    files.weights[last..last + 2].copy_from_slice(&[255, 255]);
    fails(&files, "cut short");
    let name = "decoder/embeddings/weight";
    fails(&changed(name, 0, &[255]), "dimensions");
    fails(&changed(name, 1, &most), "shape");
    fails(&changed(name, 1, &[most, most].concat()), "shape");
    fails(&changed(name, 10, &most), "cut short");
    fails(
        &changed("encoder/position_encodings/encodings", 1, &100_000u32.to_le_bytes()),
        "1500 positions",
    );
}

#[test]
fn wrong_shapes_and_types_are_named() {
    let name = "decoder/embeddings/weight";
    fails(&changed(name, 9, &[1]), "type 1");
    fails(&changed(name, 9, &[99]), "--quantization float16");
    fails(&changed(name, 1, &[0; 4]), "above zero");
    fails(&changed(name, 0, &[1]), "cut short");
    fails(&changed("decoder/position_encodings/encodings", 1, &[8, 0, 0, 0]), "16 tokens");
    fails(&changed("encoder/conv1/weight", 5, &[9, 0, 0, 0]), "encoder/conv1/weight");
    for heads in [0i16, -2, 3, i16::MAX] {
        fails(&changed("decoder/num_heads", 6, &heads.to_le_bytes()), "decoder/num_heads");
    }
    fails(
        &changed("decoder/layer_1/ffn/linear_0/weight", 14, &f32::NAN.to_le_bytes()),
        "not finite",
    );
}

#[test]
fn missing_and_duplicate_variables_are_named() {
    let name = "decoder/embeddings/weight";
    let at = |files: &Files| {
        files.weights.windows(name.len()).position(|w| w == name.as_bytes()).unwrap()
    };
    let mut files = tiny::files();
    let place = at(&files);
    files.weights[place] = b'X';
    // the alias points to nothing now
    fails(&files, name);
    let mut files = tiny::files();
    let other = files.weights.windows(8).position(|w| w == b"conv2/bi").unwrap();
    files.weights[other..other + 8].copy_from_slice(b"conv1/bi");
    fails(&files, "there twice");
    let mut files = tiny::files();
    files.weights[place] = 0xff;
    fails(&files, "UTF-8");
}

#[test]
fn aliases_do_not_make_more_of_a_file_than_it_is() {
    let mut files = tiny::files();
    // a million aliases are one entry, but one variable read again and again is more than the file
    let mut archive = Archive::open(Cursor::new(&files.weights)).unwrap();
    let table = "decoder/embeddings/weight";
    let read = |archive: &mut Archive<_>, name| archive.values(name, &[300, 16]);
    assert!(read(&mut archive, "decoder/projection/weight").is_ok());
    assert!(read(&mut archive, table).is_ok());
    let times = (0..100).take_while(|_| read(&mut archive, table).is_ok()).count();
    assert!(times < files.weights.len() / 9600, "{times}");
    assert!(matches!(read(&mut archive, table), Err(LoadError::Shared { .. })));
    let aliases = files.weights.len() - 2 * 28 - 4;
    files.weights.truncate(aliases);
    files.weights.extend(0u32.to_le_bytes());
    assert_eq!(outcome(&files), None, "a model needs no aliases");
}

#[test]
fn tokenizers_of_wrong_types_are_refused() {
    let good = tiny::files();
    let with = |tokenizer: &str| Files { tokenizer: tokenizer.to_owned(), ..good.clone() };
    for text in [
        "",
        "[]",
        "null",
        "{",
        "{\"model\": 3}",
        &"[".repeat(100_000),
        "{\"added_tokens\": [], \"model\": {\"vocab\": {}, \"merges\": [7]}}",
    ] {
        fails(&with(text), "cannot read tokenizer.json");
    }
    let replaced = |from: &str, to: &str| {
        assert!(good.tokenizer.contains(from), "{from}");
        with(&good.tokenizer.replace(from, to))
    };
    fails(&replaced("<|endoftext|>", "<|end|>"), "<|endoftext|>");
    fails(&replaced("\"id\":277", "\"id\":300"), "not in the model's vocabulary");
    fails(&replaced("\"id\":277", "\"id\":-1"), "cannot read tokenizer.json");
    fails(&replaced("\"id\":277", "\"id\":1e99"), "cannot read tokenizer.json");
    fails(&replaced("\"Ġ t\"", "\"nothing\""), "without a pair");
    fails(&replaced("\"Ġ t\"", "\"Ġ ß\""), "merged");
    fails(&replaced("\"Ġth\":257", "\"Ġth\":290"), "after the end token");
    fails(&replaced("\"a\":97", "\"aaa\":97"), "not in its own vocabulary");
}

#[test]
fn wrong_config_types_fail_wild_tokens_ignored() {
    let good = tiny::files();
    let with = |config: &str| Files { config: config.to_owned(), ..good.clone() };
    for text in [
        "",
        "3",
        "{\"suppress_ids\": [-1]}",
        "{\"suppress_ids\": {}}",
        "{\"is_multilingual\": \"yes\"}",
    ] {
        fails(&with(text), "cannot read config.json");
    }
    let long = format!("{{\"suppress_ids\": \"{}\"}}", "x".repeat(100_000));
    fails(&with(&long), "xxx... at line 1 column 100019");
    assert_eq!(
        outcome(&with("{\"suppress_ids\": [4000000000, 300], \"suppress_ids_begin\": [99999]}")),
        None
    );
    let all: Vec<u32> = (0..300).collect();
    assert_eq!(outcome(&with(&serde_json::json!({ "suppress_ids": all }).to_string())), None);
}

#[test]
fn random_changes_never_panic() {
    let good = tiny::files();
    let mut state = 12345u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut loaded = 0;
    for round in 0..1500 {
        let mut files = good.clone();
        for _ in 0..=random(4) {
            // mostly within the list, where lengths and names are
            let entry = good.entries[random(good.entries.len())];
            let at = if round % 4 == 0 { random(files.weights.len()) } else { entry + random(60) };
            files.weights[at.min(good.weights.len() - 1)] = [0, 1, 127, 128, 255, b'/'][random(6)];
        }
        if round % 3 == 0 {
            let at = random(files.tokenizer.len());
            if files.tokenizer.is_char_boundary(at) && files.tokenizer.is_char_boundary(at + 1) {
                files.tokenizer.replace_range(at..=at, ["0", "9", "\"", "[", "x"][random(5)]);
            }
        }
        loaded += usize::from(outcome(&files).is_none());
    }
    assert!(loaded > 100, "only {loaded} of the changed models could be loaded");
}
