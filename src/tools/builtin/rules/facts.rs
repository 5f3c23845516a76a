//! Kinds of facts that questions ask for: the range of a spell, the damage of a weapon.

use crate::logic::words::Words;

/// Score of a sentence that states the fact.
const HAS: usize = 4;
/// Score of a sentence that only mentions it.
const SPEAKS: usize = 1;

/// Most words in the gap of a phrase: "how hard does a heavy crossbow hit".
const GAP: usize = 4;

/// A kind of fact, by how it is asked for and how rules write it.
pub struct Fact {
    /// Phrases that ask for it, folded, in any language; up to [`GAP`] words may stand for "…".
    asked: &'static [&'static str],
    /// Lower-case words that follow a number ("feet"), in any language: a table's own rules may be
    /// German.
    units: &'static [&'static str],
    /// Words that state it without a number: "touch".
    words: &'static [&'static str],
    /// True if dice state it.
    is_dice: bool,
    /// True if a spell's first line of figures states it.
    is_figure: bool,
    /// True if rules always state it, so that its absence is an answer.
    is_told: bool,
}

/// The first kind that matches a question counts.
const FACTS: [Fact; 6] = [
    Fact {
        asked: &[
            "casting time",
            "time to cast",
            "take to cast",
            "zauberzeit",
            "zauberdauer",
            "zeitaufwand",
        ],
        units: &[
            "minute", "minutes", "hour", "hours", "action", "minuten", "stunde", "stunden",
            "aktion",
        ],
        words: &["action", "reaction", "aktion", "bonusaktion", "reaktion"],
        is_dice: false,
        is_figure: true,
        is_told: true,
    },
    Fact {
        asked: &["radius", "how big", "how large", "area of", "wie gross", "flache"],
        units: &["foot", "meter"],
        words: &["radius", "cone", "cube", "sphere", "kegel", "kugel"],
        is_dice: false,
        is_figure: false,
        is_told: false,
    },
    Fact {
        asked: &[
            "range",
            "ranges",
            "how far away",
            "how far",
            "reichweite",
            "wie weit weg",
            "wie weit",
        ],
        units: &[
            "feet", "foot", "mile", "miles", "meters", "metres", "meter", "metern", "fuß", "meilen",
        ],
        words: &["touch", "self", "berührung", "selbst"],
        is_dice: false,
        is_figure: true,
        is_told: true,
    },
    Fact {
        asked: &[
            "damage",
            "hit for",
            "hits for",
            "hit you for",
            "how hard … hit",
            "how hard … hits",
            "does … deal",
            "do … deal",
            "will … deal",
            "deals",
            "how much does … do",
            "how much do … do",
            "how much will … do",
            "how much does … hit",
            "schaden",
            "wie viel macht",
            "wieviel macht",
            "wie viel richtet … an",
            "haut … rein",
            "haut rein",
            "haut … zu",
            "tut … weh",
            "wie hart",
            "wie fest",
            "wie doll",
        ],
        units: &[],
        words: &["damage", "schaden"],
        is_dice: true,
        is_figure: false,
        is_told: true,
    },
    Fact {
        asked: &["duration", "how long", "wie lange", "wirkungsdauer", "dauer"],
        units: &[
            "minute", "minutes", "hour", "hours", "round", "rounds", "day", "days", "minuten",
            "stunde", "stunden", "runde", "runden", "tag", "tage",
        ],
        words: &["minute", "hour", "until", "stunde", "bis"],
        is_dice: false,
        is_figure: true,
        is_told: false,
    },
    Fact {
        asked: &["what level", "which level", "welcher grad", "welchen grad", "welche stufe"],
        units: &[],
        words: &["level", "cantrip", "grad", "zaubertrick"],
        is_dice: false,
        is_figure: true,
        is_told: false,
    },
];

impl Fact {
    /// The kind `question` asks for, and the phrase that asks.
    pub fn asked(question: &str) -> Option<(&'static Self, &'static str)> {
        let question = Words::of(question);
        let words: Vec<&str> = question.iter().collect();
        FACTS.iter().find_map(|fact| {
            let mut asked = fact.asked.iter().copied();
            let phrase = asked.find(|phrase| is_asked(phrase, &words))?;
            Some((fact, phrase))
        })
    }

    /// Score of `sentence` as an answer; 0: no such fact. `is_figures`: it is a spell's first line
    /// of figures.
    pub fn worth(&self, sentence: &str, is_figures: bool) -> usize {
        let small = sentence.to_lowercase();
        let words: Vec<&str> = small.split(|c: char| !c.is_alphanumeric()).collect();
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let has_number = words.windows(2).any(
            |pair| matches!(pair, [number, unit] if is_number(number) && self.units.contains(unit)),
        );
        let has_dice = self.is_dice && words.iter().any(|word| is_dice(word));
        let has_word = words.iter().any(|word| self.words.contains(word));
        match () {
            () if is_figures && !self.is_figure => 0,
            () if has_number || has_dice || is_figures && has_word => HAS + usize::from(is_figures),
            () if has_word => SPEAKS,
            () => 0,
        }
    }

    /// True if absence from the text means the spell or weapon has no such fact.
    pub const fn is_told(&self) -> bool {
        self.is_told
    }
}

/// True if `words` contain `phrase`, with a few others where it has a gap.
fn is_asked(phrase: &str, words: &[&str]) -> bool {
    let starts = |part: &str, words: &[&str]| {
        let mut words = words.iter();
        part.split(' ').all(|word| words.next() == Some(&word))
    };
    let (first, last) = phrase.split_once(" … ").unwrap_or((phrase, ""));
    let length = first.split(' ').count();
    (0..words.len()).any(|at| {
        let Some(rest) = words.get(at..).filter(|rest| starts(first, rest)) else { return false };
        let mut gaps = 1..=GAP;
        last.is_empty()
            || gaps.any(|gap| rest.get(length + gap..).is_some_and(|rest| starts(last, rest)))
    })
}

/// "8d6", "8w6"
fn is_dice(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    word.split_once(['d', 'w']).is_some_and(|(count, sides)| is_number(count) && is_number(sides))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_asked_for_in_two_languages() {
        let figures = "Level 3 evocation, action, 150 feet, no concentration.";
        let ball = "In a 20-foot-radius sphere, Dexterity save: 8d6 fire damage.";
        for (question, wanted) in [
            ("what's the range of fireball", figures),
            ("How far does fireball reach?", figures),
            ("Welche Reichweite hat Feuerball?", figures),
            ("what is the casting time of fireball", figures),
            ("which level is fireball", figures),
            ("how much damage does fireball do", ball),
            ("Wie viel Schaden macht Feuerball?", ball),
            ("how big is a fireball", ball),
            ("what does fireball hit for?", ball),
            ("how much does a fireball do", ball),
            ("Wie doll haut ein Feuerball rein?", ball),
        ] {
            let (fact, _) = Fact::asked(question).unwrap();
            let best =
                if fact.worth(figures, true) > fact.worth(ball, false) { figures } else { ball };
            assert_eq!(best, wanted, "{question}");
        }
        for question in ["what does fireball do", "how much do I carry", "how hard is it to hide"] {
            assert!(Fact::asked(question).is_none(), "{question}");
        }
    }
}
