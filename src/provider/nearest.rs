//! Names of a list that resemble a wrong one. Entry function: [`nearest_names`].

use strsim::osa_distance;

/// Names shown at most.
const FEW: usize = 3;
/// Longest name whose spelling is compared, in characters.
const LONGEST: usize = 64;

/// The nearest few of `known` to `wanted`, in order, and true if more are known.
pub fn nearest_names<'k>(
    wanted: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> (Vec<&'k str>, bool) {
    let wanted: String = wanted.to_lowercase().chars().take(LONGEST).collect();
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_by_cached_key(|known| {
        let known: String = known.to_lowercase().chars().take(LONGEST).collect();
        // A name is often part of the full one: "lessac" of "en_US-lessac-medium".
        (!known.contains(&wanted), osa_distance(&wanted, &known))
    });
    let has_more = known.len() > FEW;
    known.truncate(FEW);
    (known, has_more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_names_come_before_slips() {
        let known = ["en_GB-alan-low", "lessen", "en_US-lessac-medium", "af_heart"];
        let (near, has_more) = nearest_names("Lessac", known);
        assert_eq!(near[..2], ["en_US-lessac-medium", "lessen"]);
        assert!(has_more && near.len() == FEW);
        assert_eq!(nearest_names("x", []), (Vec::new(), false));
    }
}
