//! Words of a text, however it is written.
//!
//! Entry function: [`said`].

use crate::words::words;

/// Short forms that nothing else is written as, and what they are short for.
const SHORT: [(&str, &str); 24] = [
    ("won't", "will not"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("shan't", "shall not"),
    ("let's", "let us"),
    ("what's", "what is"),
    ("that's", "that is"),
    ("it's", "it is"),
    ("he's", "he is"),
    ("she's", "she is"),
    ("who's", "who is"),
    ("where's", "where is"),
    ("there's", "there is"),
    ("here's", "here is"),
    ("how's", "how is"),
    ("when's", "when is"),
    ("everyone's", "everyone is"),
    ("everybody's", "everybody is"),
    ("gonna", "going to"),
    ("wanna", "want to"),
    ("gotta", "got to"),
    ("kinda", "kind of"),
    ("ma'am", "madam"),
    ("'cause", "because"),
];
/// Ends of short forms, and what they are short for.
const SHORT_ENDS: [(&str, &str); 6] = [
    ("n't", " not"),
    ("'re", " are"),
    ("'ll", " will"),
    ("'ve", " have"),
    ("'m", " am"),
    ("'d", " would"),
];
/// Words with two spellings, and words that are written as one or as two, as one of them.
const SPELLINGS: [(&str, &str); 12] = [
    ("axe", "ax"),
    ("ok", "okay"),
    ("alright", "all right"),
    ("grey", "gray"),
    ("whisky", "whiskey"),
    ("towards", "toward"),
    ("mr", "mister"),
    ("mrs", "missus"),
    ("dr", "doctor"),
    ("percent", "per cent"),
    ("uh", ""),
    ("um", ""),
];
/// Ordinal numbers in digits.
const ORDINALS: [(&str, &str); 12] = [
    ("1st", "first"),
    ("2nd", "second"),
    ("3rd", "third"),
    ("4th", "fourth"),
    ("5th", "fifth"),
    ("6th", "sixth"),
    ("7th", "seventh"),
    ("8th", "eighth"),
    ("9th", "ninth"),
    ("10th", "tenth"),
    ("11th", "eleventh"),
    ("12th", "twelfth"),
];

/// The words of `text` as they are said: numbers and dice in words, short forms in full, one
/// spelling of each word.
pub fn said(text: &str) -> Vec<String> {
    let small = text.to_lowercase().replace('\u{2019}', "'");
    let full: Vec<String> = small.split_whitespace().map(in_full).collect();
    let spoken = words(&full.join(" "));
    let spelled: Vec<&str> =
        spoken.iter().flat_map(|word| one_of(&SPELLINGS, word).split(' ')).collect();
    // "a hundred", "one hundred" and, in "d hundred", "hundred".
    let is_hundred = |at: usize| matches!(spelled.get(at), Some(&("hundred" | "thousand")));
    let counts = |at: usize| matches!(spelled[at], "a" | "one") && is_hundred(at + 1);
    let kept = (0..spelled.len()).filter(|at| !spelled[*at].is_empty() && !counts(*at));
    kept.map(|at| spelled[at].to_owned()).collect()
}

/// A word between blanks: short forms in full, large numbers and ordinals without marks.
fn in_full(word: &str) -> String {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'' && c != '+');
    let long = one_of(&SHORT, bare);
    if long != bare {
        return long.to_owned();
    }
    let ordinal = one_of(&ORDINALS, bare);
    if ordinal != bare {
        return ordinal.to_owned();
    }
    let ended =
        SHORT_ENDS.iter().find_map(|(end, long)| Some(bare.strip_suffix(end)?.to_owned() + long));
    if let Some(ended) = ended.filter(|it| !it.starts_with(' ')) {
        return ended;
    }
    let is_large = bare.contains(',') && bare.chars().all(|c| c.is_ascii_digit() || c == ',');
    if is_large { bare.replace(',', "") } else { word.to_owned() }
}

/// Entry of `list` for `word`, else the word itself.
fn one_of<'a>(list: &[(&str, &'a str)], word: &'a str) -> &'a str {
    list.iter().find(|(from, _)| *from == word).map_or(word, |(_, to)| *to)
}

#[test]
fn ways_of_writing_the_same_words_are_one() {
    for (one, other) in [
        ("What's your armour?", "what is your armour"),
        ("I won't pay 1,000 gold.", "i will not pay a thousand gold"),
        ("Roll 2d6+3.", "roll two d six plus three"),
        ("a d100", "a d hundred"),
        ("OK, my 2nd axe", "okay my second ax"),
        ("the goblin's arrow", "the goblins arrow"),
    ] {
        assert_eq!(said(one), said(other));
    }
    assert_ne!(said("we're here"), said("were here"));
}
