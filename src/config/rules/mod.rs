//! Rules to look up: the user's own files, and the shipped ones.

use std::{collections::HashSet, path::Path};

use super::{
    files::ReadError,
    reading::{Notes, Reading},
    shipped,
};
use crate::{
    domain::{EntityKind, Rule},
    import::{self, RULES, RULES_MAX, RuleNames},
    logic::{
        language::{self, Language},
        names::NameLanguage,
        tier::RuleName,
        words::fold,
    },
    yaml::{Fields, Kind, Position},
};

/// Words that questions begin with; an alias with one is itself a question.
const ASKS: &[&str] = &[
    "am", "can", "do", "does", "how", "is", "what", "when", "which", "who", "will", "kann", "wann",
    "was", "welche", "wer", "wie",
];

/// Categories of places, beside the words for locations.
const PLACES: [&str; 3] = ["plane", "planes", "region"];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The user's own; one with the id of a built-in rule replaces it.
    pub own: Vec<Rule>,
    /// "5e-2014" or "5e-2024" excludes the other edition's rules; `None`: both are played.
    pub edition: Option<String>,
}

impl Rules {
    /// Phrases that name a rule or ask for one, and names of places: they raise a turn's tier.
    pub fn names(&self) -> Vec<RuleName> {
        let ear = NameLanguage::new("en");
        let (places, own): (Vec<&Rule>, Vec<&Rule>) = self.own.iter().partition(|it| is_place(it));
        let own = own.into_iter().map(|rule| RuleNames {
            id: &rule.id,
            name: &rule.name,
            aliases: rule.aliases.iter().map(String::as_str).collect(),
        });
        let shipped = shipped::RULES.iter().flat_map(|(_, text)| import::skim(text));
        let rules = own.chain(shipped).flat_map(|called| phrases(&called, &ear));
        let places = places.into_iter().flat_map(|rule| {
            let place = bare(&rule.name);
            let called = std::iter::once(place).chain(rule.aliases.iter().map(String::as_str));
            called
                .map(move |name| RuleName::Place { place: place.to_owned(), name: name.to_owned() })
        });
        rules.map(RuleName::Rule).chain(places).collect()
    }

    /// Names of the user's own rules.
    pub fn own_names(&self) -> impl Iterator<Item = &str> {
        self.own.iter().map(|rule| bare(&rule.name))
    }
}

fn is_place(rule: &Rule) -> bool {
    let category = fold(&rule.category);
    language::kinds(EntityKind::Location).chain(PLACES).any(|kind| kind == category)
}

/// Spoken names of a rule. A word of everyday talk ("shield", "help") counts only beside a word
/// that indicates a rule; conditions always count.
fn phrases(called: &RuleNames<'_>, ear: &NameLanguage) -> Vec<String> {
    let name = bare(called.name);
    let everyday = !name.contains(' ') && ear.is_ordinary(&fold(name));
    let mut phrases: Vec<String> = if everyday && !called.id.starts_with("condition-") {
        let (before, after) = (["cast"], ["spell", "action", "rule"]);
        let before = before.iter().map(|word| format!("{word} {name}"));
        before.chain(after.iter().map(|word| format!("{name} {word}"))).collect()
    } else {
        vec![name.to_owned()]
    };
    let asks = |alias: &&&str| alias.split_once(' ').is_some_and(|(word, _)| ASKS.contains(&word));
    phrases.extend(called.aliases.iter().filter(asks).map(ToString::to_string));
    if called.id.starts_with("condition-") {
        phrases.extend(
            called.aliases.iter().filter(|alias| is_translated(alias)).map(|it| (*it).to_owned()),
        );
    }
    let british =
        |phrase: &String| phrase.contains("rmor").then(|| phrase.replace("rmor", "rmour"));
    phrases.extend(phrases.iter().filter_map(british).collect::<Vec<_>>());
    phrases
}

/// True if `alias` names a condition by one uncommon word in another language: "gegriffen".
fn is_translated(alias: &str) -> bool {
    let language = Language::spoken_in(alias).filter(|it| it.code != Language::english().code);
    language.is_some_and(|it| !alias.contains(' ') && !it.ordinary.contains(&fold(alias)))
}

/// The name without its edition ("Hide (2014)").
fn bare(name: &str) -> &str {
    name.split(" (").next().unwrap_or(name)
}

/// Reads the checked `fields` in a file of `folder`.
pub fn rules(fields: Fields, folder: &Path, reading: &mut Reading, notes: &mut Notes) -> Rules {
    let edition = fields.text("edition").filter(|edition| *edition != "both").map(str::to_owned);
    let mut own: Vec<Rule> = Vec::new();
    for node in fields.items("files") {
        let Some(name) = node.text() else { continue };
        own.extend(file(reading, &folder.join(name), node.at, notes));
        if own.len() > RULES_MAX {
            let message = format!("more than {RULES_MAX} rules up to '{name}'");
            notes.problems.add(node.at, message, "name fewer files");
            own.clear();
            break;
        }
    }
    Rules { own: last_of_each(own), edition }
}

/// The last of the rules with one id, in order.
fn last_of_each(rules: Vec<Rule>) -> Vec<Rule> {
    let mut seen = HashSet::with_capacity(rules.len());
    let mut last: Vec<Rule> =
        rules.into_iter().rev().filter(|rule| seen.insert(rule.id.clone())).collect();
    last.reverse();
    last
}

/// The rules of one file, named at `at`.
fn file(reading: &mut Reading, path: &Path, at: Position, notes: &mut Notes) -> Vec<Rule> {
    let failed = |error: ReadError, notes: &mut Notes| {
        let message = format!("rules '{}': {}", path.display(), error.message);
        notes.problems.add(at, message, error.way_out);
        Vec::new()
    };
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("json")) {
        return match reading.file(path, &Kind::Shape(&RULES)) {
            Ok((node, mut notes)) => {
                let rules = node.map(|node| import::rules(&node, &mut notes.problems));
                reading.take(notes);
                rules.unwrap_or_default()
            }
            Err(error) => failed(error, notes),
        };
    }
    match reading.text(path) {
        Ok(text) => {
            let mut notes = Notes::new(path);
            let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
            let (rules, skipped) = import::rules_json(&stem, &text, &mut notes.problems);
            if skipped > 0 && !rules.is_empty() {
                let message = format!("{skipped} records without a name or a text are ignored");
                notes.warnings.add(Position::START, message, "they are left out");
            }
            reading.take(notes);
            rules
        }
        Err(error) => failed(error, notes),
    }
}

/// The shipped rules. Reading them takes a few milliseconds.
pub fn shipped_rules() -> Vec<Rule> {
    let read = |(file, text): &(&str, &str)| import::rules_file(file, text).unwrap_or_default();
    shipped::RULES.iter().flat_map(read).collect()
}

#[cfg(test)]
mod tests;
