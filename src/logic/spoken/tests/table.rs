//! Accuracy of recognising dice in the utterances of `tests/data/spoken_dice_*.txt`.
//!
//! Run with `--nocapture` to read the figures.

use super::*;
use crate::logic::tally::{Figures, Judged, UNSEEN};

const SETS: [(&str, &str); 6] = [
    ("unnamed", include_str!("../../../../tests/data/spoken_dice_unnamed.txt")),
    ("tuning", include_str!("../../../../tests/data/spoken_dice_tuning.txt")),
    ("held out", include_str!("../../../../tests/data/spoken_dice_held_out.txt")),
    ("second held out", include_str!("../../../../tests/data/spoken_dice_german.txt")),
    ("third held out", include_str!("../../../../tests/data/spoken_dice_german_third.txt")),
    (UNSEEN, include_str!("../../../../tests/data/spoken_dice_unseen.txt")),
];

/// The recognised dice, in the tables' notation.
fn heard(said: &str) -> String {
    match DiceRequest::of(said) {
        DiceRequest::Nothing | DiceRequest::Talk | DiceRequest::Refused(_) => "-".to_owned(),
        DiceRequest::Rolls(rolls) => rolls.join("; "),
        DiceRequest::Again(changes) => format!("{AGAIN}{changes}"),
        DiceRequest::Last(0) => "last".to_owned(),
        DiceRequest::Last(_) => "before".to_owned(),
        DiceRequest::Odds(None) => "odds".to_owned(),
        DiceRequest::Odds(Some(odds)) => format!("odds {odds}"),
    }
}

fn falls(heard: &str) -> bool {
    !matches!(heard, "-" | "last" | "before") && !heard.starts_with("odds")
}

#[test]
fn spoken_dice_meet_accuracy_limits() {
    let mut figures =
        Figures::new("rolled that were not meant", "lines in which no dice fall are rolled");
    for (set, text) in SETS {
        for row in text.lines().filter(|row| !row.starts_with('#')) {
            let mut cells = row.splitn(3, '|').map(str::trim);
            let mut cell = || cells.next().unwrap();
            let (language, wanted, said) = (cell(), cell(), cell());
            let is = heard(said);
            let is_right = is == wanted;
            let judged = Judged {
                is_right,
                is_unwanted: !is_right && falls(&is),
                is_for_nobody: !falls(wanted),
            };
            figures.add(set, language, judged);
            if !is_right {
                println!("{set}: {is} for {said:?}, not {wanted}");
            }
        }
    }
    figures.print();
    figures.hold(120);
}
