//! Sentences as they are said at this campaign's table, from templates and its names.
//!
//! Entry types: [`Vocabulary`] (what the caller knows of the campaign) and [`sentences`].
//! **Never**: files at run time, sound, randomness that differs between two runs.

use std::collections::HashMap;

use super::template::{Choices, Template};

/// What fits into the templates.
const SLOTS: &str = include_str!("templates/slots.txt");
/// One sentence a line.
const TEMPLATES: [&str; 5] = [
    include_str!("templates/dice.txt"),
    include_str!("templates/talk.txt"),
    include_str!("templates/table_more.txt"),
    include_str!("templates/everyday.txt"),
    include_str!("templates/small_talk.txt"),
];

/// Sentences per template line and unit of its section's weight.
const PER_LINE: usize = 40;
/// How often a line an NPC or a note says counts.
const PER_OWN_LINE: usize = 2;

/// What is special to one campaign; texts as people write them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// NPCs and their other names.
    pub names: Vec<Name>,
    /// Other people, players' characters among them.
    pub people: Vec<Name>,
    /// Cities, inns, regions.
    pub places: Vec<Name>,
    /// Quests, items, factions and whatever else has a name.
    pub things: Vec<String>,
    /// Words NPCs listen for.
    pub keywords: Vec<String>,
    /// Whole sentences: what NPCs say, notes.
    pub lines: Vec<String>,
}

/// A name and how it is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// As written ("Greymantle the Sage").
    pub text: String,
    /// Ordinary spelling of its sound ("gray mantle the sage"); `None`: as it is written.
    pub respelling: Option<String>,
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), respelling: None }
    }
}

/// All sentences of the campaign, lower-case words separated by blanks.
pub fn sentences(vocabulary: &Vocabulary) -> Vec<String> {
    let slots = slots(vocabulary);
    let mut choices = Choices::new();
    let mut all = Vec::new();
    for text in TEMPLATES {
        let mut weight = 1;
        for line in content(text) {
            if let Some(number) = line.strip_prefix('*') {
                weight = number.trim().parse().unwrap_or(1);
                continue;
            }
            let template = Template::parse(line);
            for _ in 0..PER_LINE * weight {
                all.extend(template.fill(&slots, &mut choices));
            }
        }
    }
    for line in &vocabulary.lines {
        for sentence in line.split_inclusive(['.', '!', '?', ';', ':']) {
            let words = spoken_words(sentence).join(" ");
            all.extend(std::iter::repeat_n(words, PER_OWN_LINE));
        }
    }
    all
}

/// Words as the recogniser knows them: lower case, no punctuation but apostrophes.
pub fn spoken_words(text: &str) -> Vec<String> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '-' | '\u{2013}' | '\u{2014}' | '/'))
        .map(|word| {
            let plain = word.replace(['\u{2019}', '\u{2018}'], "'").to_lowercase();
            plain
                .trim_matches('\'')
                .chars()
                .filter(|c| c.is_alphabetic() || *c == '\'')
                .collect::<String>()
        })
        .filter(|word| !word.is_empty())
        .collect()
}

/// Lines that are not empty and no comment.
fn content(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The shipped slots and those of the campaign.
fn slots(vocabulary: &Vocabulary) -> HashMap<String, Vec<Template>> {
    let mut slots: HashMap<String, Vec<Template>> = content(SLOTS)
        .filter_map(|line| line.split_once('='))
        .map(|(name, choices)| {
            (name.trim().to_owned(), choices.split('|').map(Template::parse).collect())
        })
        .collect();
    let npcs: Vec<String> = vocabulary.names.iter().flat_map(ways_to_say).collect();
    let people: Vec<String> =
        vocabulary.people.iter().flat_map(ways_to_say).chain(npcs.iter().cloned()).collect();
    let places = vocabulary.places.iter().flat_map(ways_to_say).collect();
    let plain = |texts: &[String]| texts.iter().map(|text| spoken_words(text).join(" ")).collect();
    for (name, values, otherwise) in [
        ("npc", npcs, "my friend"),
        ("person", people, "the stranger"),
        ("place", places, "the city"),
        ("thing", plain(&vocabulary.things), "the quest"),
        ("keyword", plain(&vocabulary.keywords), "the reward"),
    ] {
        let mut values: Vec<Template> = values.iter().map(|value| Template::words(value)).collect();
        if values.is_empty() {
            values.push(Template::words(otherwise));
        }
        slots.insert(name.to_owned(), values);
    }
    slots
}

/// "Bartok the Barkeep" is called "bartok" most of the time, and "barkeep" now and then.
fn ways_to_say(name: &Name) -> Vec<String> {
    let words = spoken_words(&name.text);
    let whole = words.join(" ");
    let Some(first) = words.first().filter(|_| words.len() > 1) else { return vec![whole] };
    match words.iter().position(|word| matches!(word.as_str(), "the" | "of" | "from")) {
        Some(0) => vec![whole],
        Some(cut) => {
            let name = words.get(..cut).unwrap_or_default().join(" ");
            vec![name.clone(), name.clone(), name, whole]
        }
        None => vec![first.clone(), first.clone(), whole.clone(), whole],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lines_and_dice_are_in_the_sentences() {
        let vocabulary = Vocabulary {
            names: vec![Name::from("Bartok the Barkeep")],
            places: vec![Name::from("Ravenford")],
            lines: vec!["What's a \u{201c}free\u{201d} ale? Old-fashioned!".to_owned()],
            ..Vocabulary::default()
        };
        let all = sentences(&vocabulary);
        for wanted in
            ["mute bartok", "roll two d six plus three", "what's a free ale", "old fashioned"]
        {
            assert!(all.iter().any(|sentence| sentence == wanted), "{wanted}");
        }
        for word in ["barkeep", "ravenford"] {
            assert!(all.iter().any(|sentence| sentence.split(' ').any(|w| w == word)), "{word}");
        }
        assert_eq!(all, sentences(&vocabulary), "the same on every run");
    }

    #[test]
    fn every_template_and_slot_is_whole() {
        let all = sentences(&Vocabulary::default());
        let lines: Vec<&str> = TEMPLATES.iter().flat_map(|text| content(text)).collect();
        assert!(lines.iter().all(|line| line.matches('(').count() == line.matches(')').count()));
        assert!(all.iter().all(|s| s.chars().all(|c| c.is_alphabetic() || " '".contains(c))));
        let weighted =
            |line: &str| line.strip_prefix('*').and_then(|w| w.trim().parse::<usize>().ok());
        let mut weight = 1;
        let mut expected = 0;
        for line in lines {
            match weighted(line) {
                Some(number) => weight = number,
                None => expected += PER_LINE * weight,
            }
        }
        assert_eq!(all.len(), expected, "a slot is unknown or nested too deep");
    }
}
