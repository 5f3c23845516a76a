//! Commands on the pages.
//!
//! A block `sh` is run as it stands. What needs a network, a Discord or root is in blocks `bash` and
//! `console`: there the arguments of `glyphoxa` are read by the program, and nothing is done.

use std::{collections::BTreeSet, fs};

use serde_json::json;

use super::{Page, pages, table};
use crate::support::{
    chat_server::{ChatServer, Script},
    program::{Place, shipped},
    whole,
};

/// Ways to start the program on the pages.
const STARTS: [&[&str]; 4] = [
    &["glyphoxa"],
    &["./glyphoxa"],
    &["target/release/glyphoxa"],
    &["docker", "compose", "run", "--rm", "glyphoxa"],
];
/// Commands within a sentence that want more than the sentence says, or a network.
const NAMED: [&[&str]; 8] = [
    &["run"],
    &["rehearse"],
    &["serve"],
    &["invite"],
    &["tier"],
    &["mcp", "login"],
    &["mcp", "trust"],
    &["models", "get"],
];

/// Words of a command line; only double quotes and single quotes are known.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (None, '#') if words.last().is_some_and(String::is_empty) => break,
            (None, ' ') => words.push(String::new()),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (_, c) => words.last_mut().expect("a word").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Arguments of `glyphoxa`, where the words start it.
fn arguments(words: &[String]) -> Option<Vec<&str>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let rest = STARTS.iter().find_map(|start| words.strip_prefix(*start));
    rest.map(<[_]>::to_vec)
}

/// Checks that the program reads the arguments, without doing anything.
fn assert_understood(arguments: &[&str], line: &str) {
    let end = arguments.iter().position(|it| *it == "--").unwrap_or(arguments.len());
    let (before, after) = arguments.split_at(end);
    let some: Vec<&str> =
        before.iter().map(|it| if it.ends_with("ID") { "7" } else { it }).collect();
    let ran = Place::new().run(&[&some, &["--help"][..], after].concat());
    assert_eq!(ran.status, 0, "{line}: {ran:#?}");
    let usage = ran.stdout.lines().find(|line| line.starts_with("Usage: ")).unwrap_or_default();
    let command = before.first().expect("a command");
    assert!(usage.contains(&format!("glyphoxa {command}")), "{line}: {usage}");
}

fn is_of_the_script(words: &[String]) -> bool {
    let (Some(first), Some(command)) = (words.first(), words.get(1)) else { return false };
    if first == "./dev" {
        assert!(shipped("dev").contains(&format!("\n{command}) ")), "./dev {command}");
    }
    first == "./dev"
}

/// Runs the blocks `sh` of a page; how many commands there were.
fn run(place: &Place, page: &Page) -> usize {
    let blocks: Vec<_> = page.blocks().into_iter().filter(|it| it.language == "sh").collect();
    let lines = blocks.iter().flat_map(|block| block.text.lines()).map(|line| (line, words(line)));
    let lines: Vec<_> = lines.filter(|(_, words)| !is_of_the_script(words)).collect();
    for (line, words) in &lines {
        let arguments = arguments(words);
        let arguments = arguments.unwrap_or_else(|| panic!("{}: what is this? {line}", page.name));
        let ran = place.run(&arguments);
        assert_eq!(ran.status, 0, "{}: {line}: {ran:#?}", page.name);
        assert_ne!(ran.stdout, "", "{}: {line}", page.name);
        for (option, file) in arguments.iter().zip(arguments.iter().skip(1)) {
            if *option == "--out" {
                let written = fs::remove_file(place.path(file));
                assert!(written.is_ok(), "{}: {line}: {written:?}", page.name);
            }
        }
    }
    lines.len()
}

/// Runs the commands of all pages in a folder.
#[track_caller]
fn assert_all_run(place: &Place) {
    let tried: usize = pages().iter().map(|page| run(place, page)).sum();
    assert!(tried >= 12, "{tried}");
}

/// A stand-in hears the recording: Whisper has ten seconds for it, which a busy machine may miss.
#[test]
fn commands_do_what_the_page_says() {
    let (place, ears) = (table(), ChatServer::start());
    ears.otherwise(|_| Script::json(200, &json!({"text": "Bartok, please roll 2d6 plus 3."})));
    let (here, config) = ("  stt: { service: local }\n", shipped("glyphoxa.yaml"));
    assert!(config.contains(here), "{config}");
    let there = format!("  stt: {{ name: openai, base_url: \"{}\", model: m }}\n", ears.base_url());
    place.write("glyphoxa.yaml", config.replace(here, &there));
    assert_all_run(&place);
    assert!(!ears.requests().is_empty(), "the recording is heard");
}

#[test]
fn commands_of_the_pages_run_by_whisper() {
    if let Some(place) = table().with_whisper() {
        assert_all_run(&place);
    }
}

#[test]
fn commands_that_need_more_are_understood() {
    let mut tried = 0;
    for page in pages() {
        let blocks = page.blocks().into_iter();
        for block in blocks.filter(|block| ["bash", "console"].contains(&&*block.language)) {
            for line in block.text.lines().flat_map(|line| line.split(" && ")) {
                let words = words(line.trim_start_matches("$ "));
                if is_of_the_script(&words) {
                    continue;
                }
                if let Some(arguments) = arguments(&words) {
                    assert_understood(&arguments, line);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried >= 12, "{tried}");
}

/// A word that stands for another: `FILE.yaml`, `USER_ID`.
fn is_placeholder(word: &&str) -> bool {
    let name = word.split('.').next().unwrap_or_default();
    name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

#[test]
fn commands_in_sentences_are_understood() {
    // With all model files NPCs speak with Piper, which takes seconds a line.
    let place = if whole() { table().with_whisper() } else { table().with_whisper_alone() };
    let Some(place) = place else { return };
    let (mut seen, mut ran) = (BTreeSet::new(), 0);
    for page in pages() {
        for code in page.inline() {
            let words = words(&code);
            if is_of_the_script(&words) {
                continue;
            }
            let arguments = arguments(&words).unwrap_or_default();
            if arguments.is_empty() || !seen.insert(arguments.join(" ")) {
                continue;
            }
            assert_understood(&arguments, &code);
            let wants_more = NAMED.iter().any(|named| arguments.starts_with(named));
            if !wants_more && !arguments.iter().any(is_placeholder) {
                let output = place.run_typing(&arguments, "Bartok, what's the news?\n");
                assert_eq!(output.status, 0, "{}: {code}: {output:#?}", page.name);
                assert_ne!(output.stdout, "", "{}: {code}", page.name);
                ran += 1;
            }
        }
    }
    assert!(ran >= 8, "{ran}");
}

/// The README's commands start what the script has built for a first evening.
#[test]
fn readme_starts_the_link_of_the_script() {
    let readme = shipped("README.md");
    assert!(readme.contains("\n./glyphoxa check\n"), "{readme}");
    let installed = readme.lines().filter(|line| line.trim_start().starts_with("glyphoxa "));
    assert_eq!(installed.collect::<Vec<_>>(), Vec::<&str>::new());
}
