//! The rules of the house that a compiler does not check.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

/// All Rust files under `folder`.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The text without line comments and the tests inside the file.
pub fn without_comments(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// True if the file holds nothing but tests.
pub fn is_test_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "tests.rs")
        || path.components().any(|part| part.as_os_str() == "tests")
}

#[test]
fn files_are_small() {
    let too_long: Vec<String> = rust_files(Path::new("src"))
        .into_iter()
        .filter(|path| !is_test_file(path))
        .filter_map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.split("#[cfg(test)]\nmod tests {").next().unwrap().lines().count();
            (lines > 500).then(|| format!("{}: {lines} lines", path.display()))
        })
        .collect();
    assert!(too_long.is_empty(), "split these first:\n{}", too_long.join("\n"));
}

/// Places in these folders, but for these files, where one of `words` stands.
fn places(folders: &[&str], but_for: &[&str], words: &[&str]) -> Vec<String> {
    let files = folders.iter().flat_map(|folder| rust_files(Path::new(folder)));
    let files = files.filter(|path| !is_test_file(path));
    let files = files.filter(|path| !but_for.iter().any(|it| path.ends_with(it)));
    files
        .flat_map(|path| {
            let code = without_comments(&fs::read_to_string(&path).unwrap());
            let found = words.iter().filter(|word| code.contains(**word));
            found.map(|word| format!("{}: {word}", path.display())).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn text_reaches_a_terminal_by_one_door() {
    let words = ["io::stdout().lock()", "io::stderr().lock()", "println!(", "print!("];
    // A prompt of our own, and what mod.rs hands on behind the door.
    let but_for = ["cli/shown.rs", "cli/ask/print.rs", "cli/mod.rs"];
    let found = places(&["src/cli"], &but_for, &words);
    assert!(found.is_empty(), "use cli/shown.rs:\n{}", found.join("\n"));
}

#[test]
fn named_files_are_opened_by_one_door() {
    let words = ["File::open(", "fs::read(", "fs::read_to_string(", "fs::write("];
    let found = places(&["src/cli", "src/config"], &[], &words);
    assert!(found.is_empty(), "use files.rs:\n{}", found.join("\n"));
}

#[test]
fn modules_say_what_they_do() {
    let silent: Vec<String> = rust_files(Path::new("src"))
        .into_iter()
        .filter(|path| !is_test_file(path))
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            !text.starts_with("//!") && !text.starts_with("#![doc = include_str!")
        })
        .map(|path| path.display().to_string())
        .collect();
    assert!(silent.is_empty(), "no module head:\n{}", silent.join("\n"));
}

#[test]
fn nothing_is_left_for_later() {
    let words = ["todo!(", "unimplemented!(", "#[allow(", "#[ignore"];
    let mut found = Vec::new();
    for folder in ["src", "benches"] {
        for path in rust_files(Path::new(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            for word in words.iter().filter(|word| text.contains(**word)) {
                found.push(format!("{}: {word}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn unsafe_code_is_where_it_must_be() {
    let known = [
        "src/launch/environment.rs",
        "src/provider/local/ffi.rs",
        "src/memory/sqlite/tests/power_loss/vfs.rs",
    ];
    let others: Vec<String> = rust_files(Path::new("src"))
        .into_iter()
        .map(|path| path.display().to_string())
        .filter(|path| !known.iter().any(|known| path.starts_with(known)))
        .filter(|path| without_comments(&fs::read_to_string(path).unwrap()).contains("unsafe {"))
        .collect();
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// Every dependency says why it is there.
#[test]
fn dependencies_have_a_reason() {
    let manifest = fs::read_to_string("Cargo.toml").unwrap();
    let mut in_dependencies = false;
    let mut previous = "";
    let mut silent = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            in_dependencies = line.ends_with("dependencies]");
        } else if in_dependencies && line.contains(" = ") && !line.starts_with('#') {
            let name = line.split(" = ").next().unwrap();
            if !previous.starts_with(&format!("# {name}")) {
                silent.push(name.to_owned());
            }
        }
        previous = line;
    }
    assert!(silent.is_empty(), "no reason in the line before: {silent:?}");
}

/// A folder's own file is its `mod.rs`.
#[test]
fn folder_has_its_own_file_inside() {
    let beside: Vec<String> = ["src", "tests", "benches"]
        .iter()
        .flat_map(|folder| rust_files(Path::new(folder)))
        .filter(|path| path.with_extension("").is_dir())
        .map(|path| path.display().to_string())
        .collect();
    assert!(beside.is_empty(), "move these into their folders as mod.rs:\n{}", beside.join("\n"));
}

/// The name that a line defines a function by.
fn function(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("async ");
    Some(line.strip_prefix("fn ")?.split(['(', '<']).next().unwrap_or_default())
}

#[test]
fn names_of_tests_are_short() {
    let folders = ["src", "tests", "crates"].map(Path::new);
    let files = folders.into_iter().flat_map(rust_files);
    let too_long: Vec<String> = files
        .flat_map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.lines().filter_map(function).filter(|name| name.len() > 45);
            names.map(|name| format!("{}: {name}", path.display())).collect::<Vec<_>>()
        })
        .collect();
    assert!(too_long.is_empty(), "use 45 characters at most:\n{}", too_long.join("\n"));
}

/// `cargo test --skip`, which `dev` uses without nextest, finds a suffix anywhere in a name.
#[test]
fn names_for_the_proof_have_their_suffix_last() {
    let suffixes = ["in_time", "at_length", "by_whisper", "by_kokoro"];
    let inside = suffixes.map(|suffix| format!("_{suffix}_"));
    let folders = ["src", "tests", "crates"].map(Path::new);
    let inside: Vec<String> = folders
        .into_iter()
        .flat_map(rust_files)
        .flat_map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.lines().filter_map(function);
            let names = names.filter(|name| inside.iter().any(|suffix| name.contains(suffix)));
            names.map(|name| format!("{}: {name}", path.display())).collect::<Vec<_>>()
        })
        .collect();
    assert!(inside.is_empty(), "the gate would leave these out:\n{}", inside.join("\n"));
}

/// True if `c` is part of a Rust name.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Names that `src/measure.rs` shows, as their modules call them.
fn measured() -> Vec<String> {
    let face = without_comments(&fs::read_to_string("src/measure.rs").unwrap());
    let parts = face.split([',', '{', '}', '\n']).map(str::trim).filter(|it| !it.is_empty());
    let names = parts.filter(|it| !it.ends_with("::") && !it.starts_with("pub use"));
    let names = names.filter_map(|it| it.split(" as ").next()?.rsplit("::").next());
    names.map(|it| it.replace(|c| !is_part(c), "")).collect()
}

/// The code without `use` lists and without the first words of definitions.
fn uses(code: &str) -> String {
    const DEFINES: [&str; 8] =
        ["struct ", "enum ", "trait ", "fn ", "const ", "static ", "mod ", "impl"];
    let pieces = code.split("use ").map(|it| match it.split_once(';') {
        Some((list, rest)) if !list.contains(['=', '(']) => rest,
        _ => it,
    });
    let lines = pieces.flat_map(str::lines).map(|line| {
        let first = line.trim_start().trim_start_matches("pub ");
        if DEFINES.iter().any(|word| first.starts_with(word)) {
            return line.split_once(['(', '{']).map_or("", |(_, rest)| rest);
        }
        line
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The compiler finds no dead code behind `measure`, whose names are public.
#[test]
fn names_for_benches_are_used_by_the_program() {
    // Benches have no open table to ask.
    const OF_BENCHES: [&str; 1] = ["expected_at_first"];
    let files = rust_files(Path::new("src")).into_iter();
    let files = files.filter(|path| !is_test_file(path) && !path.ends_with("measure.rs"));
    let code = files.map(|path| uses(&without_comments(&fs::read_to_string(path).unwrap())));
    let code: String = code.collect();
    let words: HashSet<&str> = code.split(|c| !is_part(c)).collect();
    let names = measured();
    assert!(names.len() > 50, "src/measure.rs was not read: {names:?}");
    let is_unused = |name: &&str| !words.contains(name) && !OF_BENCHES.contains(name);
    let unused: Vec<&str> = names.iter().map(String::as_str).filter(is_unused).collect();
    assert!(unused.is_empty(), "only benches and tests use these: {unused:?}");
}
