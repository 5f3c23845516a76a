//! The known spelling nearest to a mistaken one.

use strsim::osa_distance;

/// Longest compared word, in characters.
const LONGEST: usize = 64;

/// The one of `known` nearest to `word`, if a slip of the fingers explains it: at most a third of
/// the letters wrong, missing, added or swapped with a neighbour.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    let scored = known.into_iter().filter_map(|candidate| {
        let known = candidate.to_lowercase();
        let letters = known.chars().count();
        let distance = osa_distance(&word, &known);
        let is_slip = distance <= length.max(letters).div_ceil(3) && distance < letters;
        is_slip.then_some((distance, candidate))
    });
    scored.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}
