//! The one sentence of a rule that answers a question: [`short`].
//!
//! **Never** changes a word of it.

use std::collections::HashSet;

use super::terms::Terms;
use crate::domain::Rule;

/// The sentence of `rule` that has most of the words asked for, the first of several. The line of
/// figures that a spell begins with only counts where nothing else does as well.
pub fn short<'r>(terms: &Terms, question: &str, rule: &'r Rule) -> &'r str {
    let asked: HashSet<String> = terms.of(question).into_iter().collect();
    let held = |sentence: &str| -> usize {
        let held: HashSet<String> = terms.of(sentence).into_iter().collect();
        held.intersection(&asked).count()
    };
    let sentences = sentences(&rule.text);
    let is_figures = |at: usize| at == 0 && rule.category == "spell" && sentences.len() > 1;
    let worth = |at: usize, sentence: &str| (held(sentence), !is_figures(at));
    let best = sentences.iter().enumerate().reduce(|best, next| {
        if worth(next.0, next.1) > worth(best.0, best.1) { next } else { best }
    });
    best.map_or(rule.text.as_str(), |(_, sentence)| sentence)
}

/// The sentences of a text that is written to be spoken.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut rest = text.trim();
    // An ending is followed by a capital or a number, so that "approx. half" stays whole.
    while let Some(end) = rest.match_indices(['.', '!', '?']).map(|(at, _)| at + 1).find(|&end| {
        let next = rest.get(end..).unwrap_or_default().strip_prefix(' ');
        next.is_some_and(|next| next.starts_with(|c: char| c.is_uppercase() || c.is_numeric()))
    }) {
        let (sentence, after) = rest.split_at(end);
        sentences.push(sentence);
        rest = after.trim_start();
    }
    sentences.push(rest);
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(category: &str, text: &str) -> Rule {
        let (id, name, edition) = ("x-y".to_owned(), "Y".to_owned(), "5e".to_owned());
        let (category, text) = (category.to_owned(), text.to_owned());
        Rule { id, name, edition, category, aliases: Vec::new(), text }
    }

    #[test]
    fn sentence_with_what_is_asked_for_answers() {
        let terms = Terms::new();
        let prone = rule("condition", "You lie. Standing up costs half your speed. You crawl.");
        assert_eq!(
            short(&terms, "how do I stand up", &prone),
            "Standing up costs half your speed."
        );
        assert_eq!(short(&terms, "what is prone", &prone), "You lie.");
        let fire = rule(
            "spell",
            "Level 3, no concentration. A ball of fire: 8d6, approx. half. 1d6 more.",
        );
        assert_eq!(short(&terms, "what does it do", &fire), "A ball of fire: 8d6, approx. half.");
        assert_eq!(short(&terms, "need concentration?", &fire), "Level 3, no concentration.");
        assert_eq!(short(&terms, "x", &rule("spell", "Only embers.")), "Only embers.");
    }
}
