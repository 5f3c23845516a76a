//! Sentence templates: `{npc} (can|could) you roll {diceroll}`.
//!
//! Entry type: [`Template`].
//! **Never**: knowing what is in the slots.

use std::collections::HashMap;

/// Slots within slots deeper than this are a mistake.
const DEPTH: u32 = 6;

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Words and slots, in order.
    parts: Vec<Part>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Words as they are.
    Words(String),
    /// The name of a slot.
    Slot(String),
    /// One of these; an empty one means "or nothing".
    Group(Vec<Template>),
}

/// The same sequence of choices on every run.
pub struct Choices(u64);

impl Choices {
    /// From the beginning.
    pub const fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    /// One of `items`, each equally often in the long run.
    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        // SplitMix64, whose low bits are good enough for a remainder.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        let count = u64::try_from(items.len()).ok().filter(|count| *count > 0)?;
        items.get(usize::try_from(mixed % count).ok()?)
    }
}

impl Template {
    /// Reads `(a|b|)` as a choice and `{name}` as a slot; whatever does not close is left out.
    pub fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['(', '{']) {
            let (words, tail) = rest.split_at(at);
            push_words(&mut parts, words);
            let close = if tail.starts_with('{') { '}' } else { ')' };
            let inner = tail.get(1..).unwrap_or_default();
            let Some((inner, after)) = inner.split_once(close) else { return Self { parts } };
            parts.push(if close == '}' {
                Part::Slot(inner.to_owned())
            } else {
                Part::Group(inner.split('|').map(Self::parse).collect())
            });
            rest = after;
        }
        push_words(&mut parts, rest);
        Self { parts }
    }

    /// Words without slots.
    pub fn words(text: &str) -> Self {
        let mut parts = Vec::new();
        push_words(&mut parts, text);
        Self { parts }
    }

    /// One sentence; `None` when a slot is unknown.
    pub fn fill(
        &self,
        slots: &HashMap<String, Vec<Self>>,
        choices: &mut Choices,
    ) -> Option<String> {
        let mut sentence = String::new();
        self.fill_into(&mut sentence, slots, choices, DEPTH)?;
        Some(with_articles(&sentence))
    }

    /// Appends a filling; slots nest at most `depth` deep.
    fn fill_into(
        &self,
        sentence: &mut String,
        slots: &HashMap<String, Vec<Self>>,
        choices: &mut Choices,
        depth: u32,
    ) -> Option<()> {
        let deeper = depth.checked_sub(1)?;
        for part in &self.parts {
            match part {
                Part::Words(words) => {
                    // "'s" and the like belong to the word before.
                    if !sentence.is_empty() && !words.starts_with('\'') {
                        sentence.push(' ');
                    }
                    sentence.push_str(words);
                }
                Part::Slot(name) => {
                    choices.pick(slots.get(name)?)?.fill_into(sentence, slots, choices, deeper)?;
                }
                Part::Group(group) => {
                    choices.pick(group)?.fill_into(sentence, slots, choices, deeper)?;
                }
            }
        }
        Some(())
    }
}

/// Adds words, if there are any.
fn push_words(parts: &mut Vec<Part>, words: &str) {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if !words.is_empty() {
        parts.push(Part::Words(words));
    }
}

/// "a" or "an" as the next word's sound asks for.
fn with_articles(sentence: &str) -> String {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let mut right = Vec::with_capacity(words.len());
    for (position, word) in words.iter().enumerate() {
        let next = words.get(position + 1).copied().unwrap_or_default();
        let article = if begins_with_vowel(next) { "an" } else { "a" };
        right.push(if matches!(*word, "a" | "an") && !next.is_empty() { article } else { word });
    }
    right.join(" ")
}

/// Whether a word begins with a vowel's sound.
fn begins_with_vowel(word: &str) -> bool {
    const SILENT_H: [&str; 3] = ["hour", "honest", "heir"];
    const LIKE_W_OR_Y: [&str; 4] = ["one", "once", "uni", "use"];
    SILENT_H.iter().any(|start| word.starts_with(start))
        || (word.starts_with(['a', 'e', 'i', 'o', 'u'])
            && !LIKE_W_OR_Y.iter().any(|start| word.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, slots: &[(&str, &[&str])]) -> Vec<String> {
        let slots = slots
            .iter()
            .map(|(name, texts)| {
                ((*name).to_owned(), texts.iter().copied().map(Template::parse).collect())
            })
            .collect();
        let mut choices = Choices::new();
        let template = Template::parse(template);
        let mut all: Vec<String> =
            (0..200).filter_map(|_| template.fill(&slots, &mut choices)).collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn every_choice_is_made() {
        assert_eq!(
            filled("{who} (can|could|) go", &[("who", &["mira", "(the|a) sage"])]),
            [
                "a sage can go",
                "a sage could go",
                "a sage go",
                "mira can go",
                "mira could go",
                "mira go",
                "the sage can go",
                "the sage could go",
                "the sage go",
            ]
        );
    }

    #[test]
    fn articles_fit_the_next_word() {
        assert_eq!(
            filled("a eight and an one and a uniform", &[]),
            ["an eight and a one and a uniform"]
        );
    }

    #[test]
    fn mistakes_give_no_sentence() {
        assert!(filled("{nobody} knows", &[]).is_empty());
        assert!(filled("{a}", &[("a", &["{a}"])]).is_empty());
        assert_eq!(filled("who (is|was", &[]), ["who"]);
    }
}
