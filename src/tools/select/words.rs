//! Words of tools and of players, brought to one form: accents folded, endings cut, German words
//! of the table beside their English ones.
//!
//! Entry functions: [`of_text`], [`of_name`]. Tools are mostly described in English, players speak
//! either language, so both sides are processed alike.
//! **Never**: corrects a word.

use rust_stemmers::{Algorithm, Stemmer};

use crate::logic::words::Words;

/// The meaningful words of spoken or written text.
pub fn of_text(text: &str) -> Vec<String> {
    let (english, german) =
        (Stemmer::create(Algorithm::English), Stemmer::create(Algorithm::German));
    let stem = |word: &str| german.stem(&english.stem(word)).into_owned();
    let mut stems = Vec::new();
    for word in Words::of(text).iter().filter(|word| !STOP.contains(word)) {
        stems.push(stem(word));
        if is_dice(word) {
            stems.extend(["dice", "roll"].map(stem));
        }
        let known = GLOSSARY.iter().filter(|(german, _)| means(word, german));
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

/// All words of a tool, its name's twice, with one space between.
pub fn words_of(
    identity: &str,
    description: &str,
    categories: &str,
    parameters: &serde_json::Value,
) -> String {
    let name = of_name(identity);
    let mut all = [name.clone(), name].concat();
    all.extend(of_text(description));
    all.extend(of_name(categories));
    let properties = parameters.get("properties").and_then(serde_json::Value::as_object);
    all.extend(properties.into_iter().flatten().flat_map(|(name, _)| of_name(name)));
    all.join(" ")
}

/// "d20", "2d6", "w6", "3w8".
fn is_dice(word: &str) -> bool {
    let sides = word.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['d', 'w']);
    sides.is_some_and(|sides| !sides.is_empty() && sides.chars().all(|c| c.is_ascii_digit()))
}

/// Whether `word` is `german`, a form of it, or a compound with it.
fn means(word: &str, german: &str) -> bool {
    match german.len() {
        0..4 => word == german,
        4 => word.starts_with(german),
        _ => word.contains(german),
    }
}

/// Words that are in every sentence, folded: English, then German.
#[rustfmt::skip]
const STOP: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "get", "got", "had", "has", "have", "he",
    "her", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like",
    "may", "me", "my", "no", "not", "now", "of", "oh", "ok", "okay", "on", "one", "or", "our",
    "please", "she", "should", "so", "some", "than", "that", "the", "their", "them", "then",
    "there", "they", "this", "to", "up", "us", "want", "was", "we", "well", "were", "what", "when",
    "where", "which", "who", "will", "with", "would", "you", "your",
    "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "bin", "bist", "bitte", "da", "dann",
    "das", "dass", "dein", "dem", "den", "der", "des", "dich", "die", "dir", "doch", "du", "ein",
    "eine", "einen", "einer", "er", "es", "fur", "gibt", "habe", "haben", "hat", "ich", "ihm",
    "ihn", "ihr", "im", "ist", "ja", "jetzt", "kann", "kannst", "mal", "man", "mein", "mich",
    "mir", "mit", "nach", "nicht", "noch", "nun", "nur", "oder", "sein", "sich", "sie", "sind",
    "um", "und", "uns", "vom", "von", "vor", "war", "was", "wenn", "wer", "wie", "wir", "wird",
    "wo", "zu", "zum", "zur",
];

/// German words of the table, folded, and what tools call the same. Up to three letters: the word
/// alone; four: its beginning; more: any part of a word.
#[rustfmt::skip]
const GLOSSARY: &[(&str, &str)] = &[
    ("wurf", "roll dice"), ("wirf", "roll dice"), ("probe", "check roll"), ("tabelle", "table"),
    ("zufall", "random"), ("begegnung", "encounter"), ("schatz", "treasure hoard"),
    ("magie", "magic"), ("zauber", "spell magic"), ("spruch", "spell"), ("regel", "rule"),
    ("zustand", "condition"), ("kampf", "combat fight"), ("waffe", "weapon"),
    ("rustung", "armor"), ("gegner", "enemy monster"), ("trank", "potion"), ("heilung", "heal"),
    ("rast", "rest"), ("inventar", "inventory item"), ("preis", "price"), ("kauf", "buy shop"),
    ("laden", "shop"), ("erinner", "remember memory"),
    ("gedacht", "memory"), ("geschicht", "history story"), ("sitzung", "session"),
    ("letzte", "last previous"), ("zusammenfass", "summary"), ("passiert", "happened history"),
    ("gerucht", "rumor"), ("auftrag", "quest"), ("fakt", "fact"), ("person", "person entity"),
    ("stadt", "town city place"), ("ort", "place location"), ("karte", "map card"),
    ("suche", "search find"), ("suchst", "search find"), ("finde", "find search"),
    ("nachschlag", "look lookup search"), ("schlag", "look lookup"), ("netz", "web"),
    ("seite", "page"), ("datei", "file"), ("lese", "read"),
    ("schreib", "write"), ("notiz", "note"), ("aufschreib", "note write"), ("bild", "image picture"),
    ("zeichn", "draw image"), ("musik", "music"), ("spiel", "play game"), ("stopp", "stop"),
    ("stimmung", "mood ambiance"), ("gerausch", "sound"), ("licht", "light"), ("lampe", "lamp light"),
    ("dunkel", "dark light"), ("temperatur", "temperature"),
    ("heizung", "heating temperature"), ("warm", "warm temperature"), ("kalt", "cold temperature"),
    ("wetter", "weather"), ("regnet", "rain weather"), ("zeit", "time"), ("uhr", "time clock"),
    ("spat", "late time"), ("datum", "date"), ("kalender", "calendar"),
    ("nachricht", "message"), ("rechne", "calculate"), ("ubersetz", "translate"),
    ("sprache", "language"), ("offne", "open"), ("tur", "door"),
];

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
    fn german_words_stand_beside_their_english_ones() {
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
    fn dice_are_told_from_words() {
        for dice in ["d20", "2d6", "w6", "3w8"] {
            assert!(is_dice(dice), "{dice}");
        }
        for word in ["d", "w", "wd6", "day", "20", "d6x"] {
            assert!(!is_dice(word), "{word}");
        }
    }
}
