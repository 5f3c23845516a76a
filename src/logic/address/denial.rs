//! People that a speaker says they do not mean: "not you, Bartok", "ich rede nicht mit dir".
//!
//! Entry type: [`Denial`]. It is a clause, or the beginning of one up to a name or a new "I", of nothing
//! but a "not", the listener or a name, and what may stand beside them: the speaker with a verb of meaning
//! or talking, words of little weight. **Never**: takes a question ("why not you?") for one, or "not now".

use std::ops::Range;

use super::{turning::Turning, who::Who};
use crate::logic::language::{self, List, is_any, is_turning};

/// An utterance that is searched for denials.
pub struct Denial<'u> {
    turning: &'u Turning<'u>,
}

/// Role of a word in such a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// "not"
    Not,
    /// "don't", which needs the speaker and a verb.
    Contracted,
    /// The listener.
    Listener,
    /// The speaker.
    Speaker,
    /// A verb of meaning or talking; `is_whole`: a form such as "meant", which needs no speaker.
    Meaning { is_whole: bool },
    /// A word beside such a verb.
    Helping,
    /// A name.
    Name(Who),
    /// A word of little weight.
    Little,
}

impl<'u> Denial<'u> {
    /// Searches what `turning` has.
    pub const fn new(turning: &'u Turning<'u>) -> Self {
        Self { turning }
    }

    /// The people who are denied; empty: the listener. `None`: nothing is denied.
    pub fn find(&self) -> Option<Vec<Who>> {
        let clauses = self.clauses();
        clauses.iter().enumerate().find_map(|(at, clause)| {
            let denied = self.denied_in(clause)?;
            if !denied.is_empty() {
                return Some(denied);
            }
            // "Bartok, not you", "not you, Bartok"
            let before = at.checked_sub(1).and_then(|before| clauses.get(before));
            let behind =
                clauses.get(at + 1).filter(|behind| !self.turning.ends_sentence(behind.start));
            let named = [before, behind].into_iter().flatten();
            let named = named.map(|clause| self.only_names(clause)).find(|it| !it.is_empty());
            Some(named.unwrap_or_default())
        })
    }

    /// The utterance from punctuation to punctuation.
    fn clauses(&self) -> Vec<Range<usize>> {
        let count = self.turning.words.len();
        let mut clauses = Vec::new();
        let mut start = 0;
        for at in 1..=count {
            if at == count || self.turning.breaks(at) {
                clauses.push(start..at);
                start = at;
            }
        }
        clauses
    }

    /// The people named in a clause of nothing but names; else empty.
    fn only_names(&self, clause: &Range<usize>) -> Vec<Who> {
        let parts = self.parts(clause);
        let names: Vec<Who> = parts.iter().filter_map(Part::name).collect();
        if parts.iter().all(|part| matches!(part, Part::Name(_) | Part::Little))
            && self.words_of(clause) == parts.len()
        {
            names
        } else {
            Vec::new()
        }
    }

    /// Number of parts that `clause` has if each of its words is one.
    fn words_of(&self, clause: &Range<usize>) -> usize {
        let within = |range: &Range<usize>| range.start >= clause.start && range.end <= clause.end;
        let longer: usize = self
            .turning
            .hits
            .iter()
            .filter(|hit| within(&hit.range))
            .map(|hit| hit.range.len() - 1)
            .sum();
        clause.len() - longer
    }

    /// The people that `clause` denies; empty: the listener.
    fn denied_in(&self, clause: &Range<usize>) -> Option<Vec<Who>> {
        let parts = self.parts(clause);
        let has = |wanted: Part| parts.contains(&wanted);
        let is_to_listener = has(Part::Listener) && is_denial(&parts);
        let is_of_name = !has(Part::Listener)
            && parts.windows(2).any(|two| matches!(two, [Part::Not, Part::Name(_)]))
            && parts.iter().all(|part| matches!(part, Part::Not | Part::Name(_) | Part::Little));
        let is_to_end = self.words_of(clause) == parts.len();
        let ends = is_to_end
            || matches!(parts.last(), Some(Part::Name(_)))
            || self.is_speaker(self.end_of(clause, parts.len()));
        let is_denied = (is_to_listener || is_of_name) && ends;
        is_denied.then(|| parts.iter().filter_map(Part::name).collect())
    }

    /// The parts from the beginning of `clause` on, up to a word that is none or, behind what is denied, to
    /// the speaker.
    fn parts(&self, clause: &Range<usize>) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut at = clause.start;
        while at < clause.end {
            let hit = self.turning.hits.iter().find(|hit| hit.range.start == at);
            let Some((part, end)) = (match hit {
                Some(hit) if self.turning.words.is_possessive(hit.range.end - 1) => None,
                Some(hit) => Some((Part::Name(hit.who), hit.range.end)),
                None => self.part(at).map(|part| (part, at + 1)),
            }) else {
                break;
            };
            let has = |wanted: Part| parts.contains(&wanted);
            let is_denied = has(Part::Not)
                && (has(Part::Listener) || parts.iter().any(|it| it.name().is_some()));
            if part == Part::Speaker && is_denied {
                break;
            }
            parts.push(part);
            at = end;
        }
        parts
    }

    /// Index of the word behind the first `count` parts of `clause`.
    fn end_of(&self, clause: &Range<usize>, count: usize) -> usize {
        let mut at = clause.start;
        for _ in 0..count {
            let hit = self.turning.hits.iter().find(|hit| hit.range.start == at);
            at = hit.map_or(at + 1, |hit| hit.range.end);
        }
        at
    }

    /// The word at `at` as a part.
    fn part(&self, at: usize) -> Option<Part> {
        let word = self.turning.words.get(at)?;
        let is = |list: fn(&'static language::Turning) -> List| is_turning(list, word);
        Some(match () {
            () if is(|it| it.denying) => Part::Not,
            () if is(|it| it.denying_doers) => Part::Contracted,
            () if is(|it| it.addressed) => Part::Listener,
            () if is(|it| it.doers) => Part::Speaker,
            () if is(|it| it.meant) => Part::Meaning { is_whole: true },
            () if is(|it| it.meaning) => Part::Meaning { is_whole: false },
            () if is(|it| it.beside_meaning) => Part::Helping,
            () if is(|it| it.adverbs) || is_any(|it| it.openers, word) => Part::Little,
            () => return None,
        })
    }

    fn is_speaker(&self, at: usize) -> bool {
        self.turning.words.get(at).is_some_and(|word| is_turning(|it| it.doers, word))
    }
}

impl Part {
    fn name(&self) -> Option<Who> {
        match self {
            Self::Name(who) => Some(*who),
            _ => None,
        }
    }
}

/// True if `parts`, which have the listener, say that they are not meant.
fn is_denial(parts: &[Part]) -> bool {
    let has = |wanted: Part| parts.contains(&wanted);
    let first = |wanted: Part| parts.iter().position(|part| *part == wanted);
    let is_meant = has(Part::Meaning { is_whole: true });
    let speaker = first(Part::Speaker);
    // "didn't I ask you?"
    let is_question = first(Part::Listener) > speaker
        && speaker.and_then(|at| parts.get(at.checked_sub(1)?)).is_some_and(|before| {
            matches!(before, Part::Contracted | Part::Helping | Part::Meaning { .. })
        });
    if is_question {
        return false;
    }
    let speaks = speaker.is_some() && (is_meant || has(Part::Meaning { is_whole: false }));
    if speaks || is_meant {
        return has(Part::Not) || (speaks && has(Part::Contracted));
    }
    let is_bare = !parts
        .iter()
        .any(|part| matches!(part, Part::Contracted | Part::Speaker | Part::Meaning { .. }));
    // "not you", "nicht mit dir", "du nicht"
    let is_helped = has(Part::Helping);
    is_bare && has(Part::Not) && (!is_helped || first(Part::Not) < first(Part::Listener))
}
