//! Titles in wishes about music, also of tracks that do not exist: [`title_in`], [`title_behind`].

use crate::logic::{
    language::{Language, is_any},
    words::Words,
};

/// Shortest title in quotes, in bytes.
const QUOTED_MIN: usize = 4;
/// Shortest title in capitals, in words.
const CAPITALS_MIN: usize = 2;
/// Longest word without a capital in it, in bytes.
const SMALL_MAX: usize = 4;
/// Shortest word that shows a title to be foreign, in bytes; the vocabulary has no shorter ones.
const FOREIGN_MIN: usize = 4;
/// Words before fellow players of a game.
const AGAINST: [&str; 3] = ["with", "mit", "gegen"];

/// The title in `text` beside a verb of playing: in quotes, or with a capital behind "the song".
pub fn title_in<'t>(text: &'t str, words: &Words) -> Option<&'t str> {
    let verb = words.iter().position(|word| is_any(|it| it.music.performing, word))?;
    // "kannst du 'Der alte König' spielen?"
    let before = text.get(..words.source(verb).start)?.trim_end();
    let before = Some(before).filter(|it| it.ends_with(is_quote));
    let behind = text.get(words.source(verb).end..)?;
    if let Some(title) = quoted(behind).or_else(|| before.and_then(quoted)) {
        return Some(title);
    }
    let noun = (verb + 1..words.len())
        .find(|at| words.get(*at).is_some_and(|word| is_any(|it| it.music.nouns, word)))?;
    let title = text.get(words.source(noun).end..)?.strip_prefix(' ')?;
    let title = title.split(['.', '!', '?', ',', ';']).next()?.trim();
    // "spiel ein Lied Meister" calls the listener.
    let is_call = Words::of(title).iter().all(|word| is_any(|it| it.roles, word));
    (title.starts_with(char::is_uppercase) && !is_call).then_some(title)
}

fn is_quote(c: char) -> bool {
    "\"“”„‟«»‚‘’'".contains(c)
}

/// The first words of `text` in quotes.
fn quoted(text: &str) -> Option<&str> {
    let opens = |(at, c): &(usize, char)| {
        let is_free = text.get(..*at).is_some_and(|it| it.ends_with(char::is_whitespace));
        is_quote(*c) && is_free
    };
    let (at, quote) = text.char_indices().find(opens)?;
    let title = text.get(at + quote.len_utf8()..)?;
    let closes = |(end, c): &(usize, char)| {
        let next = title.get(*end + c.len_utf8()..).and_then(|rest| rest.chars().next());
        is_quote(*c) && !next.is_some_and(char::is_alphanumeric)
    };
    let (end, _) = title.char_indices().find(closes)?;
    title.get(..end).filter(|title| title.len() >= QUOTED_MIN)
}

/// The words in capitals behind the verb at `verb`: "Stairway to Heaven". German nouns have capitals,
/// so a German verb needs a foreign word.
pub fn title_behind<'t>(text: &'t str, words: &Words, verb: usize) -> Option<&'t str> {
    let is_beside =
        |at: &usize| words.get(*at).is_some_and(|word| is_any(|it| it.music.beside, word));
    let first = (verb + 1..words.len()).find(|at| !is_beside(at))?;
    let start = words.source(first).start;
    let clause = text.get(start..)?.split(['.', '!', '?', ',', ';', ':']).next()?;
    let is_great = |at: &usize| {
        text.get(words.source(*at)).is_some_and(|it| it.starts_with(char::is_uppercase))
    };
    let within = |at: &usize| words.source(*at).end <= start + clause.len();
    let last = (first..words.len()).take_while(within).filter(is_great).last()?;
    let fits = |at: usize| {
        let word = words.get(at).unwrap_or_default();
        is_great(&at) || word.len() <= SMALL_MAX && !AGAINST.contains(&word)
    };
    let is_foreign = |at: usize| {
        let word = words.get(at).unwrap_or_default();
        word.len() >= FOREIGN_MIN && !Language::german().vocabulary.has(word)
    };
    let is_english = Language::english().music.performing.contains(&words.get(verb)?);
    let title = text.get(start..words.source(last).end)?;
    let is_title = is_great(&first)
        && last + 1 - first >= CAPITALS_MIN
        && !words.get(first).is_some_and(|word| is_any(|it| it.music.nouns, word))
        && (first..=last).all(fits)
        && (is_english || (first..=last).any(is_foreign))
        && title.contains(char::is_lowercase)
        && !Words::of(title).iter().all(|word| is_any(|it| it.roles, word));
    is_title.then_some(title)
}
