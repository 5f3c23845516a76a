//! "How do I …" of ARCHITECTURE.md, counted on one of each that is there: files that know its name.

use std::{fs, path::Path};

use crate::house::{is_test_file, rust_files, without_comments};

/// Files under `folder` whose code has one of `names`, tests left out.
fn files_with(folder: &str, names: &[&str]) -> Vec<String> {
    rust_files(Path::new(folder))
        .into_iter()
        .filter(|path| !is_test_file(path))
        .filter(|path| {
            let code = without_comments(&fs::read_to_string(path).unwrap());
            names.iter().any(|name| code.contains(name))
        })
        .map(|path| path.display().to_string())
        .collect()
}

fn at_most(most: usize, files: &[String]) {
    assert!((1..=most).contains(&files.len()), "known to more than {most} files: {files:?}");
}

#[test]
fn voice_service_is_known_to_three_files() {
    at_most(3, &files_with("src", &["Espeak"]));
}

#[test]
fn recogniser_is_known_to_two_other_files() {
    at_most(2, &files_with("src", &["RecogniserService::OpenAi", "openai::Transcription"]));
}

#[test]
fn chat_model_is_known_to_two_other_files() {
    let files = files_with("src", &["ModelService::Anthropic", "Self::Anthropic", "anthropic::"]);
    let others = files.into_iter().filter(|file| !file.starts_with("src/provider/anthropic/"));
    at_most(2, &others.collect::<Vec<_>>());
}

#[test]
fn slash_command_is_known_to_one_other_file() {
    at_most(1, &files_with("src", &["roll::COMMAND"]));
}

#[test]
fn built_in_tool_is_known_to_three_files() {
    at_most(3, &files_with("src", &["\"roll_table\"", ".roll_table\""]));
}

#[test]
fn setting_is_known_to_three_files() {
    at_most(3, &files_with("src", &["retention_days"]));
}
