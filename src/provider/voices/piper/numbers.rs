//! Clauses to a Piper network's numbers, by the alphabet of its voice.
//!
//! Entry function: [`pieces`]. **Never**: a number that the alphabet lacks.

use unicode_normalization::UnicodeNormalization;

use super::settings::Settings;
use crate::provider::voices::neural::clauses::Clause;

/// Sounds after which a piece ends with its clause. Limits the work done at once, and memory, which
/// grows with its square.
const PIECE: usize = 400;
/// Sounds after which a clause without marks is cut.
const LONGEST: usize = 800;
/// Begin and end of a sentence, and the separator of sounds; espeak-ng never prints them.
const BEGIN: char = '^';
const END: char = '$';
const BETWEEN: char = '_';

/// Input of the network for `clauses`, in pieces to be spoken one after the other.
pub fn pieces(clauses: &[Clause], settings: &Settings) -> Vec<Vec<i32>> {
    let mut pieces = Vec::new();
    let mut sounds = Vec::new();
    for Clause { sounds: clause, mark } in clauses {
        let clause: Vec<char> = sounded(clause, settings);
        for part in clause.chunks(LONGEST) {
            if sounds.len() + part.len() > PIECE && !sounds.is_empty() {
                pieces.push(std::mem::take(&mut sounds));
            }
            sounds.extend_from_slice(part);
        }
        if !clause.is_empty() {
            sounds.push(*mark);
            sounds.push(' ');
        }
    }
    pieces.push(sounds);
    pieces.retain(|sounds| !sounds.is_empty());
    pieces.iter().map(|sounds| numbers(sounds, settings)).collect()
}

fn sounded(clause: &str, settings: &Settings) -> Vec<char> {
    let mut sounds = Vec::new();
    for c in clause.nfd() {
        match settings.replaced.get(&c) {
            Some(by) => sounds.extend(by.chars()),
            None => sounds.push(c),
        }
    }
    let own = [BEGIN, END, BETWEEN];
    sounds.retain(|c| settings.alphabet.contains_key(c) && !own.contains(c));
    sounds
}

/// A sentence as the network was trained to read it.
fn numbers(sounds: &[char], settings: &Settings) -> Vec<i32> {
    let ids = |c: char| settings.alphabet.get(&c).map(Vec::as_slice).unwrap_or_default();
    let sounds = sounds.strip_suffix(&[' ']).unwrap_or(sounds);
    let mut numbers = [ids(BEGIN), ids(BETWEEN)].concat();
    for sound in sounds {
        numbers.extend_from_slice(ids(*sound));
        numbers.extend_from_slice(ids(BETWEEN));
    }
    numbers.extend_from_slice(ids(END));
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(sounds: &str, mark: char) -> Clause {
        Clause { sounds: sounds.to_owned(), mark }
    }

    fn settings() -> Settings {
        let json = r#"{"audio": {"sample_rate": 22050}, "espeak": {"voice": "en-us"},
            "phoneme_map": {"q": ["a", "b"]},
            "phoneme_id_map": {"_": [0], "^": [1], "$": [2], " ": [3], ".": [4], ",": [5],
                "h": [6], "ə": [7], "l": [8], "ˈ": [9], "o": [10], "ʊ": [11], "a": [12], "b": [13, 14]}}"#;
        Settings::read(json.as_bytes()).unwrap()
    }

    #[test]
    fn sounds_become_numbers_with_pads_between() {
        let settings = settings();
        let numbers = pieces(&[said("həlˈoʊ", ',')], &settings);
        assert_eq!(numbers, [[1, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 5, 0, 2]]);
        assert_eq!(
            pieces(&[said("ha xq^$_", '.')], &settings),
            [[1, 0, 6, 0, 12, 0, 3, 0, 12, 0, 13, 14, 0, 4, 0, 2]]
        );
    }

    #[test]
    fn synthesis_pieces_are_bounded_in_length() {
        let settings = settings();
        let long = "ha".repeat(5_000);
        let many = pieces(&[said(&long, '.')], &settings);
        assert!(many.iter().all(|piece| piece.len() <= 2 * LONGEST + 8), "{}", many.len());
        let clauses = pieces(&vec![said("haha haha haha", ','); 100], &settings);
        assert!(clauses.len() > 2 && clauses.iter().all(|piece| piece.len() <= 2 * PIECE + 8));
        assert!(pieces(&[said("", '.')], &settings).is_empty());
    }
}
