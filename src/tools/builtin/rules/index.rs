//! Ranked search over a few hundred short rules.
//!
//! Entry type: [`Index`]. BM25 over name, aliases and text, and a bonus for a name or alias that the
//! question holds whole. A word nobody wrote is taken for the nearest known one.
//! **Never**: loads a rule.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashSet},
};

use bm25::{
    Embedder, EmbedderBuilder, Embedding, Scorer, TokenEmbedder, TokenEmbedding, Tokenizer,
};

use super::{facts::Fact, terms::Terms};
use crate::{domain::Rule, logic::words::Words, yaml::nearest};

/// A name weighs as much as this many mentions.
const NAME_WEIGHT: usize = 3;
/// Length matters little: a rule with many aliases is no worse for it.
const LENGTH: f32 = 0.3;
/// Score of a name or alias for each of its terms, when the question holds all of them.
const WHOLE: f32 = 2.0;
/// Score of a name that the question holds as it is written: "grappled" is no "grapple".
const AS_WRITTEN: f32 = 3.0;
/// Below this share of the best score, a rule is not an answer.
const SHARE: f32 = 0.3;
/// Below this score, nothing was meant.
const LEAST: f32 = 2.0;
/// Shortest word that endings and slips are forgiven in.
const FORGIVEN: usize = 5;

/// A searchable list of rules.
pub struct Index {
    rules: Vec<Rule>,
    /// Makes terms of texts.
    pub terms: Terms,
    scorer: Scorer<usize, u64>,
    /// Terms of each rule's name and aliases.
    called: Vec<Vec<BTreeSet<String>>>,
    /// Every term there is.
    known: HashSet<String>,
    /// Terms of names and aliases, sorted: what a slip may have meant.
    meant: Vec<String>,
}

impl Index {
    /// Prepares `rules` to be asked for.
    pub fn new(rules: Vec<Rule>) -> Self {
        let terms = Terms::new();
        let mut called = Vec::with_capacity(rules.len());
        let mut texts = Vec::with_capacity(rules.len());
        let mut known = HashSet::new();
        let mut length = 0;
        for rule in &rules {
            let names: Vec<Vec<String>> = std::iter::once(bare(&rule.name))
                .chain([rule.name.as_str()])
                .chain(rule.aliases.iter().map(String::as_str))
                .map(|it| terms.of(it))
                .collect();
            let body = terms.of(&rule.text);
            let name = names.first().map(Vec::as_slice).unwrap_or_default();
            let repeated = std::iter::repeat_n(name, NAME_WEIGHT - 1).flatten();
            let text: Vec<&str> =
                repeated.chain(names.iter().flatten()).chain(&body).map(String::as_str).collect();
            length += text.len();
            texts.push(text.join(" "));
            known.extend(names.iter().flatten().chain(&body).cloned());
            called.push(names.into_iter().map(BTreeSet::from_iter).collect::<Vec<_>>());
        }
        let average = length / rules.len().max(1);
        let average = f32::from(u16::try_from(average).unwrap_or(u16::MAX));
        let embedder: Embedder<u64, Joined> =
            EmbedderBuilder::with_avgdl(average).b(LENGTH).build();
        let mut scorer = Scorer::new();
        for (index, text) in texts.iter().enumerate() {
            scorer.upsert(&index, embedder.embed(text));
        }
        let meant: BTreeSet<&String> = called.iter().flatten().flatten().collect();
        let meant = meant.into_iter().cloned().collect();
        Self { rules, terms, scorer, called, known, meant }
    }

    /// The rules that `question` asks for among those `wanted`, best first, at most `most`.
    pub fn search(
        &self,
        question: &str,
        most: usize,
        wanted: impl Fn(&Rule) -> bool,
    ) -> Vec<&Rule> {
        let asked: BTreeSet<String> =
            self.terms.of(question).into_iter().map(|term| self.known_as(term)).collect();
        // "The range of fireball" asks for fireball, though there is a rule of ranges.
        let fact = Fact::asked(question).map(|(_, phrase)| self.terms.of(phrase));
        let fact: BTreeSet<String> = fact.into_iter().flatten().collect();
        let written = format!(" {} ", Words::of(question).iter().collect::<Vec<_>>().join(" "));
        let query = asked.iter().map(|term| TokenEmbedding { index: u64::embed(term), value: 1.0 });
        let mut scored: Vec<(f32, usize, &Rule)> = self
            .scorer
            .matches(&Embedding(query.collect()))
            .into_iter()
            .filter_map(|found| {
                let rule = self.rules.get(found.id).filter(|rule| wanted(rule))?;
                let name = Words::of(bare(&rule.name));
                let name = format!(" {} ", name.iter().collect::<Vec<_>>().join(" "));
                let is_fact =
                    !fact.is_empty() && self.terms.of(&name).iter().all(|term| fact.contains(term));
                let is_written = !is_fact && written.contains(&name);
                let as_written = if is_written { AS_WRITTEN } else { 0.0 };
                let whole = self.whole(found.id, &asked, &fact);
                Some((found.score + whole + as_written, found.id, rule))
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let best = scored.first().map_or(0.0, |(score, ..)| *score);
        scored.retain(|(score, ..)| *score >= LEAST.max(best * SHARE));
        scored.into_iter().take(most).map(|(.., rule)| rule).collect()
    }

    /// The rule with this id.
    pub fn get(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// Ids that begin with `id`, else the nearest by spelling, else by meaning.
    pub fn near(&self, id: &str, most: usize) -> Vec<&str> {
        let ids = || self.rules.iter().map(|rule| rule.id.as_str());
        let mut near: Vec<&str> = ids().filter(|known| known.starts_with(id)).collect();
        near.extend(nearest(id, ids()));
        near.extend(
            self.search(&id.replace('-', " "), most, |_| true).iter().map(|it| it.id.as_str()),
        );
        let mut seen = HashSet::new();
        near.retain(|id| seen.insert(*id));
        near.truncate(most);
        near
    }

    /// Score of the longest name or alias that the question has in full; not one made of words for `fact`, the
    /// fact it asks for.
    fn whole(&self, index: usize, asked: &BTreeSet<String>, fact: &BTreeSet<String>) -> f32 {
        let called = self.called.get(index).map(Vec::as_slice).unwrap_or_default();
        let names = |terms: &&BTreeSet<String>| terms.is_subset(asked) && !terms.is_subset(fact);
        let held = called.iter().filter(names);
        let terms = held.map(BTreeSet::len).max().unwrap_or(0);
        f32::from(u8::try_from(terms).unwrap_or(u8::MAX)) * WHOLE
    }

    /// `term`, or the known one it is another form or a slip of.
    fn known_as(&self, term: String) -> String {
        if self.known.contains(&term) || term.len() < FORGIVEN {
            return term;
        }
        let shared = |known: &&String| {
            let same = term.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
            (same >= FORGIVEN && same + 3 >= term.len() && same + 3 >= known.len()).then_some(same)
        };
        let form = self.meant.iter().filter(|known| shared(known).is_some());
        let form = form.max_by_key(|known| (shared(known), Reverse(known.len())));
        let slip = || nearest(&term, self.meant.iter().map(String::as_str));
        form.map(String::as_str).or_else(slip).map(str::to_owned).unwrap_or(term)
    }
}

/// A name without what tells editions apart ("Hide (2014)").
pub fn bare(name: &str) -> &str {
    name.split(" (").next().unwrap_or(name)
}

/// Terms in one text, a blank between them: each word is looked at once.
#[derive(Default)]
struct Joined;

impl Tokenizer for Joined {
    fn tokenize(&self, text: &str) -> Vec<String> {
        text.split_ascii_whitespace().map(str::to_owned).collect()
    }
}
