//! Whether words in brackets or asterisks say what somebody does rather than what they say.

/// Words that look like actions by their ending and are none.
const NOT_ACTIONS: &[&str] = &[
    "as",
    "is",
    "was",
    "has",
    "his",
    "its",
    "this",
    "us",
    "yes",
    "thus",
    "plus",
    "always",
    "perhaps",
    "unless",
    "besides",
    "less",
    "does",
    "these",
    "those",
    "minus",
    "sometimes",
    "towards",
    "afterwards",
    "anything",
    "everything",
    "nothing",
    "something",
    "king",
    "thing",
    "during",
    "according",
    "including",
    "being",
    "ring",
    "wing",
    "string",
    "spring",
    "evening",
    "morning",
    "only",
    "probably",
    "possibly",
    "really",
    "hardly",
    "nearly",
    "early",
    "family",
    "likely",
    "truly",
    "exactly",
    "mostly",
    "usually",
    "actually",
    "especially",
    "supposedly",
    "allegedly",
    "roughly",
    "finally",
    "nicht",
    "ist",
    "hat",
    "mit",
    "gut",
    "seit",
    "erst",
    "fast",
    "sonst",
    "selbst",
    "jetzt",
    "oft",
    "weit",
    "echt",
];
/// German verbs of acting and ways of speaking; their ending alone says too little.
const GERMAN_ACTIONS: &[&str] = &[
    "seufzt",
    "lacht",
    "lächelt",
    "grinst",
    "flüstert",
    "nickt",
    "hustet",
    "räuspert",
    "zuckt",
    "schüttelt",
    "knurrt",
    "brummt",
    "murmelt",
    "zwinkert",
    "runzelt",
    "schaut",
    "blickt",
    "lehnt",
    "beugt",
    "geht",
    "dreht",
    "kichert",
    "schweigt",
    "leise",
    "flüsternd",
    "lachend",
    "lächelnd",
    "seufzend",
    "grinsend",
    "nickend",
    "murmelnd",
];
/// English words that begin a direction without an ending that shows it.
const ENGLISH_ACTIONS: &[&str] = &[
    "sigh", "laugh", "nod", "shrug", "pause", "beat", "silence", "gasp", "cough", "wink", "aside",
];
/// Somebody who acts.
const ACTORS: &[&str] = &["he", "she", "they", "it", "er", "sie"];

/// Whether `text` begins like an action: "sighs", "leaning in", "softly", "He shrugs".
pub fn is_action(text: &str) -> bool {
    let mut words = text.split_whitespace().map(bare);
    let Some(first) = words.next().filter(|word| !word.is_empty()) else { return false };
    let count = text.split_whitespace().count();
    if ACTORS.contains(&first.as_str()) {
        return words.next().is_some_and(|verb| acts(&verb, 2));
    }
    acts(&first, count)
}

/// Whether a lower-case word is one of acting, at the start of `count` words.
fn acts(word: &str, count: usize) -> bool {
    if NOT_ACTIONS.contains(&word) || word.chars().count() < 3 {
        return false;
    }
    GERMAN_ACTIONS.contains(&word)
        || (count <= 2 && ENGLISH_ACTIONS.contains(&word))
        || (word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("'s"))
        || (word.ends_with("ing") && word.len() > 5)
        || (word.ends_with("ly") && word.len() > 4 && count <= 2)
}

/// A word in lower case without punctuation around it.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}
