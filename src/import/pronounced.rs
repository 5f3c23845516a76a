//! Pronunciations of names in texts: "Luna (pronounced LOO-nah)", "Vex, pronounced 'veks'", "Luna (LOO-nah)"
//! in a text or as the name itself, and lines such as "Pronunciation: LOO-nah".
//!
//! Entry functions: [`add`] (all drafts), [`pairs`] and [`is_key`] (fields of readers). Respellings stay as
//! they are written; `campaign/bringing/` leaves out those that no voice could read.

use std::{collections::BTreeMap, ops::Range};

use super::draft::{Drafts, EntityDraft, NpcDraft, Passage, RelationTarget};

/// Property of an entity with its pronunciation.
pub const PROPERTY: &str = "pronunciation";
/// Keys and labels before a respelling, in lower case without separators.
const KEYS: &[&str] = &["aussprache", "pronounced", "pronunciation"];
/// Words before a respelling in brackets.
const MARKS: &[&str] = &["pronounced", "pronunciation", "pron.", "ausgesprochen", "aussprache"];
/// Words before a respelling in a sentence.
const VERBS: &[&str] = &["pronounced", "ausgesprochen"];
/// Words between those and a respelling.
const FILLERS: &[&str] = &["as ", "like ", "wie "];
/// Quotation marks.
const QUOTES: &[char] = &['"', '\'', '“', '”', '„', '‘', '’', '«', '»'];
/// Longest phrase about a pronunciation, in bytes; longer ones are about something else.
const PHRASE_MAX: usize = 200;
/// Most texts in brackets and verbs of a text that are looked at.
const PLACES_MAX: usize = 2_000;

/// True for a key, in lower case without separators, whose value is a respelling.
pub fn is_key(bare: &str) -> bool {
    KEYS.contains(&bare)
}

/// Words of `name` with their respellings, if `said` respells each, else all of `name`. One respelling of
/// several words has a blank word: it is for the distinctive one.
pub fn pairs(name: &str, said: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = name.split_whitespace().map(bare_word).collect();
    let respelled: Vec<&str> = said.split_whitespace().collect();
    let owned = |word: &str, said: &str| (word.to_owned(), said.to_owned());
    if words.len() == respelled.len() {
        return words.into_iter().zip(respelled).map(|(word, said)| owned(word, said)).collect();
    }
    match respelled.as_slice() {
        [] => Vec::new(),
        [one] => vec![owned("", one)],
        _ => vec![owned(name, said)],
    }
}

/// Takes pronunciations out of names and lines of their own, and notes those in sentences.
pub fn add(drafts: &mut Drafts) {
    // Sources by the names that were shortened.
    let mut shortened: BTreeMap<String, String> = BTreeMap::new();
    for draft in &mut drafts.npcs {
        let before = draft.name.clone();
        of_npc(draft);
        if draft.name != before {
            shortened.insert(before, draft.source.clone());
        }
    }
    for draft in &mut drafts.entities {
        let before = draft.name.clone();
        of_entity(draft);
        if draft.name != before {
            shortened.insert(before, draft.source.clone());
        }
    }
    for relation in &mut drafts.relations {
        if let RelationTarget::Name(name) = &relation.to
            && let Some(source) = shortened.get(name)
        {
            relation.to = RelationTarget::Source(source.clone());
        }
    }
}

fn of_npc(draft: &mut NpcDraft) {
    let NpcDraft { name, aliases, personality, knowledge, pronunciation, .. } = draft;
    let of_name = out_of_name(name).map(|said| pairs(name, &said));
    let mut names: Vec<&str> = aliases.iter().map(String::as_str).collect();
    names.push(name.as_str());
    let words = name.split_whitespace().map(bare_word);
    names.extend(words.filter(|it| it.len() > 2 && it.starts_with(char::is_uppercase)));
    let texts = personality.iter_mut().chain(knowledge.iter_mut());
    let of_text = in_texts(texts, name.as_str(), names).map(|(called, said)| pairs(&called, &said));
    personality.retain(|it| !it.text.is_empty());
    knowledge.retain(|it| !it.text.is_empty());
    if pronunciation.is_empty() {
        *pronunciation = of_name.or(of_text).unwrap_or_default();
    }
}

fn of_entity(draft: &mut EntityDraft) {
    let EntityDraft { name, aliases, text, properties, .. } = draft;
    let of_name = out_of_name(name);
    aliases.retain(|it| *it != *name);
    let of_text = in_texts(text.iter_mut(), name.as_str(), vec![name.as_str()]);
    text.retain(|it| !it.text.is_empty());
    let said = of_name.or(of_text.map(|(_, said)| said));
    if let Some(said) = said.filter(|_| !properties.iter().any(|(key, _)| key == PROPERTY)) {
        properties.push((PROPERTY.to_owned(), said));
    }
}

/// Takes the pronunciation out of a name such as "Luna (LOO-nah)".
fn out_of_name(name: &mut String) -> Option<String> {
    let end = name.find(['(', ','])?;
    let before = Some(name.get(..end)?.trim().to_owned()).filter(|it| !it.is_empty())?;
    let found = found(name.as_str(), &[before.as_str()])?;
    name.replace_range(found.at, "");
    Some(found.said)
}

/// First pronunciation in `texts` of one of `names`: the name, and its respelling. Removes lines that only
/// give the one of `name`.
fn in_texts<'p>(
    texts: impl Iterator<Item = &'p mut Passage>,
    name: &str,
    mut names: Vec<&str>,
) -> Option<(String, String)> {
    // The longest name that fits is meant.
    names.sort_by_key(|it| std::cmp::Reverse(it.len()));
    names.retain(|it| !it.trim().is_empty());
    let mut first: Option<(String, String)> = None;
    for passage in texts {
        let of_line = take_line(&mut passage.text, name).map(|said| (name.to_owned(), said));
        first = first.or(of_line);
        if first.is_none() {
            let found = found(&passage.text, &names);
            first = found.map(|it| (it.called.to_owned(), it.said));
        }
    }
    first
}

/// Takes lines such as "Pronunciation: LOO-nah" out of `text`; the first respelling.
fn take_line(text: &mut String, name: &str) -> Option<String> {
    let said = text.lines().find_map(|line| labelled(line, name))?;
    let rest: Vec<&str> = text.lines().filter(|line| labelled(line, name).is_none()).collect();
    *text = rest.join("\n").trim().to_owned();
    Some(said)
}

fn labelled(line: &str, name: &str) -> Option<String> {
    let line = line.trim().trim_start_matches(['-', '*', '[', ' ']).trim_end_matches(']');
    let (label, value) = line.split_once(':').filter(|_| line.len() <= PHRASE_MAX)?;
    let label: String = label.chars().filter(|c| c.is_alphanumeric()).collect();
    let value = value.trim_matches(['*', ' ']);
    let is_said = is_key(&label.to_lowercase()) && may_respell(value, name);
    is_said.then(|| unquoted(value)).filter(|it| !it.is_empty())
}

#[derive(Debug, PartialEq, Eq)]
struct Respelled<'n> {
    /// The name in front.
    called: &'n str,
    said: String,
    /// From behind the name to the end of the phrase.
    at: Range<usize>,
}

/// First pronunciation in `text` directly behind one of `names`.
fn found<'n>(text: &str, names: &[&'n str]) -> Option<Respelled<'n>> {
    let mut brackets = text.match_indices('(').take(PLACES_MAX);
    let first = brackets.find_map(|(at, _)| in_brackets(text, at, names));
    first.or_else(|| {
        VERBS.iter().find_map(|verb| {
            let mut places = text.match_indices(*verb).take(PLACES_MAX);
            places.find_map(|(at, _)| in_sentence(text, at..at + verb.len(), names))
        })
    })
}

/// The pronunciation in the brackets that open at `at`.
fn in_brackets<'n>(text: &str, at: usize, names: &[&'n str]) -> Option<Respelled<'n>> {
    let (called, from) = called(text.get(..at)?, names)?;
    let (inside, _) = window(text, at + 1).split_once(')')?;
    let end = at + 1 + inside.len() + 1;
    let phrase = inside.split([',', ';']).next().unwrap_or_default().trim();
    let said = match marked(phrase) {
        Some(said) => Some(said).filter(|it| may_respell(it, called)),
        None => Some(phrase).filter(|it| is_in_syllables(it)),
    };
    let said = said.map(unquoted).filter(|it| !it.is_empty())?;
    Some(Respelled { called, said, at: from..end })
}

/// The pronunciation behind a verb in a sentence: quoted, or in syllables.
fn in_sentence<'n>(text: &str, verb: Range<usize>, names: &[&'n str]) -> Option<Respelled<'n>> {
    let before = text.get(..verb.start)?.trim_end();
    let links = [",", " is", " wird"];
    let before = links.iter().find_map(|it| before.strip_suffix(it)).unwrap_or(before);
    let (called, from) = called(before, names)?;
    let rest = window(text, verb.end);
    let phrase = without_filler(rest.trim_start());
    let start = verb.end + (rest.len() - phrase.len());
    let said = match phrase.strip_prefix(QUOTES) {
        Some(quoted) => {
            // An apostrophe inside a word ends nothing.
            let (end, mark) = quoted.match_indices(QUOTES).find(|(at, _)| {
                let after = quoted.get(*at..).and_then(|it| it.chars().nth(1));
                !after.is_some_and(char::is_alphanumeric)
            })?;
            phrase.get(..phrase.len() - quoted.len() + end + mark.len())?
        }
        None => {
            let word = phrase.split(|c: char| c.is_whitespace() || ",.;:!?".contains(c)).next()?;
            Some(word).filter(|it| is_in_syllables(it))?
        }
    };
    let end = start + said.len();
    Some(unquoted(said)).filter(|it| !it.is_empty()).map(|said| Respelled {
        called,
        said,
        at: from..end,
    })
}

/// The name that `before` ends with, and where it ends.
fn called<'n>(before: &str, names: &[&'n str]) -> Option<(&'n str, usize)> {
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || "*_\"”".contains(c));
    let is_last = |name: &&&str| {
        let start = before.len().checked_sub(name.len());
        let split = start.and_then(|at| before.split_at_checked(at));
        split.is_some_and(|(rest, last)| {
            last.eq_ignore_ascii_case(name) && !rest.ends_with(char::is_alphanumeric)
        })
    };
    names.iter().find(is_last).map(|name| (*name, before.len()))
}

/// The rest of a phrase that begins with a mark such as "pronounced".
fn marked(phrase: &str) -> Option<&str> {
    MARKS.iter().find_map(|mark| {
        let (first, rest) = phrase.split_at_checked(mark.len())?;
        let is_mark = first.eq_ignore_ascii_case(mark) && !rest.starts_with(char::is_alphanumeric);
        is_mark.then(|| without_filler(rest.trim_start_matches([':', ' '])))
    })
}

fn without_filler(phrase: &str) -> &str {
    FILLERS.iter().find_map(|it| phrase.strip_prefix(it)).unwrap_or(phrase).trim_start()
}

/// True if `said` may stand for `name`: quoted, in syllables or signs, or hardly more words.
fn may_respell(said: &str, name: &str) -> bool {
    let words = |text: &str| text.split_whitespace().count();
    said.starts_with(QUOTES) || said.contains(['-', '/', '[']) || words(said) <= words(name) + 1
}

/// True for "LOO-nah": syllables with hyphens, of which some are stressed by capitals.
fn is_in_syllables(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphabetic() || matches!(c, '-' | ' ' | '\'' | '’');
    let syllables = || text.split(['-', ' ']).filter(|it| !it.is_empty());
    let is_stressed = |it: &str| it.chars().count() > 1 && !it.contains(char::is_lowercase);
    let is_weak = |it: &str| !it.contains(char::is_uppercase);
    text.contains('-')
        && text.chars().all(is_plain)
        && syllables().all(|it| is_stressed(it) || is_weak(it))
        && syllables().any(is_stressed)
        && syllables().any(is_weak)
}

/// `said` without quotation marks around it, with plain apostrophes.
fn unquoted(said: &str) -> String {
    said.trim().trim_matches(QUOTES).trim().replace('’', "'")
}

/// A word without marks around it.
fn bare_word(word: &str) -> &str {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    if bare.is_empty() { word } else { bare }
}

fn window(text: &str, from: usize) -> &str {
    let rest = text.get(from..).unwrap_or_default();
    let rest = rest.get(..rest.floor_char_boundary(PHRASE_MAX)).unwrap_or_default();
    rest.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn npc(name: &str, text: &str) -> NpcDraft {
        let passage = Passage { from: "description".to_owned(), text: text.to_owned() };
        let personality = vec![passage];
        let mut draft = NpcDraft { name: name.to_owned(), personality, ..NpcDraft::default() };
        of_npc(&mut draft);
        draft
    }

    fn said(name: &str, text: &str) -> String {
        let pairs = npc(name, text).pronunciation.into_iter();
        pairs.map(|(word, said)| format!("{word}={said}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pronunciation_is_found_behind_the_name() {
        for (name, text, wanted) in [
            ("Luna", "Luna (pronounced LOO-nah) sells maps.", "Luna=LOO-nah"),
            ("Luna", "She is luna (LOO-nah; she/her).", "Luna=LOO-nah"),
            ("Vex", "Vex, pronounced 'veks', is old.", "Vex=veks"),
            ("Vex", "Vex is pronounced “v'eks”.", "Vex=v'eks"),
            ("K'Thar", "K'Thar, ausgesprochen wie KAH-tar, lacht.", "K'Thar=KAH-tar"),
            ("Luna Moon", "Luna (LOO-nah) Moon.", "Luna=LOO-nah"),
            ("Luna Moon", "Luna Moon (LOO-nah MOON).", "Luna=LOO-nah Moon=MOON"),
            ("Luna Moon", "Luna Moon (pronounced LOO-nah moon).", "Luna=LOO-nah Moon=moon"),
            ("Greymantle", "Greymantle (pronounced gray mantle)", "Greymantle=gray mantle"),
            ("Luna", "Luna (pronounced /ˈluː.nə/)", "Luna=/ˈluː.nə/"),
        ] {
            assert_eq!(said(name, text), wanted, "{text}");
        }
    }

    #[test]
    fn other_words_behind_a_name_are_no_respelling() {
        for text in [
            "Luna (HALF-ORC) waits.",
            "Luna (half-orc) waits.",
            "Luna, pronounced dead a year ago, waits.",
            "Luna (pronounced dead by all the priests) waits.",
            "Mara (MAH-rah) waits.",
            "Moonluna (LOO-nah)",
            "Luna has pronounced cheekbones.",
        ] {
            let draft = npc("Luna", text);
            assert_eq!((draft.pronunciation.len(), draft.personality[0].text.as_str()), (0, text));
        }
    }

    #[test]
    fn line_and_name_lose_the_pronunciation() {
        let draft = npc("Luna (LOO-nah)", "Age: 30\n- **Aussprache:** LOO-na\nA mage.");
        assert_eq!(draft.name, "Luna");
        assert_eq!(draft.pronunciation, [("Luna".to_owned(), "LOO-nah".to_owned())]);
        assert_eq!(draft.personality[0].text, "Age: 30\nA mage.");
        let draft = npc("Luna Moon", "Pronunciation: LOO-nah");
        assert_eq!(draft.pronunciation, [(String::new(), "LOO-nah".to_owned())]);
        assert!(draft.personality.is_empty(), "{draft:?}");
        let text = "Pronunciation: slow, with a heavy accent of the north";
        assert_eq!(npc("Luna", text).personality[0].text, text);
    }

    proptest! {
        #[test]
        fn any_text_is_read(
            name in "[ (,)'a-cÄß-]{0,6}",
            text in "[ (,)'a-cÄßA-]{0,40}(pronounced)?[ 'a-c’-]{0,9}",
        ) {
            npc(&name, &text);
        }
    }
}
