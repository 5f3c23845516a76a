//! Tests of the work on long texts: looks are counted, not time.

use proptest::prelude::*;

use super::super::{DiceRequest, bonus_told, typed_dice, work};

/// Words of a long text.
const LONG: usize = 400;
/// Most looks per token; a search to the end from every token takes many times as many.
const MOST: usize = 1_500;

/// Looks at each token of `words`, repeated to a long text.
fn looks(words: &str) -> usize {
    let text = format!("{words} ").repeat(LONG / words.split(' ').count());
    let work = work::during(|| {
        let _ = DiceRequest::of(&text);
        let _ = bonus_told(&text);
        let _ = typed_dice(&text);
    });
    work / LONG
}

#[test]
fn long_texts_are_read_in_linear_work() {
    for words in [
        "1 +",
        "+ 7",
        "one and",
        "plus two hundred",
        "a plus with",
        "one times",
        "d 6",
        "d d6",
        "w sechs",
        "2 d6 and",
        "six sided die",
        "two hundred two",
        "advantage plus",
        "with advantage my",
        "if i hit",
        "keep the",
    ] {
        let looks = looks(words);
        assert!(looks < MOST, "{words}: {looks}");
    }
}

#[test]
fn sums_without_blanks_take_linear_work() {
    let text = format!("{}1", "1+".repeat(LONG));
    let work = work::during(|| {
        assert_eq!(DiceRequest::of(&text), DiceRequest::Nothing);
    });
    assert!(work < 2 * LONG * MOST, "{work}");
}

#[test]
fn dice_behind_a_sum_without_dice_are_found() {
    for (said, roll) in [
        ("two plus three, roll a d six", "1d6"),
        ("5 times 2 d6", "5#2d6"),
        ("two hundred two hundred d six", "200d6"),
    ] {
        assert_eq!(super::dice_in(said).as_deref(), Some(roll), "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn work_is_linear_in_the_text(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "roll", "a", "one", "d", "d6", "2d6+3", "six", "hundred", "and", "plus", "minus",
                "times", "sided", "dice", "with", "advantage", "vorteil", "keep", "the", "highest",
                "w", "zwei", "+", "-", "3", "my", "have", "1d20",
            ]),
            1..6,
        )
    ) {
        let words = words.join(" ");
        let looks = looks(&words);
        prop_assert!(looks < MOST, "{}: {}", words, looks);
    }
}
