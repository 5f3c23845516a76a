use proptest::prelude::*;

use super::*;

fn splitter(language: &str) -> SentenceSplitter {
    SentenceSplitter::new(&SentenceOptions { language: language.to_owned(), long_chunk: 80 })
}

fn split(deltas: &[&str]) -> Vec<String> {
    split_in("en", deltas)
}

fn split_in(language: &str, deltas: &[&str]) -> Vec<String> {
    let mut splitter = splitter(language);
    let mut sentences: Vec<String> = deltas.iter().flat_map(|d| splitter.push(d)).collect();
    sentences.extend(splitter.finish());
    sentences
}

/// Tokens as of a tokenizer: words with the space before them, punctuation separate.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        let word = c.is_alphanumeric();
        let cut = (c.is_whitespace() && !last.is_whitespace())
            || (!word && !c.is_whitespace() && last.is_alphanumeric());
        if at > 0 && cut {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = c;
    }
    tokens.push(&text[start..]);
    tokens
}

/// Checks the sentences of the whole text, of tokens and of single characters.
fn check(language: &str, text: &str, expected: &[&str]) {
    assert_eq!(split_in(language, &[text]), expected, "whole: {text}");
    assert_eq!(split_in(language, &tokens(text)), expected, "tokens: {text}");
}

#[test]
fn clear_punctuation_leaves_with_its_own_delta() {
    for last in [".", "!", "?", "?!", ".\"", "! "] {
        let mut splitter = splitter("en");
        for delta in ["The", " dice", " show", " a", " nine"] {
            assert_eq!(splitter.push(delta), Vec::<String>::new());
        }
        assert_eq!(splitter.push(last).len(), 1, "{last}");
    }
    let mut splitter = splitter("en");
    for delta in ["\"", "Go", " away"] {
        assert!(splitter.push(delta).is_empty());
    }
    assert!(splitter.push("!").is_empty(), "the quote is still open");
    assert_eq!(splitter.push("\""), ["\"Go away!\""]);
}

#[test]
fn held_punctuation_leaves_with_the_next_token() {
    let mut splitter = splitter("en");
    assert!(splitter.push("You rolled 15.").is_empty());
    assert_eq!(splitter.push(" Well"), ["You rolled 15."]);
    assert!(splitter.push(" then...").is_empty());
    assert_eq!(splitter.push(" Fine"), ["Well then..."]);
    assert_eq!(splitter.push("."), ["Fine."]);
    assert_eq!(splitter.finish(), None);
}

#[test]
fn splits_ordinary_sentences() {
    check("en", "Hello there. How are you? Fine!", &["Hello there.", "How are you?", "Fine!"]);
    check(
        "en",
        "No. I was there. So was I. Was it?",
        &["No.", "I was there.", "So was I.", "Was it?"],
    );
    check("en", "What?! Never!!! Oh.", &["What?!", "Never!!!", "Oh."]);
    check("en", "One\nTwo\n\n\nThree.", &["One", "Two", "Three."]);
    check("en", "Hello", &["Hello"]);
    check("en", "  \n ", &[]);
    check("en", "你好。再见！", &["你好。", "再见！"]);
}

#[test]
fn abbreviations_and_initials_go_on() {
    check(
        "en",
        "Dr. Smith met Mr. J. R. Jones at St. Mary. He left.",
        &["Dr. Smith met Mr. J. R. Jones at St. Mary.", "He left."],
    );
    check(
        "en",
        "Bring arms, e.g. swords, i.e. iron. Now.",
        &["Bring arms, e.g. swords, i.e. iron.", "Now."],
    );
    check(
        "en",
        "We sell ale, wine, etc. Come in. It opens at 5 p.m. on Sundays.",
        &["We sell ale, wine, etc.", "Come in.", "It opens at 5 p.m. on Sundays."],
    );
    check("en", "Then it is plan B. We go.", &["Then it is plan B.", "We go."]);
    check("en", "It was written by J. Smith. Good.", &["It was written by J. Smith.", "Good."]);
    check(
        "de",
        "Das ist z.B. Herr Dr. Braun, bzw. sein Sohn usw. Er kommt.",
        &["Das ist z.B. Herr Dr. Braun, bzw. sein Sohn usw.", "Er kommt."],
    );
    check("de", "Nimm z. B. Bier. Gut.", &["Nimm z. B. Bier.", "Gut."]);
}

#[test]
fn numbers_stay_whole() {
    check("en", "It weighs 3.5 pounds. Take it.", &["It weighs 3.5 pounds.", "Take it."]);
    check("en", "You rolled 12. Well done.", &["You rolled 12.", "Well done."]);
    check("en", "I roll 2d6. Nine.", &["I roll 2d6.", "Nine."]);
    assert_eq!(split(&["It is 3.", "5", " feet."]), ["It is 3.5 feet."]);
    check(
        "en",
        "Read v1.2 at example.com today. Yes.",
        &["Read v1.2 at example.com today.", "Yes."],
    );
    check("de", "Er kommt am 3. Mai zurück. Gut.", &["Er kommt am 3. Mai zurück.", "Gut."]);
    check("de", "Wir warten bis 3. Oktober. Gut.", &["Wir warten bis 3. Oktober.", "Gut."]);
    check("de", "Das ist der 2. Versuch. Los!", &["Das ist der 2. Versuch.", "Los!"]);
    check("de", "Du hast 15. Nicht schlecht.", &["Du hast 15.", "Nicht schlecht."]);
}

#[test]
fn list_markers_make_no_sentence_of_their_own() {
    check(
        "en",
        "1. Ale\n2. Wine, red. Good.\n- Bread\n* Stew\n---\nDone.",
        &["1. Ale", "2. Wine, red.", "Good.", "- Bread", "* Stew", "---\nDone."],
    );
}

#[test]
fn ellipses_end_only_before_a_new_sentence() {
    check("en", "Well... perhaps. Hm… I see.", &["Well... perhaps.", "Hm…", "I see."]);
    check("en", "... and then? Wait...what.", &["... and then?", "Wait...what."]);
}

#[test]
fn quotes_and_brackets_stay_with_their_sentence() {
    check(
        "en",
        "\"Stop!\" she cried. \"I know. Go.\" He left.",
        &["\"Stop!\"", "she cried.", "\"I know.", "Go.\"", "He left."],
    );
    check(
        "en",
        "“Stop.” Then „Halt.“ Then «Non.» Good.",
        &["“Stop.”", "Then „Halt.“", "Then «Non.»", "Good."],
    );
    check(
        "en",
        "He (really?) went. (He laughed.) Good.",
        &["He (really?) went.", "(He laughed.)", "Good."],
    );
    check("en", "**Stop!** Now. *He sighs.* Yes.", &["**Stop!**", "Now.", "*He sighs.*", "Yes."]);
    assert_eq!(split(&["*He sighs.", "*", " Yes."]), ["*He sighs.*", "Yes."]);
    assert_eq!(split(&["**Stop", "!", "**", " Now."]), ["**Stop!**", "Now."]);
    assert_eq!(split(&["(Go", ".", ")", " Now."]), ["(Go.)", "Now."]);
    check("en", "'Tis a fine day. It's 2 * 3. Yes.", &["'Tis a fine day.", "It's 2 * 3.", "Yes."]);
    check("en", "Great!😀 There. Go.Then stop.", &["Great!", "😀 There.", "Go.", "Then stop."]);
}

#[test]
fn long_first_chunk_ends_at_a_clause() {
    let text = "Long ago, when the mountains were young and the rivers had no names at all, the old \
                kings came down from the north, and with them their hounds, and then they slept.";
    check(
        "en",
        text,
        &[
            "Long ago, when the mountains were young and the rivers had no names at all,",
            "the old kings came down from the north, and with them their hounds, and then they slept.",
        ],
    );
    let late = "The mountains were very young and the rivers had no names at all when the old kings \
                came with 1,000 men, and left. Good, so it was.";
    check(
        "en",
        late,
        &[
            "The mountains were very young and the rivers had no names at all when the old kings came \
         with 1,000 men,",
            "and left.",
            "Good, so it was.",
        ],
    );
    check("en", "Well, yes. No, friend, never.", &["Well, yes.", "No, friend, never."]);
    let second = format!("Hi. {text}");
    assert_eq!(split(&[&second]).len(), 2, "only the first chunk");
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Cuts `text` at the given places, moved to character boundaries.
fn cut_at<'t>(text: &'t str, places: &[usize]) -> Vec<&'t str> {
    let mut cuts: Vec<usize> = places
        .iter()
        .map(|place| place % (text.len() + 1))
        .map(|at| (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap())
        .collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// Pieces of texts that are hard to split.
const PIECES: &str = "(Dr|e\\.g|J|z|B|3|12|am|Mai|word|Été|naïve|Straße|I|etc|\"|“|”|\\(|\\)|\\*|\\*\\*|\
                      '|,|;|—|:|\\.|\\.|\\.\\.\\.|…|!|\\?| | | |\n|-|😀|日本){0,60}";

proptest! {
    #[test]
    fn nothing_is_lost_however_text_is_cut(
        text in prop_oneof![PIECES.prop_map(String::from), "\\PC{0,80}"],
        places in proptest::collection::vec(0usize..400, 0..12),
        german: bool,
    ) {
        let language = if german { "de" } else { "en" };
        let sentences = split_in(language, &cut_at(&text, &places));
        prop_assert_eq!(squeezed(&sentences.concat()), squeezed(&text));
        for sentence in &sentences {
            prop_assert!(!sentence.is_empty() && sentence.trim() == sentence);
        }
        for sentence in sentences.iter().rev().skip(1) {
            prop_assert!(sentence.contains(char::is_alphanumeric), "{sentence:?}");
        }
    }

    #[test]
    fn cuts_away_from_punctuation_change_nothing(
        text in PIECES,
        places in proptest::collection::vec(0usize..400, 0..12),
        german: bool,
    ) {
        let language = if german { "de" } else { "en" };
        let whole = split_in(language, &[&text]);
        // A cut between punctuation and a character directly after it is moved behind both.
        let mut start = 0;
        let mut deltas = Vec::new();
        for piece in cut_at(&text, &places) {
            let end = piece.as_ptr() as usize - text.as_ptr() as usize + piece.len();
            let before = text[..end].chars().next_back();
            let after = text[end..].chars().next();
            let glued = after.is_some_and(|c| !c.is_whitespace())
                && before.is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace());
            if !glued {
                deltas.push(&text[start..end]);
                start = end;
            }
        }
        deltas.push(&text[start..]);
        prop_assert_eq!(split_in(language, &deltas), whole);
    }

    #[test]
    fn every_token_of_clear_prose_leaves_at_once(words in proptest::collection::vec("[a-z]{2,9}", 2..12)) {
        let mut splitter = splitter("en");
        for word in &words {
            let token = format!("{word}x ");
            prop_assert!(splitter.push(&token).is_empty());
        }
        prop_assert_eq!(splitter.push("end.").len(), 1);
    }
}

#[test]
fn work_grows_with_the_text_and_no_faster() {
    let shapes = ["a. ", ".", "1. ", "~", "*", "J.a", "… ", "(a.", "\"a. ", "x"];
    for shape in shapes {
        for step in [1, 7, 1 << 20] {
            let work = |length: usize| {
                let text = shape.repeat(length / shape.len());
                let mut splitter = splitter("en");
                let chars: Vec<char> = text.chars().collect();
                for delta in chars.chunks(step) {
                    splitter.push(&delta.iter().collect::<String>());
                }
                splitter.work
            };
            let (short, long) = (work(4_000), work(8_000));
            assert!(long <= 2 * short + 4 * 1_024, "'{shape}' by {step}: {short}, {long}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_is_lost_however_long(
        pieces in prop::collection::vec(
            prop::sample::select(vec!["a", "J", "1", ".", "!", "…", " ", "\n", "*", "(", ")", "\"", "é"]),
            0..3_000,
        ),
    ) {
        let text = pieces.concat();
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(bare(&split(&[&text]).concat()), bare(&text));
    }
}

proptest! {
    #[test]
    fn sentences_are_no_more_than_at_most(
        pieces in prop::collection::vec(
            prop::sample::select(vec!["aye", "J", "1", ".", "!", "…", " ", "\n", "*", ")", "\"", ", ", ": "]),
            0..60,
        ),
    ) {
        let text = pieces.concat();
        let sentences = split(&[&text]).iter().filter(|part| !is_clause(part)).count();
        prop_assert!(sentences <= sentences_at_most(&text), "{}", sentences);
    }
}
