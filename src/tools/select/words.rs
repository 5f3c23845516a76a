//! Stemmed words of tools and players: accents folded, endings cut, English equivalents
//! added to German table terms. Tools are mostly described in English and players speak either
//! language, so both sides are processed alike.

use rust_stemmers::{Algorithm, Stemmer};

use crate::logic::{language, words::Words};

/// Longest word in bytes: stemming is quadratic in a word's length.
const LONGEST_WORD: usize = 64;
/// Longest text in bytes.
const LONGEST_TEXT: usize = 64 << 10;
/// Most words of an utterance or search: a long message has 400, and each takes microseconds of the
/// turn.
const MOST_WORDS: usize = 1_000;
/// Most words of a tool's description and parameter names: few have a hundred, and other servers
/// wait during indexing.
const MOST_OF_A_TOOL: usize = 300;

/// The meaningful words of a text.
pub fn of_text(text: &str) -> Vec<String> {
    stems(text, MOST_WORDS)
}

/// Stems of the first `most` meaningful words.
fn stems(text: &str, most: usize) -> Vec<String> {
    let (english, german) =
        (Stemmer::create(Algorithm::English), Stemmer::create(Algorithm::German));
    let stem = |word: &str| german.stem(&english.stem(word)).into_owned();
    let mut stems = Vec::new();
    let says_nothing = |word: &&str| language::is_any(|it| it.in_every_request, word);
    let text = &text[..text.floor_char_boundary(LONGEST_TEXT)];
    let is_word = |word: &&str| word.len() <= LONGEST_WORD && !says_nothing(word);
    for word in Words::of(text).iter().take(most).filter(is_word) {
        stems.push(stem(word));
        if is_dice(word) {
            stems.extend(["dice", "roll"].map(stem));
        }
        let known = language::in_english().filter(|(theirs, _)| means(word, theirs));
        stems.extend(known.flat_map(|(_, english)| english.split(' ')).map(stem));
    }
    stems
}

/// The words of a name, split at `_`, `-`, `.` and inside camelCase.
pub fn of_name(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let starts_word = c.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || before.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase()));
        if starts_word {
            spaced.push(' ');
        }
        spaced.push(c);
        before = c;
    }
    of_text(&spaced)
}

/// All words of a tool, its name's twice, separated by spaces.
pub fn words_of(
    identity: &str,
    description: &str,
    categories: &str,
    parameters: &serde_json::Value,
) -> String {
    let name = of_name(identity);
    let mut all = [name.clone(), name].concat();
    all.extend(stems(description, MOST_OF_A_TOOL));
    all.extend(of_name(categories).into_iter().take(MOST_OF_A_TOOL));
    let properties = parameters.get("properties").and_then(serde_json::Value::as_object);
    let names = properties.into_iter().flatten().flat_map(|(name, _)| of_name(name));
    // Lazily: words beyond the bound are not processed.
    all.extend(names.take(MOST_OF_A_TOOL));
    all.join(" ")
}

/// "d20", "2d6", "w6", "3w8".
fn is_dice(word: &str) -> bool {
    let sides = word.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['d', 'w']);
    sides.is_some_and(|sides| !sides.is_empty() && sides.chars().all(|c| c.is_ascii_digit()))
}

/// True if `word` is `known`, a form of it, or a compound with it: up to three letters must match
/// whole, four match a beginning, more match anywhere.
fn means(word: &str, known: &str) -> bool {
    match known.len() {
        0..4 => word == known,
        4 => word.starts_with(known),
        _ => word.contains(known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        assert_eq!(of_name("search_session-history"), of_text("search session history"));
        assert_eq!(of_name("setHTTPTimeout2Retries"), of_text("set HTTP Timeout2 Retries"));
        assert_eq!(of_name("home.set_temperature"), of_text("home set temperature"));
    }

    #[test]
    fn endings_and_accents_make_no_difference() {
        for (one, other) in [
            ("rolling", "rolls"),
            ("Spells", "spell"),
            ("remembered", "remembering"),
            ("Pokémon", "pokemon"),
            ("Fähigkeiten", "fahigkeit"),
        ] {
            assert_eq!(of_text(one), of_text(other), "{one} / {other}");
        }
    }

    #[test]
    fn german_words_include_english_equivalents() {
        for (german, english) in [
            ("Würfle für mich!", "roll"),
            ("Was sagen die Zauberregeln?", "rule"),
            ("Spielst du Musik?", "music"),
            ("Erinnerst du dich?", "memory"),
            ("Wie ist das Wetter?", "weather"),
            ("Wirf 2W6", "dice"),
        ] {
            let (words, wanted) = (of_text(german), of_text(english));
            assert!(words.contains(&wanted[0]), "{german}: {words:?} without {wanted:?}");
        }
    }

    #[test]
    fn words_that_say_nothing_are_dropped() {
        assert!(of_text("what is it that you want, please?").is_empty());
        assert!(of_text("was ist denn das?").len() <= 1);
    }

    #[test]
    fn words_without_end_are_passed_over() {
        let long = format!("roll {} dice", "y".repeat(60_000));
        assert_eq!(of_text(&long), of_text("roll dice"));
    }

    #[test]
    fn words_that_are_looked_at_are_bounded() {
        let text = "goblin ".repeat(1 << 18);
        assert_eq!(of_text(&text).len(), MOST_WORDS);
        let nothing = "what ".repeat(MOST_WORDS);
        assert!(of_text(&format!("{nothing} goblin")).is_empty(), "words that say nothing count");
        let of_tool = |description: &str, parameters: &serde_json::Value| {
            words_of("x.y", description, "z", parameters).split(' ').count()
        };
        let parameter = |number: usize| (format!("goblin_{number}"), serde_json::Value::Bool(true));
        let properties: serde_json::Map<_, _> = (0..5_000).map(parameter).collect();
        let parameters = serde_json::json!({ "properties": properties });
        let words = of_tool(&text, &parameters);
        assert!((600..650).contains(&words), "{words}");
    }

    #[test]
    fn dice_notation_is_distinguished_from_words() {
        for dice in ["d20", "2d6", "w6", "3w8"] {
            assert!(is_dice(dice), "{dice}");
        }
        for word in ["d", "w", "wd6", "day", "20", "d6x"] {
            assert!(!is_dice(word), "{word}");
        }
    }
}
