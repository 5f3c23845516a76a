//! The README and every page in `docs/`: what they show is run, and where they lead is there.
//!
//! Entry types: [`Page`], [`Block`]. A page is found by being in the folder, so none is forgotten.

mod commands;
mod english;
mod files;
mod links;
mod programs;

use std::fs;

pub use english::found;

use crate::support::program::{Place, repository, shipped};

/// A page in Markdown.
struct Page {
    /// From the top of the repository: `docs/tools.md`.
    name: String,
    text: String,
}

/// A block of code of a page.
struct Block {
    /// Word behind the backticks: `sh`.
    language: String,
    text: String,
}

/// The README, and the pages by name.
fn pages() -> Vec<Page> {
    let mut names = markdown("docs");
    names.insert(0, "README.md".to_owned());
    names.into_iter().map(|name| Page { text: shipped(&name), name }).collect()
}

/// Names of the Markdown files right in a folder of the repository, sorted.
fn markdown(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(repository(folder)).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    names.sort();
    names.into_iter().map(|name| format!("{folder}/{name}")).collect()
}

impl Page {
    /// Blocks of code, in a list too.
    fn blocks(&self) -> Vec<Block> {
        self.parts().0
    }

    /// All that is no block of code.
    fn prose(&self) -> String {
        self.parts().1
    }

    /// Pieces of code within the prose.
    fn inline(&self) -> Vec<String> {
        let prose = self.prose();
        let parts: Vec<&str> = prose.split('`').collect();
        assert_eq!(parts.len() % 2, 1, "{}: a piece of code has no end", self.name);
        parts.iter().skip(1).step_by(2).map(|code| code.replace('\n', " ")).collect()
    }

    fn parts(&self) -> (Vec<Block>, String) {
        let (mut blocks, mut prose): (Vec<Block>, _) = (Vec::new(), String::new());
        let mut indent = None;
        for line in self.text.lines() {
            let fence = line.trim_start().strip_prefix("```");
            match (indent, fence) {
                (None, Some(language)) => {
                    indent = Some(line.len() - line.trim_start().len());
                    blocks.push(Block { language: language.to_owned(), text: String::new() });
                }
                (Some(_), Some(_)) => indent = None,
                (Some(indent), None) => {
                    let block = blocks.last_mut().expect("a block");
                    block.text += &format!("{}\n", line.get(indent..).unwrap_or(""));
                }
                (None, None) => prose += &format!("{line}\n"),
            }
        }
        assert_eq!(indent, None, "{}: a block has no end", self.name);
        (blocks, prose)
    }
}

/// The README's own NPC, as a file.
pub fn pip() -> String {
    let readme = pages().remove(0);
    let pip = readme.blocks().into_iter().find(|block| block.text.starts_with("name: "));
    pip.expect("an NPC").text
}

/// A folder with what the pages speak of: the shipped files, Pip, a recording of a player, and an
/// evening called friday.
fn table() -> Place {
    let place = Place::new().brief();
    for name in ["glyphoxa.yaml", "campaigns/ravenford.yaml", "npcs/mira.yaml", "npcs/bartok.yaml"]
    {
        place.write(name, shipped(name));
    }
    place.write("npcs/pip.yaml", pip());
    let recording = fs::read(repository("assets/demo/player.wav")).expect("the recording");
    place.write("player.wav", recording);
    place.run(&["ask", "--session", "friday", "--text", "Bartok, hello"]).ends_with(0);
    place
}

/// Every block is of a kind that is tried.
#[test]
fn blocks_are_of_known_kinds() {
    let known = ["sh", "bash", "console", "yaml", "json", "text", "python", "rust"];
    let pages = pages();
    assert!(pages.len() >= 13, "where are they? {}", pages.len());
    for page in &pages {
        for Block { language, text } in page.blocks() {
            assert!(
                known.contains(&&*language),
                "{}: '{language}' is not tried: {text}",
                page.name
            );
        }
    }
}

#[test]
fn readme_is_short() {
    let lines = shipped("README.md").lines().count();
    assert!(lines <= 160, "{lines} lines: what is not for the first evening belongs into docs/");
}

/// A page begins with a sentence on who should read it.
#[test]
fn pages_say_whom_they_are_for() {
    for page in pages().into_iter().skip(1) {
        let mut lines = page.text.lines();
        assert!(lines.next().is_some_and(|line| line.starts_with("# ")), "{}", page.name);
        assert_eq!(lines.next(), Some(""), "{}", page.name);
        assert!(lines.next().is_some_and(|line| line.starts_with("For ")), "{}", page.name);
    }
}
