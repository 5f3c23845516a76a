//! Regular expressions, parsed but not compiled: compiling takes far longer.
//!
//! Entry types: [`ParsedPattern`] and [`Needed`], the texts without which a pattern matches nothing. Patterns are
//! parsed when files are loaded, and compiled when a text has what they need.

use regex_syntax::{
    Parser,
    hir::{Class, ClassUnicode, Hir, HirKind},
};

/// Bytes of one state of a compiled pattern (`regex-automata` 0.4).
const STATE: u64 = 32;
/// States for a byte of text in either case; a character may have three forms ("k", "K" and the kelvin sign).
const LITERAL: u64 = 4;
/// Bits of a character that its last byte in UTF-8 has.
const BLOCK: u32 = 6;

/// A pattern that was parsed.
#[derive(Debug)]
pub struct ParsedPattern(Hir);

impl ParsedPattern {
    /// `None`: `pattern` is not a regular expression.
    pub fn of(pattern: &str) -> Option<Self> {
        Parser::new().parse(pattern).ok().map(Self)
    }

    /// Names of its groups; unnamed ones have their number.
    pub fn groups(&self) -> Vec<String> {
        let mut groups = vec!["0".to_owned()];
        add_groups(&self.0, &mut groups);
        groups
    }

    /// Estimated bytes of its states when compiled, rather too many than too few.
    pub fn bytes(&self) -> u64 {
        states(&self.0).saturating_mul(STATE)
    }

    /// Texts without which it matches nothing.
    pub fn needed(&self) -> Needed {
        Needed::of(&self.0)
    }
}

fn add_groups(hir: &Hir, groups: &mut Vec<String>) {
    if let HirKind::Capture(group) = hir.kind() {
        let index = usize::try_from(group.index).unwrap_or(usize::MAX);
        // A group that can never match ("(a){0}") has been left out.
        while groups.len() <= index {
            groups.push(groups.len().to_string());
        }
        if let (Some(name), Some(named)) = (&group.name, groups.get_mut(index)) {
            *named = name.to_string();
        }
    }
    for sub in hir.kind().subs() {
        add_groups(sub, groups);
    }
}

/// States of a compiled pattern.
fn states(hir: &Hir) -> u64 {
    let all = |subs: &[Hir]| {
        subs.iter().fold(2, |sum: u64, sub| sum.saturating_add(states(sub)).saturating_add(1))
    };
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => count(literal.0.len()).saturating_mul(LITERAL),
        HirKind::Class(Class::Bytes(class)) => count(class.ranges().len()).saturating_add(1),
        HirKind::Class(Class::Unicode(class)) => states_of_class(class),
        HirKind::Capture(group) => states(&group.sub).saturating_add(2),
        HirKind::Repetition(repeated) => {
            let copies = repeated.max.unwrap_or(repeated.min).max(1);
            states(&repeated.sub).saturating_add(2).saturating_mul(u64::from(copies))
        }
        HirKind::Concat(subs) | HirKind::Alternation(subs) => all(subs),
    }
}

/// States for a class: one for the last byte of each of its sequences in UTF-8, and those of the bytes before,
/// which neighbours share.
fn states_of_class(class: &ClassUnicode) -> u64 {
    let (mut states, mut before) = (2, None);
    for range in class.ranges() {
        let (start, end) = (u32::from(range.start()), u32::from(range.end()));
        let shares = |bits: u32| start >> bits == end >> bits;
        // A range is one byte sequence within a block, and several across blocks, at most these.
        states += if shares(BLOCK) {
            1
        } else if shares(2 * BLOCK) {
            10
        } else if shares(3 * BLOCK) {
            14
        } else {
            40
        };
        if before != Some(start >> BLOCK) && start >= 0x80 {
            states += if start < 0x800 { 1 } else { 2 };
        }
        before = Some(end >> BLOCK);
    }
    states
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Texts, case aside, without which a pattern matches nothing.
#[derive(Debug, PartialEq, Eq)]
pub enum Needed {
    /// It may match anything.
    Nothing,
    /// This text, made by [`caseless`].
    Text(String),
    /// All of these.
    All(Vec<Needed>),
    /// One of these.
    Any(Vec<Needed>),
}

impl Needed {
    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => Self::Nothing,
            HirKind::Literal(literal) => std::str::from_utf8(&literal.0)
                .map_or(Self::Nothing, |text| Self::Text(caseless(text))),
            HirKind::Repetition(repeated) if repeated.min == 0 => Self::Nothing,
            HirKind::Repetition(repeated) => Self::of(&repeated.sub),
            HirKind::Capture(group) => Self::of(&group.sub),
            HirKind::Concat(subs) => {
                let all = subs.iter().map(Self::of).filter(|it| *it != Self::Nothing);
                let all: Vec<Self> = all.collect();
                if all.is_empty() { Self::Nothing } else { Self::All(all) }
            }
            HirKind::Alternation(subs) => {
                let any: Vec<Self> = subs.iter().map(Self::of).collect();
                if any.contains(&Self::Nothing) { Self::Nothing } else { Self::Any(any) }
            }
        }
    }

    /// True if `text`, made by [`caseless`], contains the needed texts.
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Nothing => true,
            Self::Text(needed) => text.contains(needed.as_str()),
            Self::All(all) => all.iter().all(|it| it.is_in(text)),
            Self::Any(any) => any.iter().any(|it| it.is_in(text)),
        }
    }
}

/// `text` without the difference of upper and lower case: characters that a pattern takes for each other where
/// case is ignored become the same ("ſ" and "s", "ẞ" and "ß").
pub fn caseless(text: &str) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::RegexBuilder;

    use super::*;

    fn parsed(pattern: &str) -> ParsedPattern {
        ParsedPattern::of(pattern).unwrap()
    }

    #[test]
    fn groups_are_those_of_the_compiled_pattern() {
        for pattern in [
            "a",
            "(a)(?<name>b)|(c)",
            "(?<first>a(?:b(c))+)*",
            r"bet (?:you )?(\w+) (?P<coin>gold|silver)",
            "(a){0}(b)",
        ] {
            let compiled = regex::Regex::new(pattern).unwrap();
            let names = compiled.capture_names().enumerate();
            let names = names.map(|(at, it)| it.map_or_else(|| at.to_string(), str::to_owned));
            assert_eq!(parsed(pattern).groups(), names.collect::<Vec<_>>(), "{pattern}");
        }
        assert!(ParsedPattern::of("a(").is_none() && ParsedPattern::of(r"\p{Nonsense}").is_none());
    }

    #[test]
    fn estimated_size_suffices_to_compile() {
        for pattern in [
            "a",
            r"\w",
            r"\W*$",
            r"(?:\w+ ){0,4}name\b",
            r"\bi.m (?<name>(?-i:\p{Lu}\p{Ll}+))",
            ".{20}",
            r"[a-zà-ž]{3,}kiss|[^x]",
            "gewürfelt|geworfen|wirf",
        ] {
            let bytes = parsed(pattern).bytes();
            let limit = usize::try_from(bytes).unwrap() * 2 + 1_000;
            let mut builder = RegexBuilder::new(pattern);
            let compiled = builder.case_insensitive(true).size_limit(limit).build();
            assert!(compiled.is_ok(), "{pattern} takes more than {limit} bytes");
        }
        assert!(parsed(r"\w{1000}").bytes() > 10 << 20);
    }

    #[test]
    fn needed_texts_are_found_in_either_case() {
        let name = parsed(r".*\b(?:who am i|what (?:is|was) (?:\w+ )*my name)\b.*").needed();
        for (text, has) in [
            ("Who AM I?", true),
            ("so what was really my name", true),
            ("what is my mane", false),
            ("a mug of ale", false),
        ] {
            assert_eq!(name.is_in(&caseless(text)), has, "{text}");
        }
        assert_eq!(parsed(".*").needed(), Needed::Nothing);
        assert_eq!(parsed("a|b*").needed(), Needed::Nothing);
        assert!(parsed("straße").needed().is_in(&caseless("STRAẞE")));
    }

    /// True if `pattern` matches `text`, which lacks what it is said to need.
    fn is_overlooked(pattern: &str, text: &str) -> bool {
        let compiled = RegexBuilder::new(pattern).case_insensitive(true).build();
        let (Ok(compiled), Some(parsed)) = (compiled, ParsedPattern::of(pattern)) else {
            return false;
        };
        compiled.is_match(text) && !parsed.needed().is_in(&caseless(text))
    }

    proptest! {
        #[test]
        fn matching_texts_have_what_is_needed(
            pattern in "([a-cA-Cßſk\u{212a}σ]|\\(a\\|b\\)|\\(ab\\)\\?|c\\+|[.]|b\\{2\\}|\\|){1,8}",
            text in "[abcABCßẞsſkK\u{212a}σςΣ]{0,10}",
        ) {
            prop_assert!(!is_overlooked(&pattern, &text), "/{}/ in '{}'", pattern, text);
        }

        #[test]
        fn needed_texts_respect_flags_and_folds(
            pattern in "([aksσßſ\u{212a}\u{fb05}İıǆ]|\\\\b|\\^|\\$|\\(\\?i:[aks]\\)|\\(\\?-i:[AKS]\\)\
             |\\[ks\\]|a\\{0\\}|\\(ak\\|\\)|\\(ak\\|s\\+\\?\\)|\\(\\?:ks\\)\\{1,2\\}|\\|){1,8}",
            text in "[aAkKsSſ\u{212a}σςΣßẞ\u{fb05}\u{fb06}İIıiǆǅǄ ]{0,10}",
        ) {
            prop_assert!(!is_overlooked(&pattern, &text), "/{}/ in '{}'", pattern, text);
        }
    }
}
