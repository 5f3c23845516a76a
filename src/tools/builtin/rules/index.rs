//! Ranked search over a few hundred short rules: BM25 over name, aliases and text, plus a bonus for
//! a name or alias contained whole in the question. Unknown words match the nearest known one.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashSet},
};

use bm25::{
    Embedder, EmbedderBuilder, Embedding, Scorer, TokenEmbedder, TokenEmbedding, Tokenizer,
};
use rust_stemmers::{Algorithm, Stemmer};
use strsim::osa_distance;

use super::{edition::fifth_edition, facts::Fact};
use crate::{
    domain::Rule,
    logic::{
        language::{self, Language, List},
        words::{Words, fold},
    },
    yaml::nearest,
};

/// Mentions a match in the name is worth.
const NAME_WEIGHT: usize = 3;
/// BM25's b: low, so that many aliases do not hurt a rule.
const LENGTH: f32 = 0.3;
/// Bonus per term of a name or alias contained in the question.
const WHOLE: f32 = 2.0;
/// Bonus for a name written exactly: "grappled" is not "grapple".
const AS_WRITTEN: f32 = 3.0;
/// Rules below this share of the best score are dropped.
const SHARE: f32 = 0.3;
/// Minimum score of any result.
const LEAST: f32 = 2.0;
/// Scale for a rule that the question names.
const NAMED: Scale = Scale { least: 48, known: 15 };
/// Scale for a rule without its name or an alias in the question: stricter, because a word in a
/// rule's text proves little.
const UNNAMED: Scale = Scale { least: 70, known: 50 };
/// Weight of a word that no list knows: "teapot".
const FOREIGN: usize = 100;
/// Weight of an everyday word for a rule: "hide behind the sofa" may be about hiding.
const EVERYDAY: usize = 85;
/// Weight of a word that any question may have, for and against a rule: "richtig".
const SLIGHT: usize = 10;
/// Shortest first word that may be a name before a question ("Greymantle what is prone"): vocabularies lack
/// shorter words.
const SHORTEST: usize = 4;
/// Shortest term whose ending may differ from a known one.
const FORGIVEN: usize = 5;
/// Shortest terms that may have one typo, and two: "teapot" must not match "weapon".
const SLIPS: [usize; 2] = [6, 9];
/// Most words of an address before a question: "Old Greymantle, what is prone?".
const ADDRESS: usize = 3;

pub struct Index {
    rules: Vec<Rule>,
    pub terms: Terms,
    scorer: Scorer<usize, u64>,
    /// Each rule's name and aliases.
    called: Vec<Vec<Called>>,
    /// Each rule's terms, its category among them.
    has: Vec<HashSet<String>>,
    /// Terms of all names and texts.
    known: HashSet<String>,
    /// Sorted terms of names and aliases: candidates for typos.
    meant: Vec<String>,
}

/// A name or alias of a rule.
struct Called {
    /// Its folded words, a blank around each.
    written: String,
    terms: BTreeSet<String>,
}

/// How a rule is weighed against a question.
struct Scale {
    /// Minimum share of the question's weight that the rule's terms must have, in percent.
    least: usize,
    /// Weight, against the rule, of a word that only other rules have.
    known: usize,
}

/// A question, read for the search.
struct Asked {
    /// Terms, with their weights for a rule that has them.
    terms: BTreeMap<String, usize>,
    /// Terms that only say which fact is wanted: "the range of fireball" asks for fireball, despite
    /// a rule of ranges.
    fact: BTreeSet<String>,
    /// Its folded words, a blank around each.
    written: String,
}

impl Asked {
    /// True if enough of it is about a rule with the terms `has`. Terms that no rule knows weigh
    /// most against the rule. Terms for the fact, single letters and editions do not count.
    fn is_about(&self, has: &HashSet<String>, known: &HashSet<String>, scale: &Scale) -> bool {
        let tells = |term: &str| {
            !self.fact.contains(term)
                && term.chars().nth(1).is_some()
                && fifth_edition(term).is_none()
        };
        let (mut covered, mut all) = (0, 0);
        for (term, weight) in self.terms.iter().filter(|(term, _)| tells(term.as_str())) {
            let is_covered = has.contains(term);
            covered += if is_covered { *weight } else { 0 };
            all += match () {
                () if is_covered || *weight == SLIGHT => *weight,
                () if known.contains(term) => scale.known,
                () => FOREIGN,
            };
        }
        covered * 100 >= scale.least * all
    }

    /// Bonus of a rule for its longest name in the question, and for a name written exactly. Names made of terms of
    /// the fact do not count.
    fn bonus(&self, called: &[Called]) -> f32 {
        let named = called
            .iter()
            .filter(|it| it.terms.iter().all(|term| self.terms.contains_key(term)))
            .filter(|it| !it.terms.is_subset(&self.fact));
        let terms = named.map(|it| it.terms.difference(&self.fact).count()).max().unwrap_or(0);
        let is_written = called.iter().any(|it| {
            !it.terms.is_empty()
                && it.terms.is_disjoint(&self.fact)
                && self.written.contains(&it.written)
        });
        let as_written = if is_written { AS_WRITTEN } else { 0.0 };
        f32::from(u8::try_from(terms).unwrap_or(u8::MAX)) * WHOLE + as_written
    }
}

impl Index {
    /// Builds the index.
    pub fn new(rules: Vec<Rule>) -> Self {
        let terms = Terms::new();
        let mut called = Vec::with_capacity(rules.len());
        let mut has = Vec::with_capacity(rules.len());
        let mut texts = Vec::with_capacity(rules.len());
        let mut known = HashSet::new();
        let mut length = 0;
        for rule in &rules {
            let named: Vec<&str> = std::iter::once(bare(&rule.name))
                .chain([rule.name.as_str()])
                .chain(rule.aliases.iter().map(String::as_str))
                .collect();
            let names: Vec<Vec<String>> = named.iter().map(|it| terms.of(it)).collect();
            let body = terms.of(&rule.text);
            let name = names.first().map(Vec::as_slice).unwrap_or_default();
            let repeated = std::iter::repeat_n(name, NAME_WEIGHT - 1).flatten();
            let text: Vec<&str> =
                repeated.chain(names.iter().flatten()).chain(&body).map(String::as_str).collect();
            length += text.len();
            texts.push(text.join(" "));
            let own: HashSet<String> = names.iter().flatten().chain(&body).cloned().collect();
            known.extend(own.iter().cloned());
            has.push(own.into_iter().chain(terms.of(&rule.category)).collect());
            let names = named.iter().zip(names).map(|(name, terms)| Called {
                written: spaced(name),
                terms: BTreeSet::from_iter(terms),
            });
            called.push(names.collect::<Vec<_>>());
        }
        let average = length / rules.len().max(1);
        let average = f32::from(u16::try_from(average).unwrap_or(u16::MAX));
        let embedder: Embedder<u64, Joined> =
            EmbedderBuilder::with_avgdl(average).b(LENGTH).build();
        let mut scorer = Scorer::new();
        for (index, text) in texts.iter().enumerate() {
            scorer.upsert(&index, embedder.embed(text));
        }
        let meant: BTreeSet<&String> = called.iter().flatten().flat_map(|it| &it.terms).collect();
        let meant = meant.into_iter().cloned().collect();
        Self { rules, terms, scorer, called, has, known, meant }
    }

    /// Best rules among those `wanted`, at most `most`.
    pub fn search(
        &self,
        question: &str,
        most: usize,
        wanted: impl Fn(&Rule) -> bool,
    ) -> Vec<&Rule> {
        let asked = self.asked(question);
        let terms = asked.terms.keys();
        let query = terms.map(|term| TokenEmbedding { index: u64::embed(term), value: 1.0 });
        let mut scored: Vec<(f32, usize, &Rule)> = self
            .scorer
            .matches(&Embedding(query.collect()))
            .into_iter()
            .filter_map(|found| {
                let rule = self.rules.get(found.id).filter(|rule| wanted(rule))?;
                let bonus = asked.bonus(self.called.get(found.id)?);
                let scale = if bonus > 0.0 { &NAMED } else { &UNNAMED };
                let is_meant = asked.is_about(self.has.get(found.id)?, &self.known, scale);
                is_meant.then_some((found.score + bonus, found.id, rule))
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let best = scored.first().map_or(0.0, |(score, ..)| *score);
        scored.retain(|(score, ..)| *score >= LEAST.max(best * SHARE));
        scored.into_iter().take(most).map(|(.., rule)| rule).collect()
    }

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

    /// Reads `question`.
    fn asked(&self, question: &str) -> Asked {
        let question = self.without_address(question);
        let words = Words::of(question);
        let mut terms = BTreeMap::new();
        for (word, term) in self.terms.each(&words) {
            terms.entry(self.known_as(term, word)).or_insert_with(|| self.terms.weight(word));
        }
        let fact = Fact::asked(question).map(|(_, phrase)| self.terms.of(phrase));
        Asked { terms, fact: fact.into_iter().flatten().collect(), written: spaced(question) }
    }

    /// `question` without a name before it: "Greymantle, what is prone?".
    fn without_address<'q>(&self, question: &'q str) -> &'q str {
        if let Some((name, rest)) = question.split_once(',') {
            // An address has no word that a rule has.
            let is_address = Words::of(name).iter().count() <= ADDRESS
                && !self.terms.of(name).iter().any(|term| self.known.contains(term));
            if is_address && !self.terms.of(rest).is_empty() {
                return rest;
            }
        }
        let words = Words::of(question);
        let is_name =
            words.get(0).filter(|_| words.len() > 1).is_some_and(|word| self.is_name(word));
        let rest = question.get(words.source(0).end..).filter(|_| is_name);
        rest.unwrap_or(question)
    }

    /// True if neither rules nor languages know `word`.
    fn is_name(&self, word: &str) -> bool {
        let mut terms = self.terms.of(word).into_iter();
        word.len() >= SHORTEST
            && !language::is_word(word)
            && self.terms.weight(word) != SLIGHT
            && terms.next().is_some_and(|term| !self.known.contains(&self.known_as(term, word)))
    }

    /// `term` of `word`, or the known term it is a form or typo of. A word of a language is no typo.
    fn known_as(&self, term: String, word: &str) -> String {
        if self.known.contains(&term) || term.len() < FORGIVEN {
            return term;
        }
        let shared = |known: &&String| {
            let same = term.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
            (same >= FORGIVEN && same + 3 >= term.len() && same + 3 >= known.len()).then_some(same)
        };
        let form = self.meant.iter().filter(|known| shared(known).is_some());
        let form = form.max_by_key(|known| (shared(known), Reverse(known.len())));
        let slip = || self.slip(&term).filter(|_| !language::is_word(word));
        form.or_else(slip).cloned().unwrap_or(term)
    }

    /// The nearest term of names that begins like `term` and differs by no more typos than [`SLIPS`] allows:
    /// letters wrong, missing, added or swapped.
    fn slip(&self, term: &str) -> Option<&String> {
        let distance = |known: &String| {
            let most = SLIPS.iter().filter(|least| term.len().min(known.len()) >= **least).count();
            let may_be = known.len().abs_diff(term.len()) <= most
                && known.chars().next() == term.chars().next();
            may_be.then(|| osa_distance(term, known)).filter(|distance| *distance <= most)
        };
        let near = self.meant.iter().filter_map(|known| Some((distance(known)?, known)));
        near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
    }
}

/// The folded words of `text`, a blank around each.
fn spaced(text: &str) -> String {
    format!(" {} ", fold(text))
}

/// A name without its edition ("Hide (2014)").
pub fn bare(name: &str) -> &str {
    name.split(" (").next().unwrap_or(name)
}

/// Tokenizes space-separated terms.
#[derive(Default)]
struct Joined;

impl Tokenizer for Joined {
    fn tokenize(&self, text: &str) -> Vec<String> {
        text.split_ascii_whitespace().map(str::to_owned).collect()
    }
}

/// Words as the index knows them: folded, stemmed, without stop words.
pub struct Terms {
    stemmer: Stemmer,
    said_anyway: HashSet<&'static str>,
    /// Words of any question, folded.
    slight: HashSet<String>,
}

impl Terms {
    /// English stems; German endings stay, which [`Index`] tolerates.
    pub fn new() -> Self {
        let said_anyway = language::all(|it| it.in_every_rule_question).collect();
        let lists: [fn(&'static Language) -> List; 10] = [
            |it| it.in_any_question,
            |it| it.in_every_request,
            |it| it.function_words,
            |it| it.small_numbers.as_slice(),
            |it| it.fillers,
            |it| it.little,
            |it| it.plain,
            |it| it.roles,
            |it| it.calls,
            |it| it.tens.as_slice(),
        ];
        let slight = lists.into_iter().flat_map(language::all).map(fold).collect();
        Self { stemmer: Stemmer::create(Algorithm::English), said_anyway, slight }
    }

    pub fn of(&self, text: &str) -> Vec<String> {
        self.each(&Words::of(text)).map(|(_, term)| term).collect()
    }

    /// Words with their terms.
    fn each<'w>(&self, words: &'w Words) -> impl Iterator<Item = (&'w str, String)> {
        let kept = words.iter().filter(move |word| !self.said_anyway.contains(word));
        // The rules use American spelling.
        let stemmed =
            move |word: &str| self.stemmer.stem(&word.replace("armour", "armor")).into_owned();
        kept.map(move |word| (word, stemmed(word)))
    }

    /// Weight of `word`, folded, for a rule that contains it.
    fn weight(&self, word: &str) -> usize {
        match () {
            () if self.slight.contains(word) || word.bytes().all(|b| b.is_ascii_digit()) => SLIGHT,
            () if language::is_ordinary(word) => EVERYDAY,
            () => FOREIGN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_keep_what_they_ask_for() {
        let terms = Terms::new();
        assert_eq!(terms.of("Can I attack while frightened?"), ["attack", "frighten"]);
        assert_eq!(terms.of("What happens when I'm falling?"), ["fall"]);
        assert_eq!(terms.of("Plate armour AC"), terms.of("plate armor ac"));
        assert_eq!(
            terms.of("Kann ich angreifen, wenn ich verängstigt bin"),
            ["angreifen", "verangstigt"]
        );
    }
}
