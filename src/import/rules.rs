//! Rules in our YAML: entries under `rules`, below their shared settings.

use std::collections::BTreeSet;

use super::shorten::without_headings;
use crate::{
    domain::Rule,
    yaml::{self, Fields, Key, Kind, Node, Problem, Problems, Shape, quoted},
};

/// Default edition: both fifth editions.
const BOTH: &str = "5e";
/// Values of `edition` that mean a fifth edition.
const EDITIONS: &[&str] = &[BOTH, "5e-2014", "5e-2024"];
/// Most rules: twice as many as 5e-database and Open5e together.
pub const RULES_MAX: usize = 20_000;
/// Longer texts are tiring to listen to.
const WORDS_MAX: usize = 120;

pub static RULES: Shape = Shape {
    title: "Rules to look up",
    keys: &[
        Key::new("edition", Kind::Filled, "Edition of rules that set none; default 5e."),
        Key::new("category", Kind::Filled, "Category of rules that set none; default rule."),
        Key::required("rules", Kind::List(&Kind::Shape(&RULE)), "The rules."),
    ],
};

static RULE: Shape = Shape {
    title: "A rule",
    keys: &[
        Key::required(
            "id",
            Kind::Filled,
            "Kind and name in lower case with hyphens (spell-fireball); a built-in id replaces \
             that rule.",
        ),
        Key::required("name", Kind::Filled, "Its name."),
        Key::new("edition", Kind::Filled, "5e (both), 5e-2014, 5e-2024, or another system's name."),
        Key::new("category", Kind::Filled, "Kind of rule (condition, spell, combat)."),
        Key::new(
            "aliases",
            Kind::Either(&[Kind::Filled, Kind::List(&Kind::Filled)]),
            "Other names, and players' words for it.",
        ),
        Key::required(
            "text",
            Kind::Filled,
            "The rule, to be read aloud; aim for 60 words at most.",
        ),
    ],
};

/// The rules in `text`, the content of `file`, or all its problems.
pub fn rules_file(file: &str, text: &str) -> Result<Vec<Rule>, Vec<Problem>> {
    let mut problems = Problems::new(file);
    let mut found = Vec::new();
    if let Some(mut node) = yaml::parse(text, &mut problems) {
        yaml::check(&mut node, "", &Kind::Shape(&RULES), &mut problems);
        found = rules(&node, &mut problems);
    }
    if problems.is_empty() { Ok(found) } else { Err(problems.into_vec()) }
}

/// The rules of `node`, which was checked against [`RULES`].
pub fn rules(node: &Node, problems: &mut Problems) -> Vec<Rule> {
    let file = Fields::new(node, &RULES);
    let edition = edition(file, problems).unwrap_or_else(|| BOTH.to_owned());
    let category = file.text("category").unwrap_or("rule").to_owned();
    let mut ids = BTreeSet::new();
    let mut rules = Vec::new();
    for node in file.items("rules") {
        let fields = Fields::new(node, &RULE);
        let (Some(id), Some(name), Some(text)) =
            (fields.text("id"), fields.text("name"), fields.text("text"))
        else {
            continue;
        };
        check(&fields, id, text, problems);
        if !ids.insert(id) {
            let message = format!("rule {} appears twice", fields.shown("id"));
            problems.add(fields.place("id"), message, "give it another id");
        }
        rules.push(Rule {
            id: id.to_owned(),
            name: name.to_owned(),
            edition: self::edition(fields, problems).unwrap_or_else(|| edition.clone()),
            category: fields.text("category").map_or_else(|| category.clone(), str::to_owned),
            aliases: fields.texts("aliases"),
            text: told(text),
        });
    }
    rules
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleNames<'a> {
    /// Id for reading the rule.
    pub id: &'a str,
    /// As spoken.
    pub name: &'a str,
    /// As spoken.
    pub aliases: Vec<&'a str>,
}

/// Ids and names of the rules in `text`. Works only on files in our format with one key per line:
/// `text` is searched, not parsed, because every start of the program needs it.
pub fn skim(text: &str) -> Vec<RuleNames<'_>> {
    let mut all: Vec<RuleNames<'_>> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(id) = line.strip_prefix("- id: ") {
            all.push(RuleNames { id, ..RuleNames::default() });
        }
        let Some(last) = all.last_mut() else { continue };
        if let Some(name) = line.strip_prefix("name: ") {
            last.name = name.trim_matches('"');
        } else if let Some(aliases) = line.strip_prefix("aliases: [") {
            let aliases = aliases.trim_end_matches(']').split(", ");
            last.aliases = aliases.map(|alias| alias.trim_matches('"')).collect();
        }
    }
    all
}

/// Reports an id that no tool call could name, and a text too long to listen to.
fn check(fields: &Fields, id: &str, text: &str, problems: &mut Problems) {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !id.chars().all(plain) {
        let message = format!("the id {} is not in lower case with hyphens", fields.shown("id"));
        problems.add(fields.place("id"), message, "write it like spell-fireball");
    }
    let words = text.split_whitespace().count();
    if words > WORDS_MAX {
        let message = format!("the text has {words} words, at most {WORDS_MAX} are read aloud");
        problems.add(fields.place("text"), message, "shorten it, or split it into two rules");
    }
}

/// The edition; reports an unknown one.
fn edition(fields: Fields, problems: &mut Problems) -> Option<String> {
    let edition = fields.text("edition")?;
    if edition.starts_with(BOTH) && !EDITIONS.contains(&edition) {
        let message = format!("unknown edition {}", quoted(edition));
        problems.add(fields.place("edition"), message, EDITIONS.join(" or "));
    }
    Some(edition.to_owned())
}

/// Text for reading aloud: without headings, unless it has nothing else, and without line breaks.
fn told(text: &str) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = one_line(&without_headings(text));
    if told.is_empty() { one_line(text) } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        rules_file("r.yaml", text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn entries_override_defaults_of_their_file() {
        let text = "category: house\nedition: pf2e\nrules:\n  \
                    - { id: house-a, name: A, text: \"One\\n two.\", aliases: first }\n  \
                    - { id: b, name: B, text: x, edition: 5e-2014, category: odd }\n";
        let rules = rules_file("r.yaml", text).unwrap();
        assert_eq!((rules[0].category.as_str(), rules[0].edition.as_str()), ("house", "pf2e"));
        assert_eq!(
            (rules[0].text.as_str(), &rules[0].aliases[..]),
            ("One two.", &["first".into()][..])
        );
        assert_eq!((rules[1].category.as_str(), rules[1].edition.as_str()), ("odd", "5e-2014"));
    }

    #[test]
    fn every_mistake_has_its_place() {
        let text = "edition: 5e-2015\nrules:\n  - { id: Spell Fire, name: A, text: x }\n  \
                    - { id: a, nam: A, text: x }\n  - { id: b, name: B, text: x }\n  \
                    - { id: b, name: B, text: x }\n";
        assert_eq!(
            problems(text),
            [
                "r.yaml:4:5: missing key 'name' of 'rules' (name: text)",
                "r.yaml:4:14: unknown key 'nam' in 'rules' (did you mean 'name'?)",
                "r.yaml:1:10: unknown edition '5e-2015' (5e or 5e-2014 or 5e-2024)",
                "r.yaml:3:11: the id 'Spell Fire' is not in lower case with hyphens (write it \
                 like spell-fireball)",
                "r.yaml:6:11: rule 'b' appears twice (give it another id)",
            ]
        );
        assert_eq!(problems("[")[0].split(':').next(), Some("r.yaml"));
        assert!(
            problems(&format!("rules: [{{ id: a, name: A, text: \"{}\" }}]", "w ".repeat(130)))[0]
                .contains("130 words")
        );
    }
}
