//! Texts about an actor: where dnd5e and pf2e have them, and where other systems may.

use serde_json::Value;

use super::{
    search::{FieldTexts, Rules, Text, To, is_text, meaning, search},
    shape::{Fields, at},
};

/// Paths of dnd5e and pf2e with a word in front of their text, in the order of the prompt.
const PATHS: &[(&str, &str, To)] = &[
    ("details.biography.value", "", To::Person),
    ("details.biography", "", To::Person),
    ("details.biography.public", "", To::Public),
    ("details.blurb", "", To::Person),
    ("details.publicNotes", "", To::Public),
    ("details.privateNotes", "", To::Secret),
    ("details.biography.backstory", "", To::Person),
    ("details.biography.birthPlace", "Place of birth", To::Person),
    ("details.appearance", "Appearance", To::Person),
    ("details.biography.appearance", "Appearance", To::Person),
    ("details.trait", "Traits", To::Person),
    ("details.biography.attitude", "Attitude", To::Person),
    ("details.ideal", "Ideal", To::Person),
    ("details.bond", "Bond", To::Person),
    ("details.flaw", "Flaw", To::Person),
    ("details.biography.beliefs", "Beliefs", To::Person),
    ("details.biography.anathema", "Would never", To::Person),
    ("details.biography.edicts", "Has sworn", To::Person),
    ("details.biography.likes", "Likes", To::Person),
    ("details.biography.dislikes", "Dislikes", To::Person),
    ("details.biography.catchphrases", "Says often", To::Person),
    ("details.biography.allies", "Allies", To::Person),
    ("details.biography.enemies", "Enemies", To::Person),
    ("details.biography.organizations", "Organizations", To::Person),
    ("details.biography.campaignNotes", "", To::Notes),
];
/// Fields of a pf2e biography that are shown and hidden together with another one.
const TOGETHER: &[(&str, &[&str])] = &[
    ("backstory", &["birthPlace"]),
    (
        "personality",
        &["anathema", "attitude", "beliefs", "catchphrases", "dislikes", "edicts", "likes"],
    ),
    ("campaign", &["allies", "campaignNotes", "enemies", "organizations"]),
];

/// Texts in the data of an actor's rules.
pub fn texts(system: &Fields) -> FieldTexts<'_> {
    let known = PATHS.iter().filter_map(|(path, label, to)| {
        let html = at(system, path)?.as_str().filter(|html| is_text(html))?;
        Some(Text { path: (*path).to_owned(), label: (*label).to_owned(), to: *to, html })
    });
    let mut texts: Vec<Text> = known.collect();
    let known = |path: &str| {
        let (_, label, to) = PATHS.iter().find(|(known, ..)| *known == path)?;
        Some((*to, *label))
    };
    let FieldTexts { texts: others, unused } = search(system, &Rules { meaning, known: &known });
    texts.extend(others);
    for text in &mut texts {
        if is_hidden(system, &text.path) {
            text.to = To::Secret;
        }
    }
    FieldTexts { texts, unused }
}

/// True for a text of a biography that its owner hides from players.
pub fn is_hidden(system: &Fields, path: &str) -> bool {
    let Some(shown) = at(system, "details.biography.visibility") else { return false };
    let Some(inside) = path.strip_prefix("details.biography.") else { return false };
    let name = inside.split('.').next().unwrap_or_default();
    let together = TOGETHER.iter().find(|(_, names)| names.contains(&name));
    let names = [Some(name), together.map(|(name, _)| *name)];
    names.into_iter().flatten().any(|name| shown.get(name) == Some(&Value::Bool(false)))
}
