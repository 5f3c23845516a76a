//! English of the messages, of the shipped settings and of the cast.
//!
//! A story's words are its own: no phrase is looked for in what NPCs say and in what campaigns tell.

use serde_json::Value;

use super::{FILE, OF_DISCORD, is_updating};
use crate::{
    pages::found,
    support::program::{repository, shipped},
};

/// Keys of an NPC below which players' or its own words are, names and patterns.
const SPOKEN: [&str; 4] = ["lines", "fillers", "aliases", "pronunciation"];

/// Paths of the YAML files right in a folder.
fn yaml_files(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(repository(folder)).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| format!("{folder}/{}", name.to_string_lossy()));
    names.filter(|name| name.ends_with(".yaml")).collect()
}

/// Comments of a file of YAML: each with the lines below that hold nothing else, headings alone.
fn comments(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in text.lines().map(str::trim) {
        let (before, comment) = match line.strip_prefix('#') {
            Some(comment) => ("", comment),
            None => line.split_once(" #").unwrap_or((line, "")),
        };
        // Settings that are commented out may have comments of their own.
        let (before, comment) = comment.rsplit_once(" # ").unwrap_or((before, comment));
        let words = comment.trim_matches(['#', '-', '=', ' ']);
        let is_heading = [" --", " =="].iter().any(|rule| comment.starts_with(rule));
        if !before.is_empty() || words.is_empty() || is_heading {
            pieces.push(String::new());
        }
        pieces.last_mut().expect("a piece").extend([words, " "]);
        if is_heading {
            pieces.push(String::new());
        }
    }
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces.iter().map(|piece| piece.trim().to_owned()).collect()
}

/// Texts of a file of YAML, but those of [`SPOKEN`].
fn texts(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.trim().to_owned()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Value::Object(entries) => {
            let plain = entries.iter().filter(|(key, _)| !SPOKEN.contains(&key.as_str()));
            plain.for_each(|(_, item)| texts(item, all));
        }
        _ => {}
    }
}

/// A message without its place in a file.
fn without_place(line: &str) -> &str {
    let line = line.trim().trim_start_matches("warning: ").trim_start_matches("error: ");
    let mut parts = line.splitn(4, ':');
    let is_number = |part: Option<&str>| part.is_some_and(|it| it.parse::<usize>().is_ok());
    match (parts.next(), is_number(parts.next()), is_number(parts.next()), parts.next()) {
        (_, true, true, Some(message)) => message.trim(),
        _ => line,
    }
}

/// Phrases of a translation in these pieces, below the name of their file.
fn wrong(file: &str, pieces: impl IntoIterator<Item = String>) -> Vec<String> {
    let of_piece = |piece: String| piece.split(". ").flat_map(found).collect::<Vec<_>>();
    let found = pieces.into_iter().flat_map(of_piece);
    found.map(|phrase| format!("{file}: {phrase}")).collect()
}

#[test]
fn messages_are_in_plain_english() {
    if is_updating() {
        return;
    }
    let mut all = Vec::new();
    for file in [FILE, OF_DISCORD] {
        let text = shipped(file);
        let lines = text.lines().filter(|line| !line.starts_with("# "));
        all.extend(wrong(file, lines.map(|line| without_place(line).to_owned())));
    }
    assert!(all.is_empty(), "{} phrases: {all:#?}", all.len());
}

#[test]
fn settings_and_cast_are_in_plain_english() {
    let mut all = Vec::new();
    let files = [yaml_files("npcs"), yaml_files("campaigns"), vec!["glyphoxa.yaml".to_owned()]];
    for file in files.concat() {
        let text = shipped(&file);
        let mut pieces = comments(&text);
        if !file.starts_with("campaigns/") {
            let value: Value = serde_yaml::from_str(&text).expect("YAML");
            texts(&value, &mut pieces);
        }
        assert!(pieces.len() > 5, "{file}: {pieces:?}");
        all.extend(wrong(&file, pieces));
    }
    assert!(all.is_empty(), "{} phrases: {all:#?}", all.len());
}

#[test]
fn comments_go_on_in_the_next_line() {
    let text = "# ---- One\n# Two\n# three\n\nkey: 1  # four\n        # five\nother: '#5'  # six\n";
    assert_eq!(comments(text), ["One", "Two three", "four five", "six"]);
    let warned = "warning: npcs/a.yaml:2:9: unknown tool 'x'";
    assert_eq!(without_place(warned), "unknown tool 'x'");
    assert_eq!(without_place("unknown tool: 'x'"), "unknown tool: 'x'");
}
