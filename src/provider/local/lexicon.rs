//! How words sound that the stock dictionary lacks.
//!
//! Entry type: [`Lexicon`]. Phones are those of the dictionary (ARPABET without stress).
//! **Never**: deciding which words are worth hearing.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write,
};

use tokio::{
    runtime::Builder,
    time::{Instant, timeout_at},
};

use super::corpus::{Name, spoken_words};
use crate::provider::child::output;

/// Words asked of flite in one call.
const WORDS_A_CALL: usize = 40;
/// Shortest half of a word made of two.
const MIN_HALF: usize = 3;
/// Most ways one word is said.
const MAX_VARIANTS: usize = 4;

/// Listening noises as synthesisers say them, which take them for letters: "em em, aitch em".
const SPELLED: [(&str, &str); 2] = [("mm", "EH M EH M"), ("hm", "EY CH EH M")];

/// Pronunciations of the stock dictionary that matter here.
pub struct Lexicon {
    /// Word -> its pronunciations.
    stock: HashMap<String, Vec<String>>,
}

impl Lexicon {
    /// Reads a dictionary's text: a word (or `word(2)`) and its phones a line.
    pub fn parse(dictionary: &str) -> Self {
        let mut stock: HashMap<String, Vec<String>> = HashMap::new();
        for (word, phones) in dictionary.lines().filter_map(|line| line.split_once(' ')) {
            stock.entry(base(word).to_owned()).or_default().push(phones.trim().to_owned());
        }
        for (word, phones) in SPELLED {
            stock.entry(word.to_owned()).or_default().push(phones.to_owned());
        }
        Self { stock }
    }

    /// What must be added for `words` and `names`: word (or `word(2)`) and its phones.
    /// `phones_of` says texts aloud (see [`flite_phones`]).
    pub fn additions<'w>(
        &self,
        words: impl Iterator<Item = &'w str>,
        names: &[&Name],
        phones_of: impl Fn(&[String]) -> Vec<Option<String>>,
    ) -> Vec<(String, String)> {
        let respelled = respellings(names);
        let name_words: BTreeSet<String> =
            names.iter().flat_map(|name| spoken_words(&name.text)).collect();
        let missing = words.filter(|word| !self.stock.contains_key(*word)).map(str::to_owned);
        let wanted: BTreeSet<String> = missing.chain(name_words).collect();
        // What is to be said aloud, each text once.
        let texts: Vec<String> = wanted
            .iter()
            .cloned()
            .chain(respelled.values().flatten().cloned())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let spoken: HashMap<&String, String> = texts
            .iter()
            .zip(texts.chunks(WORDS_A_CALL).flat_map(phones_of))
            .filter_map(|(text, phones)| Some((text, phones?)))
            .collect();
        let mut additions = Vec::new();
        for word in &wanted {
            let respellings = respelled.get(word).map(Vec::as_slice).unwrap_or_default();
            let said = respellings.iter().chain([word]).filter_map(|text| spoken.get(text));
            let stock = self.stock.get(word).map(Vec::as_slice).unwrap_or_default();
            let mut new: Vec<String> = Vec::new();
            for phones in said.cloned().chain(self.compound(word)) {
                if !new.contains(&phones) && !stock.contains(&phones) {
                    new.push(phones);
                }
            }
            if new.is_empty() && stock.is_empty() {
                new.extend(Some(by_letters(word)).filter(|phones| !phones.is_empty()));
            }
            new.truncate(MAX_VARIANTS);
            for (number, phones) in (stock.len() + 1..).zip(new) {
                let key = if number == 1 { word.clone() } else { format!("{word}({number})") };
                additions.push((key, phones));
            }
        }
        additions
    }

    /// The dictionary of a decoder: of the stock one what `keeps` a word, then `additions` and
    /// the stock's own ways to say those words.
    pub fn dictionary(
        &self,
        additions: &[(String, String)],
        keeps: impl Fn(&str) -> bool,
    ) -> String {
        let added: BTreeSet<&str> = additions.iter().map(|(key, _)| base(key)).collect();
        let kept =
            self.stock.iter().filter(|(word, _)| keeps(word) || added.contains(word.as_str()));
        let mut text = String::new();
        for (word, ways) in kept.collect::<BTreeMap<_, _>>() {
            for (number, phones) in (1..).zip(ways) {
                let _ = match number {
                    1 => writeln!(text, "{word} {phones}"),
                    _ => writeln!(text, "{word}({number}) {phones}"),
                };
            }
        }
        for (key, phones) in additions {
            let _ = writeln!(text, "{key} {phones}");
        }
        text
    }

    /// All words of the stock dictionary, in no order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.stock.keys().map(String::as_str)
    }

    /// "longsword" sounds like "long" and "sword".
    fn compound(&self, word: &str) -> Option<String> {
        let cuts = word.char_indices().map(|(at, _)| at);
        let halves = cuts
            .filter_map(|at| word.split_at_checked(at))
            .filter(|(first, second)| first.len() >= MIN_HALF && second.len() >= MIN_HALF);
        let known = |word: &str| self.stock.get(word).and_then(|ways| ways.first());
        // The most even cut is the likeliest.
        halves
            .filter_map(|(first, second)| Some((first, second, known(first)?, known(second)?)))
            .min_by_key(|(first, second, ..)| first.len().abs_diff(second.len()))
            .map(|(_, _, first, second)| format!("{first} {second}"))
    }
}

/// "read" for "read(2)".
fn base(key: &str) -> &str {
    key.split_once('(').map_or(key, |(word, _)| word)
}

/// Word -> its respellings; a respelling of several words belongs to a name of as many words.
fn respellings(names: &[&Name]) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let Some(respelling) = &name.respelling else { continue };
        let (words, said) = (spoken_words(&name.text), spoken_words(respelling));
        if let [word] = words.as_slice() {
            all.entry(word.clone()).or_default().push(said.join(" "));
        } else if words.len() == said.len() {
            for (word, said) in words.into_iter().zip(said) {
                all.entry(word).or_default().push(said);
            }
        }
    }
    all
}

/// Phones of each text as flite says it before `until`; `None`: flite is missing, did not
/// understand or is too late.
pub fn flite_phones(texts: &[String], until: Instant) -> Vec<Option<String>> {
    let unknown = || vec![None; texts.len()];
    // A full stop makes a pause, which parts the texts in the answer.
    let asked: String = texts.iter().map(|text| format!("{text}. ")).collect();
    let arguments = ["-ps", "-t", &asked, "none"];
    let asked = async { timeout_at(until, output("flite", &arguments)).await };
    let answer = match Builder::new_current_thread().enable_all().build() {
        Ok(waiting) => waiting.block_on(asked),
        Err(_) => return unknown(),
    };
    let Ok(answer) = answer else {
        tracing::warn!("flite does not say in time how names sound: their letters decide");
        return unknown();
    };
    let Ok(answer) = answer else { return unknown() };
    let parts: Vec<Option<String>> = answer
        .split("pau")
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| Some(stock_phones(part)))
        .collect();
    if parts.len() == texts.len() {
        return parts;
    }
    match texts {
        [] | [_] => unknown(),
        // Somewhere in it a text made no pause or several: ask for smaller parts.
        _ => {
            let (first, second) = texts.split_at(texts.len() / 2);
            let mut both = flite_phones(first, until);
            both.extend(flite_phones(second, until));
            both
        }
    }
}

/// flite's phones in the dictionary's letters.
fn stock_phones(phones: &str) -> String {
    let one = |phone: &str| match phone {
        "ax" => "AH".to_owned(),
        "axr" => "ER".to_owned(),
        "en" => "AH N".to_owned(),
        "em" => "AH M".to_owned(),
        "el" => "AH L".to_owned(),
        other => other.to_uppercase(),
    };
    phones.split_whitespace().map(one).collect::<Vec<_>>().join(" ")
}

/// Letters and their usual sound, longest first; for machines without flite.
const LETTERS: &[(&str, &str)] = &[
    ("tch", "CH"),
    ("sch", "SH"),
    ("igh", "AY"),
    ("ch", "CH"),
    ("sh", "SH"),
    ("th", "TH"),
    ("ph", "F"),
    ("ck", "K"),
    ("ng", "NG"),
    ("qu", "K W"),
    ("wh", "W"),
    ("ee", "IY"),
    ("ea", "IY"),
    ("oo", "UW"),
    ("ou", "AW"),
    ("ow", "AW"),
    ("ai", "EY"),
    ("ay", "EY"),
    ("oi", "OY"),
    ("oy", "OY"),
    ("au", "AO"),
    ("er", "ER"),
    ("ar", "AA R"),
    ("or", "AO R"),
    ("a", "AE"),
    ("b", "B"),
    ("c", "K"),
    ("d", "D"),
    ("e", "EH"),
    ("f", "F"),
    ("g", "G"),
    ("h", "HH"),
    ("i", "IH"),
    ("j", "JH"),
    ("k", "K"),
    ("l", "L"),
    ("m", "M"),
    ("n", "N"),
    ("o", "AA"),
    ("p", "P"),
    ("r", "R"),
    ("s", "S"),
    ("t", "T"),
    ("u", "AH"),
    ("v", "V"),
    ("w", "W"),
    ("x", "K S"),
    ("y", "IY"),
    ("z", "Z"),
];

/// Phones by spelling alone.
fn by_letters(word: &str) -> String {
    let mut phones: Vec<&str> = Vec::new();
    let mut rest = word;
    while !rest.is_empty() {
        let found = LETTERS.iter().find(|(letters, _)| rest.starts_with(letters));
        let skipped = rest.chars().next().map_or(1, char::len_utf8);
        let length = found.map_or(skipped, |(letters, _)| letters.len());
        if let Some((_, sound)) = found
            && phones.last() != Some(sound)
        {
            phones.push(sound);
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    phones.join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const DICTIONARY: &str = "long L AO NG\nsword S AO R D\nbartok B AA R T AH K\nmira M IH R AH\n";

    /// More than flite needs.
    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn added(words: &[&str], names: &[Name]) -> Vec<(String, String)> {
        let names: Vec<&Name> = names.iter().collect();
        Lexicon::parse(DICTIONARY)
            .additions(words.iter().copied(), &names, |texts| flite_phones(texts, soon()))
    }

    fn pair(word: &str, phones: &str) -> (String, String) {
        (word.to_owned(), phones.to_owned())
    }

    #[test]
    fn missing_words_sound_as_flite_says_them_and_as_their_parts() {
        assert_eq!(
            added(&["long", "longsword"], &[]),
            [pair("longsword", "L AO NG Z AO ER D"), pair("longsword(2)", "L AO NG S AO R D")]
        );
    }

    #[test]
    fn a_respelling_is_one_more_way_to_say_a_known_name() {
        let name = Name { text: "Bartok".to_owned(), respelling: Some("bar tock".to_owned()) };
        assert_eq!(added(&[], &[name]), [pair("bartok(2)", "B AA R T AA K")]);
    }

    #[test]
    fn a_decoder_knows_words_that_are_kept_or_added_with_all_their_ways() {
        let lexicon = Lexicon::parse("long L AO NG\nmira M IH R AH\nmira(2) M AY R AH\n");
        let added = [pair("mira(3)", "M IY R AH"), pair("thorin", "TH AO R IH N")];
        assert_eq!(
            lexicon.dictionary(&added, |_| false),
            "mira M IH R AH\nmira(2) M AY R AH\nmira(3) M IY R AH\nthorin TH AO R IH N\n"
        );
        assert_eq!(lexicon.dictionary(&[], |word| word == "long"), "long L AO NG\n");
    }

    #[test]
    fn without_flite_letters_decide() {
        let nothing = |texts: &[String]| vec![None; texts.len()];
        let added = Lexicon::parse(DICTIONARY).additions(["thorin"].into_iter(), &[], nothing);
        assert_eq!(added, [pair("thorin", "TH AO R IH N")]);
        assert_eq!(by_letters("ünx"), "N K S");
    }

    #[test]
    fn many_words_are_said_in_their_order() {
        let words = ["elara", "dr", "3", "thorin", "mr"].map(str::to_owned);
        let phones = flite_phones(&words, soon());
        assert_eq!(phones.len(), words.len());
        assert_eq!(phones.first().cloned().flatten().as_deref(), Some("IH L AA R AH"));
        assert_eq!(phones.get(3).cloned().flatten().as_deref(), Some("TH AO R IH N"));
    }

    #[test]
    fn nobody_waits_for_flite_longer_than_wanted() {
        let words = ["elara", "thorin"].map(str::to_owned);
        assert_eq!(flite_phones(&words, Instant::now()), [None, None]);
    }
}
