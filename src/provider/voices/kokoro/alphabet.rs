//! Phonemes of espeak-ng to Kokoro's numbers.
//!
//! Entry function: [`numbers`]. Kokoro was trained with the symbols of misaki, which writes
//! diphthongs as one letter and differs between American and British English.

/// Symbols in runs: the first one's number, then it and those that follow.
const SYMBOLS: [(i32, &str); 30] = [
    (1, ";:,.!?"),
    (9, "—…\"()“” \u{303}ʣʥʦʨᵝꭧAI"),
    (31, "O"),
    (33, "Q"),
    (35, "ST"),
    (39, "W"),
    (41, "Yᵊabcdef"),
    (50, "hijklmnopqrstuvwxyzɑɐɒæ"),
    (75, "βɔɕç"),
    (80, "ɖðʤə"),
    (85, "ɚɛɜ"),
    (90, "ɟ"),
    (92, "ɡ"),
    (99, "ɥ"),
    (101, "ɨɪʝ"),
    (110, "ɯɰŋɳɲɴø"),
    (118, "ɸθœ"),
    (123, "ɹ"),
    (125, "ɾɻ"),
    (128, "ʁɽʂʃʈʧ"),
    (135, "ʊʋ"),
    (138, "ʌɣɤ"),
    (142, "χʎ"),
    (147, "ʒʔ"),
    (156, "ˈˌː"),
    (162, "ʰ"),
    (164, "ʲ"),
    (169, "↓"),
    (171, "→↗↘"),
    (177, "ᵻ"),
];

/// Spellings of espeak-ng that both kinds of English replace, in this order.
const EITHER: [(&str, &str); 19] = [
    ("ʔn\u{329}", "tn"),
    ("n\u{329}", "ᵊn"),
    ("l\u{329}", "ᵊl"),
    ("aɪ", "I"),
    ("aʊ", "W"),
    ("eɪ", "A"),
    ("ɔɪ", "Y"),
    ("dʒ", "ʤ"),
    ("tʃ", "ʧ"),
    ("ʲ", ""),
    ("ɚ", "əɹ"),
    ("ɐ", "ə"),
    ("ɾ", "T"),
    ("ʔ", "t"),
    ("r", "ɹ"),
    ("x", "k"),
    ("ç", "k"),
    ("ɬ", "l"),
    ("\u{303}", ""),
];
const BRITISH: [(&str, &str); 4] = [("eə", "ɛː"), ("iə", "ɪə"), ("əʊ", "Q"), ("oː", "ɔː")];
/// Like [`EITHER`], for American English, which writes no length.
const AMERICAN: [(&str, &str); 6] =
    [("oʊ", "O"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ː", ""), ("o", "ɔ")];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum English {
    /// Voices whose names begin with "b".
    British,
    American,
}

impl English {
    pub fn of(id: &str) -> Self {
        if id.starts_with('b') { Self::British } else { Self::American }
    }

    pub const fn espeak(self) -> &'static str {
        match self {
            Self::British => "en-gb",
            Self::American => "en-us",
        }
    }
}

/// The numbers of `sounds`, from espeak-ng's voice of that English; skips unknown symbols.
pub fn numbers(sounds: &str, english: English) -> Vec<i32> {
    let own: &[(&str, &str)] = match english {
        English::British => &BRITISH,
        English::American => &AMERICAN,
    };
    let written = EITHER.iter().chain(own);
    let written = written.fold(sounds.to_owned(), |said, (from, to)| said.replace(from, to));
    written.chars().filter_map(number).collect()
}

pub fn number(symbol: char) -> Option<i32> {
    SYMBOLS.iter().find_map(|(first, symbols)| {
        let place = symbols.chars().position(|it| it == symbol)?;
        i32::try_from(place).ok().map(|place| first + place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(sounds: &str, english: English) -> String {
        let symbol = |wanted: &i32| {
            let all = SYMBOLS.iter().flat_map(|(_, symbols)| symbols.chars());
            all.into_iter().find(|symbol| number(*symbol) == Some(*wanted)).unwrap()
        };
        numbers(sounds, english).iter().map(symbol).collect()
    }

    #[test]
    fn symbols_have_the_numbers_of_the_model() {
        for (symbol, expected) in [
            (';', 1),
            ('—', 9),
            (' ', 16),
            ('A', 24),
            ('O', 31),
            ('W', 39),
            ('a', 43),
            ('h', 50),
            ('ɑ', 69),
            ('ʤ', 82),
            ('ɡ', 92),
            ('ɪ', 102),
            ('ɹ', 123),
            ('ʧ', 133),
            ('ˈ', 156),
            ('ː', 158),
            ('ᵻ', 177),
        ] {
            assert_eq!(number(symbol), Some(expected), "{symbol}");
        }
        assert_eq!((number('g'), number('$')), (None, None));
    }

    #[test]
    fn each_english_is_written_as_it_was_trained() {
        for (sounds, american, british) in [
            ("tˈeɪk ɐ tʃˈaɪld, dʒˈɔɪ nˈaʊ", "tˈAk ə ʧˈIld, ʤˈY nˈW", "tˈAk ə ʧˈIld, ʤˈY nˈW"),
            ("ɡˌoʊ hˈoʊm", "ɡˌO hˈOm", ""),
            ("ɡˌəʊ hˈəʊm", "", "ɡˌQ hˈQm"),
            ("bˈɜːd fˈoːɹ wˈɔːɾɚ", "bˈɜɹd fˈɔɹ wˈɔTəɹ", ""),
            ("ɡˈɜːl nˌiə ðeə dˈɔːz", "", "ɡˈɜːl nˌɪə ðɛː dˈɔːz"),
            ("bˈʌʔn\u{329} lˈɑːx", "bˈʌtn lˈɑk", "bˈʌtn lˈɑːk"),
        ] {
            for (english, expected) in [(English::American, american), (English::British, british)]
            {
                if !expected.is_empty() {
                    assert_eq!(written(sounds, english), expected, "{sounds}");
                }
            }
        }
        let of = ["bm_george", "bf_emma", "am_adam", "af_heart"].map(English::of);
        assert_eq!(of, [English::British, English::British, English::American, English::American]);
    }
}
