//! The known spelling nearest to a mistaken one.

/// Longest word worth comparing, in characters.
const LONGEST: usize = 64;

/// The one of `known` nearest to `word`, if a slip of the fingers explains the difference: at most
/// a third of the letters wrong, missing, added or swapped with a neighbour.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(LONGEST + 1).collect();
    if word.len() > LONGEST {
        return None;
    }
    let scored = known.into_iter().filter_map(|candidate| {
        let letters: Vec<char> = candidate.to_lowercase().chars().collect();
        let allowed = word.len().max(letters.len()).div_ceil(3);
        let distance = distance(&word, &letters);
        (distance <= allowed && distance < letters.len()).then_some((distance, candidate))
    });
    scored.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut last_left = None;
    for (row, &a) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        let mut last_right = None;
        for (column, &b) in right.iter().enumerate() {
            let cell = |line: &[usize], at: usize| line.get(at).copied().unwrap_or(usize::MAX - 1);
            let replaced = cell(&above, column) + usize::from(a != b);
            let mut best =
                replaced.min(cell(&above, column + 1) + 1).min(cell(&current, column) + 1);
            if column > 0 && last_left == Some(b) && last_right == Some(a) {
                best = best.min(cell(&before, column - 1).saturating_add(1));
            }
            current.push(best);
            last_right = Some(b);
        }
        before = std::mem::replace(&mut above, current);
        last_left = Some(a);
    }
    above.last().copied().unwrap_or(0)
}
