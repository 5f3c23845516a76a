//! Picks the one sentence of a rule that answers a question: [`short`].

use std::collections::HashSet;

use super::{
    facts::Fact,
    index::{Terms, bare},
};
use crate::domain::Rule;

/// The sentence of `rule` with the fact asked for and the most matching words, the first of equals.
/// Words of the rule's name do not count: every sentence is about it. A spell's first line of
/// figures is chosen for a fact, or if no other sentence is as good.
pub fn short<'r>(terms: &Terms, question: &str, rule: &'r Rule) -> &'r str {
    let name: HashSet<String> = terms.of(bare(&rule.name)).into_iter().collect();
    let asked: HashSet<String> = terms.of(question).into_iter().collect();
    let asked: HashSet<&String> = asked.difference(&name).collect();
    let fact = Fact::asked(question).map(|(fact, _)| fact);
    let held = |sentence: &str| -> usize {
        let held: HashSet<String> = terms.of(sentence).into_iter().collect();
        held.iter().filter(|term| asked.contains(term)).count()
    };
    let sentences = sentences(&rule.text);
    let is_figures = |at: usize| is_figures(rule, at, sentences.len());
    let worth = |at: usize, sentence: &str| {
        let told = fact.map_or(0, |fact| fact.worth(sentence, is_figures(at)));
        (told + held(sentence), !is_figures(at))
    };
    let best = sentences.iter().enumerate().reduce(|best, next| {
        if worth(next.0, next.1) > worth(best.0, best.1) { next } else { best }
    });
    best.map_or(rule.text.as_str(), |(_, sentence)| sentence)
}

/// True if `question` asks for a fact that `rule`, a spell or gear, lacks.
pub fn lacks(question: &str, rule: &Rule) -> bool {
    let has_figures = matches!(rule.category.as_str(), "spell" | "equipment");
    let Some((fact, _)) = Fact::asked(question).filter(|(it, _)| has_figures && it.is_told())
    else {
        return false;
    };
    let sentences = sentences(&rule.text);
    let mut all = sentences.iter().enumerate();
    all.all(|(at, sentence)| fact.worth(sentence, is_figures(rule, at, sentences.len())) == 0)
}

/// True if sentence `at` of `of` is a spell's line of figures.
fn is_figures(rule: &Rule, at: usize, of: usize) -> bool {
    at == 0 && rule.category == "spell" && of > 1
}

fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut rest = text.trim();
    // A capital or number must follow, so that "approx. half" stays whole.
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
        let mut grapple = rule("combat", "Roll Athletics against theirs. Win, and it is grappled.");
        grapple.name = "Grapple (2014)".to_owned();
        assert_eq!(
            short(&terms, "how does grappling work", &grapple),
            "Roll Athletics against theirs."
        );
    }

    #[test]
    fn fact_that_a_spell_has_none_of_is_missed() {
        let web = rule("spell", "Level 2 conjuration, action, 60 feet. The webs hold who fails.");
        assert!(lacks("how much damage does y do", &web));
        assert!(!lacks("what is the range of y", &web));
        assert!(!lacks("what does y do", &web));
        let text = "Grad 2, 1 Aktion, 18 Meter. Die Netze halten fest. Wer sie berührt, nimmt 2W6.";
        let netz = rule("spell", text);
        for question in
            ["welche Reichweite hat y", "wie ist die Zauberzeit von y", "wie viel Schaden macht y"]
        {
            assert!(!lacks(question, &netz), "{question}");
        }
        let netz = rule("spell", "Grad 2, 1 Aktion, 18 Meter. Die Netze halten fest.");
        assert!(lacks("wie viel Schaden macht y", &netz));
        let prone = rule("condition", "You lie.");
        assert!(!lacks("does prone mean more damage", &prone));
    }
}
