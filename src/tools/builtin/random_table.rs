//! Random tables: weighted entries, one of which is drawn.

use rand::{Rng, RngExt};

/// A random table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomTable {
    /// Name of the table ("wild_magic").
    pub name: String,
    /// Weight (above zero) and text of each entry; at least one.
    pub entries: Vec<(u32, String)>,
}

impl RandomTable {
    /// Compares names ignoring blanks, hyphens and case.
    pub fn answers_to(&self, name: &str) -> bool {
        fn plain(name: &str) -> impl Iterator<Item = char> {
            name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
        }
        plain(name).eq(plain(&self.name))
    }

    /// Draws one entry: the number rolled (1 to the sum of weights) and its text.
    pub fn roll(&self, rng: &mut impl Rng) -> (u64, &str) {
        let sum: u64 = self.entries.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let roll = rng.random_range(1..=sum.max(1));
        let mut left = roll;
        for (weight, text) in &self.entries {
            let weight = u64::from(*weight);
            if left <= weight {
                return (roll, text);
            }
            left -= weight;
        }
        (roll, "nothing")
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn draws_by_weight() {
        let table = RandomTable {
            name: "wild_magic".into(),
            entries: vec![(1, "rare".into()), (3, "common".into())],
        };
        let mut rng = StdRng::seed_from_u64(7);
        let common = (0..4_000).filter(|_| table.roll(&mut rng).1 == "common").count();
        assert!((2_800..3_200).contains(&common), "{common} of 4000 should be near 3000");
    }

    #[test]
    fn names_match_without_their_separators() {
        let table = RandomTable { name: "wild_magic".into(), entries: vec![(1, "x".into())] };
        assert!(table.answers_to("Wild Magic"));
        assert!(!table.answers_to("wild"));
    }
}
