//! Cuts a sentence into pieces, each computed at once.
//!
//! Entry function: [`pieces`]. Kokoro reads a whole piece before its first sound, so the first
//! piece is short, and each further one is only as long as can be computed while the one before
//! plays. **Never**: cuts inside a clause, unless it is too long for the network.

use super::alphabet::{English, number, numbers};
use crate::provider::voices::neural::clauses::Clause;

/// Most numbers that Kokoro reads at once.
pub const MOST: usize = 510;
/// Longest piece: about eight seconds. Memory grows with its square, and a cancelled sentence
/// wastes at most one piece.
const LONGEST: usize = 150;
/// Shortest first piece, about a second and a half; shorter ones sound odd.
const FIRST: usize = 28;
/// A shorter rest joins the piece before.
const LEAST: usize = 14;
/// Largest length of a piece relative to the one before.
const MOST_GROWTH: f32 = 3.0;

const _: () = assert!(LONGEST + LEAST <= MOST, "what is spoken at once can be read");

/// Input of the network for `clauses`; a second of sound takes `speed` seconds.
pub fn pieces(clauses: &[Clause], english: English, speed: f32) -> Vec<Vec<i32>> {
    let growth = (1.0 / speed.max(0.01)).clamp(1.0, MOST_GROWTH);
    let (mut pieces, mut piece, mut wanted) = (Vec::new(), Vec::new(), FIRST);
    for part in clauses.iter().flat_map(|clause| parts(clause, english)) {
        if piece.len() + part.len() > LONGEST && !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.extend(part);
        if piece.len() >= wanted {
            wanted = longer(piece.len(), growth);
            pieces.push(std::mem::take(&mut piece));
        }
    }
    match pieces.last_mut() {
        Some(last) if piece.len() < LEAST => last.append(&mut piece),
        _ => pieces.push(piece),
    }
    let space = number(' ');
    for piece in &mut pieces {
        while piece.last().copied() == space && !piece.is_empty() {
            piece.pop();
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn longer(length: usize, growth: f32) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, above 0")]
    let longer = (length as f32 * growth) as usize;
    longer.min(LONGEST)
}

/// The numbers of a clause with its mark; if it is too long, several parts, cut between words.
fn parts(clause: &Clause, english: English) -> Vec<Vec<i32>> {
    let mut rest = numbers(&clause.sounds, english);
    if rest.is_empty() {
        return Vec::new();
    }
    let (mark, space) = (number(clause.mark), number(' '));
    rest.extend(mark.into_iter().chain(space));
    let mut parts = Vec::new();
    while rest.len() > LONGEST {
        let word = rest.iter().take(LONGEST).rposition(|it| Some(*it) == space);
        let after = rest.split_off(word.map_or(LONGEST, |place| place + 1));
        parts.push(std::mem::replace(&mut rest, after));
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(clauses: &[usize], speed: f32) -> Vec<usize> {
        let clause = |length: &usize| Clause { sounds: "a".repeat(*length), mark: ',' };
        let clauses: Vec<Clause> = clauses.iter().map(clause).collect();
        pieces(&clauses, English::British, speed).iter().map(Vec::len).collect()
    }

    #[test]
    fn first_piece_is_short_and_later_ones_keep_up() {
        assert_eq!(lengths(&[40, 40, 40, 40, 40], 0.8), [41, 83, 83], "1.25 times the one before");
        assert_eq!(lengths(&[30, 30, 30, 30, 30, 30], 0.3), [31, 95, 63], "three times at most");
        assert_eq!(lengths(&[3, 12, 20, 90], 0.3), [40, 91], "what is too short waits");
        assert_eq!(lengths(&[30, 5], 0.3), [38], "what is left over stays with the rest");
        assert_eq!(lengths(&[4], 5.0), [5]);
        assert!(lengths(&[], 0.3).is_empty() && lengths(&[0], 0.3).is_empty());
    }

    #[test]
    fn no_piece_is_longer_than_the_network_reads() {
        let words = vec!["haha"; 400].join(" ");
        let clause = Clause { sounds: words, mark: '.' };
        let all = pieces(std::slice::from_ref(&clause), English::American, 0.1);
        assert!(all.iter().all(|piece| piece.len() <= LONGEST + LEAST), "{all:?}");
        let (h, a) = (number('h').unwrap(), number('a').unwrap());
        let whole = |piece: &Vec<i32>| piece[..4] == [h, a, h, a] && piece.last() != Some(&16);
        assert!(all.len() > 12 && all.iter().all(whole), "cut between words");
        let endless = lengths(&[5_000], 0.1);
        assert!(endless.iter().sum::<usize>() == 5_001 && endless.iter().all(|it| *it <= MOST));
    }

    #[test]
    fn marks_stay_and_words_are_apart() {
        let clauses = [("hˈaɪ", ','), ("ʃˈiː", '?')]
            .map(|(sounds, mark)| Clause { sounds: sounds.to_owned(), mark });
        let expected: Vec<i32> = "hˈI, ʃˈi?".chars().filter_map(number).collect();
        assert_eq!(pieces(&clauses, English::American, 0.5), [expected]);
    }
}
