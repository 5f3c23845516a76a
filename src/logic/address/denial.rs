//! Recognises people whom a speaker does not mean: "not you, Bartok", "ich rede nicht mit dir".
//!
//! Entry type: [`Denial`]. A denial is a clause, or its beginning up to a name or a new "I", that
//! consists only of a "not", the listener or a name, the speaker with a verb of meaning or talking,
//! and minor words. **Never**: takes a question ("why not you?") or "not now" for a denial.

use std::ops::Range;

use super::turning::{Hit, Turning, Who};
use crate::logic::language::{self, List, all, is_any, is_turning};

pub struct Denial<'u> {
    turning: &'u Turning<'u>,
}

/// A denial that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Denied {
    /// The people who are denied; empty: the listener.
    pub people: Vec<Who>,
    /// The person who is meant instead: "I was asking Mira".
    pub instead: Option<Who>,
    /// Index of the word behind it.
    pub end: usize,
}

/// A person asked to wait before another is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dismissed {
    /// The person.
    pub who: Who,
    /// Index of the name of the one called.
    pub end: usize,
}

/// Role of a word in such a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Not,
    /// "don't", which needs the speaker and a verb.
    Contracted,
    Listener,
    Speaker,
    /// A verb of meaning or talking; `is_whole`: a form such as "meant", which needs no speaker.
    Meaning {
        is_whole: bool,
    },
    /// A word beside such a verb.
    Helping,
    Name(Who),
    /// A minor word.
    Little,
}

impl<'u> Denial<'u> {
    pub const fn new(turning: &'u Turning<'u>) -> Self {
        Self { turning }
    }

    /// The people denied; empty: the listener. `None`: no denial.
    pub fn find(&self) -> Option<Denied> {
        let clauses = self.clauses();
        let (people, end) = clauses.iter().enumerate().find_map(|(at, clause)| {
            let (denied, end) = self.denied_in(clause)?;
            if !denied.is_empty() {
                return Some((denied, end));
            }
            // "Bartok, not you", "not you, Bartok"
            let before = at.checked_sub(1).and_then(|before| clauses.get(before));
            let behind =
                clauses.get(at + 1).filter(|behind| !self.turning.ends_sentence(behind.start));
            let named = [before, behind].into_iter().flatten();
            let mut named = named.map(|clause| (self.only_names(clause), clause.end.max(end)));
            Some(named.find(|it| !it.0.is_empty()).unwrap_or((denied, end)))
        })?;
        Some(Denied { people, instead: self.instead(end), end })
    }

    /// The person asked to wait, if another is called next: "not now, Bartok. Mira, what …".
    pub fn dismissed(&self) -> Option<Dismissed> {
        let [first, second, ..] = self.turning.hits else { return None };
        let is_possessive = |hit: &Hit| self.turning.words.is_possessive(hit.range.end - 1);
        let says_more = second.range.end < self.turning.words.len();
        if first.who == second.who || is_possessive(first) || is_possessive(second) || !says_more {
            return None;
        }
        let joins_names = |at: usize| self.joins(at) && !self.turning.ends_sentence(at);
        let (mut at, mut found) = (0, false);
        while at < second.range.start {
            let mut phrases = all(|it| it.turning.dismissing);
            let phrase = phrases.find_map(|phrase| self.turning.words.phrase_at(at, phrase));
            at = match phrase {
                _ if at == first.range.start => first.range.end,
                Some(count) => {
                    found = true;
                    at + count
                }
                None if self.part(at) == Some(Part::Little) && !joins_names(at) => at + 1,
                None => return None,
            };
        }
        found.then_some(Dismissed { who: first.who, end: second.range.start })
    }

    /// The person whom the speaker means instead, said from the word at `at` on: "I was asking Mira".
    fn instead(&self, at: usize) -> Option<Who> {
        let count = self.turning.words.len();
        let at = (at..count).find(|at| self.part(*at) != Some(Part::Little))?;
        let end = (at + 1..count).find(|at| self.turning.breaks(*at)).unwrap_or(count);
        let hit = self.turning.hits.iter().find(|hit| (at + 1..end).contains(&hit.range.start))?;
        let is_meaning = |at: usize| matches!(self.part(at), Some(Part::Meaning { .. }));
        let is_beside = |at: usize| {
            let is_small = matches!(self.part(at), Some(Part::Helping | Part::Little));
            let lists: [fn(&'static language::Turning) -> List; 3] =
                [|it| it.before_name, |it| it.lead_in, |it| it.wishes];
            let word = self.turning.words.get(at).unwrap_or_default();
            is_small || is_meaning(at) || lists.into_iter().any(|list| is_turning(list, word))
        };
        let is_meant = self.is_speaker(at)
            && !self.turning.words.is_possessive(hit.range.end - 1)
            && (at + 1..hit.range.start).all(is_beside)
            && (at + 1..end).any(is_meaning);
        is_meant.then_some(hit.who)
    }

    /// Splits the utterance at punctuation.
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

    /// The people named in a clause of only names; else empty.
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

    /// Number of parts of `clause`, if every word is a part.
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

    /// The people that `clause` denies, and the index behind the denial; empty: the listener.
    fn denied_in(&self, clause: &Range<usize>) -> Option<(Vec<Who>, usize)> {
        let parts = self.parts(clause);
        let has = |wanted: Part| parts.contains(&wanted);
        let is_to_listener = has(Part::Listener) && is_denial(&parts);
        let is_of_name = !has(Part::Listener)
            && parts.windows(2).any(|two| matches!(two, [Part::Not, Part::Name(_)]))
            && parts.iter().all(|part| matches!(part, Part::Not | Part::Name(_) | Part::Little));
        let is_to_end = self.words_of(clause) == parts.len();
        let end = self.end_of(clause, parts.len());
        let ends = is_to_end
            || matches!(parts.last(), Some(Part::Name(_)))
            || self.is_speaker(end)
            || self.is_called_next(end);
        let is_denied = (is_to_listener || is_of_name) && ends;
        is_denied.then(|| (parts.iter().filter_map(Part::name).collect(), end))
    }

    /// The parts at the beginning of `clause`; after the denied person only up to the speaker.
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
            let has_name = parts.iter().any(|it| it.name().is_some());
            let is_denied = has(Part::Not) && (has(Part::Listener) || has_name);
            // "not you Bartok, Mira": only names that are joined are denied together.
            let is_another = part.name().is_some() && has_name && !self.joins(at - 1);
            if is_denied && (part == Part::Speaker || is_another) {
                break;
            }
            parts.push(part);
            at = end;
        }
        parts
    }

    /// Index of the word after the first `count` parts of `clause`.
    fn end_of(&self, clause: &Range<usize>, count: usize) -> usize {
        let mut at = clause.start;
        for _ in 0..count {
            let hit = self.turning.hits.iter().find(|hit| hit.range.start == at);
            at = hit.map_or(at + 1, |hit| hit.range.end);
        }
        at
    }

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

    /// True if a name begins at `at`.
    fn is_called_next(&self, at: usize) -> bool {
        let is_whole = |hit: &Hit| !self.turning.words.is_possessive(hit.range.end - 1);
        self.turning.hits.iter().any(|hit| hit.range.start == at && is_whole(hit))
    }

    /// True if the word at `at` joins names: "and".
    fn joins(&self, at: usize) -> bool {
        self.turning.words.get(at).is_some_and(|word| is_any(|it| it.joining, word))
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

/// True if `parts`, which include the listener, deny.
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
