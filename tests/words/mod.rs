//! Messages of the program, all in one file, where they are read sentence by sentence.
//!
//! Entry types: [`Case`], function [`compare`]. Each test has its own part of the file, so that they
//! run beside each other; `UPDATE_EXPECT=1` writes it again.

mod asking;
mod cast;
mod english;
mod files;
mod providers;
mod servers;
mod settings;
mod steering;
mod stored;

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    sync::LazyLock,
};

use regex::Regex;

use crate::support::program::{Place, repository};

/// Messages of the program, as this folder's tests produce them.
const FILE: &str = "tests/data/messages.txt";
/// Messages of the bot, as a test beside `src/discord` produces them.
const OF_DISCORD: &str = "tests/data/messages_discord.txt";
/// Parts of [`FILE`], each of one test.
const AREAS: [&str; 10] = [
    "ask",
    "campaign",
    "command line",
    "files",
    "npc",
    "providers",
    "servers",
    "settings",
    "slash",
    "stored",
];
/// One NPC with a line for everything.
const PIP: &str = "npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n";
/// Variable parts of messages, and the words in their place.
static VOLATILE: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let parts = [
        (r"SQLite \d[\d.]*", "SQLite VERSION"),
        (r"\b\d+ kB\b", "SIZE"),
        (r"\b\d+(?:\.\d+)? ms\)", "TIME)"),
        (r", \d+ ms$", ", TIME"),
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?", "DATE"),
    ];
    parts.map(|(part, word)| (Regex::new(part).expect("a pattern"), word)).into()
});

/// A situation, and the command that meets it.
struct Case {
    name: &'static str,
    files: Vec<(&'static str, String)>,
    arguments: Vec<&'static str>,
    typed: &'static str,
    /// Beginnings of the lines to keep; empty: all.
    only: &'static [&'static str],
}

/// A command in a folder with [`PIP`].
fn command(name: &'static str, arguments: &[&'static str]) -> Case {
    let files = vec![("glyphoxa.yaml", PIP.to_owned())];
    Case { name, files, arguments: arguments.to_vec(), typed: "", only: &[] }
}

/// `check` of this `glyphoxa.yaml`.
fn check(name: &'static str, text: &str) -> Case {
    command(name, &["check"]).with("glyphoxa.yaml", text)
}

impl Case {
    /// With this file, in place of one of its name.
    fn with(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.files.retain(|(known, _)| *known != name);
        self.files.push((name, text.into()));
        self
    }

    /// Without a file of its own.
    fn bare(mut self) -> Self {
        self.files.clear();
        self
    }

    /// With `typed` on stdin.
    fn typing(mut self, typed: &'static str) -> Self {
        self.typed = typed;
        self
    }

    /// Only the lines that begin so.
    fn only(mut self, beginnings: &'static [&'static str]) -> Self {
        self.only = beginnings;
        self
    }

    /// Its messages, a line each.
    fn said(&self) -> String {
        let place = Place::new();
        for (name, text) in &self.files {
            place.write(name, text);
        }
        let ran = place.run_typing(&self.arguments, self.typed);
        assert!(!ran.stderr.contains("panicked"), "{}: {ran:#?}", self.name);
        let folder = place.path("").display().to_string();
        let text = [ran.stdout.as_str(), before_usage(&ran.stderr)].join("\n");
        let text = text.replace(&folder, "").replace(folder.trim_end_matches('/'), "FOLDER");
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let is_kept =
            |line: &&str| self.only.is_empty() || self.only.iter().any(|it| line.starts_with(it));
        let lines: Vec<String> = lines.filter(is_kept).map(stable).collect();
        assert!(!lines.is_empty(), "{}: no message: {ran:#?}", self.name);
        lines.join("\n")
    }
}

/// The message of a wrong command line, without the usage below it.
fn before_usage(text: &str) -> &str {
    let ends = ["\n\nUsage:", "\n\nFor more information"];
    ends.iter().fold(text, |text, end| text.split(end).next().unwrap_or_default())
}

fn stable(line: &str) -> String {
    let start = line.to_owned();
    VOLATILE.iter().fold(start, |line, (part, word)| part.replace_all(&line, *word).into_owned())
}

/// Messages by the names of their cases: each below a line `# name`.
fn entries(text: &str) -> BTreeMap<String, String> {
    let parts = text.split("\n# ").skip(1);
    let parts = parts.filter_map(|part| part.split_once('\n'));
    parts.map(|(name, lines)| (name.to_owned(), lines.trim_end().to_owned())).collect()
}

/// Entries as the file has them, below its first line.
fn written(entries: &BTreeMap<String, String>) -> String {
    let head = "Messages of the program. UPDATE_EXPECT=1 cargo test words:: writes them.\n";
    let parts = entries.iter().map(|(name, lines)| format!("\n# {name}\n{lines}\n"));
    std::iter::once(head.to_owned()).chain(parts).collect()
}

/// True if the file is written again.
fn is_updating() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some()
}

/// The file of messages, which no other test uses until it is closed.
fn locked() -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(is_updating());
    let file = options.open(repository(FILE)).expect("the file of messages");
    file.lock().expect("a lock");
    file
}

/// True if a name is of `area`.
fn is_of(name: &str, area: &str) -> bool {
    name.split_once(": ").is_some_and(|(of, _)| of == area)
}

/// Puts `now` in the place of the entries of `area`.
fn update(mut file: File, area: &str, now: BTreeMap<String, String>) {
    let mut text = String::new();
    file.read_to_string(&mut text).expect("text");
    let mut all = entries(&text);
    all.retain(|name, _| !is_of(name, area));
    all.extend(now);
    file.seek(SeekFrom::Start(0)).expect("its start");
    file.set_len(0).expect("an empty file");
    file.write_all(written(&all).as_bytes()).expect("it is written");
}

/// Compares the messages of `cases` with the entries of `area`.
#[track_caller]
fn compare(area: &str, cases: impl IntoIterator<Item = Case>) {
    assert!(AREAS.contains(&area), "'{area}' belongs into AREAS");
    let mut now = BTreeMap::new();
    for case in cases {
        let other = now.insert(format!("{area}: {}", case.name), case.said());
        assert_eq!(other, None, "two cases are called '{area}: {}'", case.name);
    }
    let mut file = locked();
    if is_updating() {
        return update(file, area, now);
    }
    let mut text = String::new();
    file.read_to_string(&mut text).expect("text");
    let mut before = entries(&text);
    before.retain(|name, _| is_of(name, area));
    let names = before.keys().chain(now.keys().filter(|name| !before.contains_key(*name)));
    let differ = names.filter(|name| before.get(*name) != now.get(*name));
    let shown = |found: Option<&String>| found.map_or("(no entry)", String::as_str).to_owned();
    let differ: Vec<String> = differ
        .map(|name| {
            format!("# {name}\n{}\nis now\n{}", shown(before.get(name)), shown(now.get(name)))
        })
        .collect();
    assert!(
        differ.is_empty(),
        "other messages than in {FILE} (UPDATE_EXPECT=1 cargo test words:: writes it again):\n\n{}",
        differ.join("\n\n")
    );
}

#[test]
fn entries_are_those_of_the_tests() {
    let mut text = String::new();
    locked().read_to_string(&mut text).expect("text");
    let all = entries(&text);
    if is_updating() {
        return;
    }
    let stray: Vec<&String> =
        all.keys().filter(|name| !AREAS.iter().any(|area| is_of(name, area))).collect();
    assert!(stray.is_empty(), "no test has these: {stray:?}");
    assert!(all.len() >= 110, "only {} cases", all.len());
    assert_eq!(text, written(&all), "{FILE} was changed by hand");
}
