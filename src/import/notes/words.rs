//! Words by which game masters mark what is theirs, in English and German.
//!
//! Entry functions: [`words`], [`is_secret`] (headings, labels, callouts, keys), [`is_secret_title`]
//! (titles and folders, where "The Secret Garden" is a name).

use unicode_normalization::UnicodeNormalization;

/// Words that mark any text with them.
const MARKS: &[&str] = &[
    "dm",
    "dms",
    "dmnote",
    "dmnotes",
    "dmonly",
    "dungeonmaster",
    "gamemaster",
    "geheiminfo",
    "geheiminfos",
    "geheimnis",
    "geheimnisse",
    "geheimnissen",
    "geheimwissen",
    "gm",
    "gmnote",
    "gmnotes",
    "gmonly",
    "gms",
    "meisterinfo",
    "meisterinformation",
    "meisterinformationen",
    "meisterinfos",
    "meisternotizen",
    "meisterwissen",
    "secrets",
    "sl",
    "slinfo",
    "slinfos",
    "slnotizen",
    "spielleiter",
    "spielleiterin",
    "spielleiterinfo",
    "spielleiterinfos",
    "spielleiters",
    "spielleitung",
    "spoiler",
    "spoilers",
];
/// Two words that mark together.
const PAIRS: &[(&str, &str)] = &[
    ("den", "meister"),
    ("dungeon", "master"),
    ("dungeon", "masters"),
    ("game", "master"),
    ("game", "masters"),
    ("keeper", "notes"),
    ("keeper", "only"),
    ("meister", "infos"),
    ("meister", "notizen"),
    ("storyteller", "notes"),
    ("storyteller", "only"),
];
/// Words that mark only beside [`FILLERS`].
const ADJECTIVES: &[&str] = &[
    "confidential",
    "geheim",
    "hidden",
    "privat",
    "private",
    "secret",
    "verborgen",
    "vertraulich",
];
/// Words without substance.
const FILLERS: &[&str] = &[
    "and",
    "for",
    "für",
    "info",
    "information",
    "informationen",
    "infos",
    "note",
    "notes",
    "notiz",
    "notizen",
    "nur",
    "only",
    "the",
    "und",
];

/// Words of `text` in lower case; a capital after a small letter begins one ("dmNotes").
pub fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut is_inside, mut was_small) = (false, false);
    for c in text.nfc() {
        if !c.is_alphanumeric() {
            (is_inside, was_small) = (false, false);
            continue;
        }
        if !is_inside || (was_small && c.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        (is_inside, was_small) = (true, c.is_lowercase());
    }
    words
}

/// True if a heading, label, key, tag or callout of this text is the game master's.
pub fn is_secret(text: &str) -> bool {
    let words = words(text);
    is_marked(&words)
        || is_all_marks(&words)
        || words.iter().any(|it| it == "secret" || it == "geheim" || is_inflected(it))
}

/// [`is_secret`] for the title of a note or the name of a folder.
pub fn is_secret_title(text: &str) -> bool {
    let words = words(text);
    is_marked(&words) || is_all_marks(&words)
}

/// True if a title has its marks only between other words, as in "How a GM works", so they may name
/// its topic.
pub fn is_doubtful_title(text: &str) -> bool {
    let all = words(text);
    let begin = all.iter().take_while(|it| is_filler(it)).count();
    let end = all.len() - all.iter().rev().take_while(|it| is_filler(it)).count();
    let inner = all.get(begin..end).unwrap_or_default();
    let mut ends = [inner.first(), inner.last()].into_iter().flatten();
    let is_certain = ends.any(|word| is_mark(word))
        || inner.first_chunk::<2>().is_some_and(|two| is_pair(two))
        || inner.last_chunk::<2>().is_some_and(|two| is_pair(two));
    is_secret_title(text) && !is_certain
}

/// [`is_secret`] for the name of a whole vault, where "DM vault" says whose it is, not who may read it.
pub fn is_secret_root(text: &str) -> bool {
    is_all_marks(&words(text))
}

/// "geheime" and the like, without "Geheimbund".
fn is_inflected(word: &str) -> bool {
    ["geheim", "verborgen"].iter().any(|stem| {
        word.strip_prefix(stem).is_some_and(|it| ["e", "em", "en", "er", "es"].contains(&it))
    })
}

fn is_marked(words: &[String]) -> bool {
    words.iter().any(|it| MARKS.contains(&it.as_str())) || words.windows(2).any(is_pair)
}

fn is_pair(words: &[String]) -> bool {
    matches!(words, [one, other] if PAIRS.contains(&(one.as_str(), other.as_str())))
}

fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// True for a word that marks, if only [`FILLERS`] are beside it.
fn is_mark(word: &str) -> bool {
    ADJECTIVES.contains(&word) || MARKS.contains(&word) || is_inflected(word)
}

fn is_all_marks(words: &[String]) -> bool {
    words.iter().any(|it| is_mark(it)) && words.iter().all(|it| is_mark(it) || is_filler(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_masters_words_are_known() {
        for text in [
            "GM Notes",
            "📝 DM-only",
            "dmNotes",
            "dm_notes",
            "Geheimnisse",
            "Secrets & Hidden Information",
            "The Secret",
            "Private Information",
            "Nur für den Meister",
            "SL-Infos",
            "For the Game Master",
        ] {
            assert!(is_secret(text), "{text}");
        }
        for text in ["Secretary", "Hidden Valley", "Private Rooms", "Admin", "Innkeeper notes", ""]
        {
            assert!(!is_secret(text), "{text}");
        }
    }

    #[test]
    fn title_with_secret_as_adjective_is_a_name() {
        assert!(!is_secret_title("The Secret Garden"));
        assert!(is_secret_title("Secrets of the Inn") && is_secret_title("_Geheim"));
        assert!(is_doubtful_title("m05_gm_headings") && is_doubtful_title("How a GM works"));
        for certain in
            ["Vex GM notes", "For the DM", "dm-vex", "Secrets of the Inn", "Geheim", "Holya"]
        {
            assert!(!is_doubtful_title(certain), "{certain}");
        }
        assert!(is_secret_root("GM Notes") && !is_secret_root("My DM vault"));
    }
}
