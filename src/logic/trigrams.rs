//! Similarity of spellings by trigrams; meaning plays no part.
//!
//! Entry functions: [`is_alike`], [`vector`].

use crate::domain::fnv1a;

pub const DIMENSION: usize = 512;
/// Fraction of trigrams that forms of one word share.
const ALIKE: f64 = 0.65;

/// True for equal words, forms of one ("promise", "promised") and misheard ones ("Greymantel").
pub fn is_alike(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (ones, others) = (groups(one), groups(other));
    let shared = ones.iter().filter(|group| others.contains(group)).count();
    // Words are short: their counts are exact as floats.
    #[expect(clippy::cast_precision_loss, reason = "counts of letters")]
    let share = 2.0 * shared as f64 / (ones.len() + others.len()) as f64;
    share >= ALIKE && one.chars().next() == other.chars().next()
}

/// Trigrams, each once; the ends of a word are letters too.
fn groups(word: &str) -> Vec<[char; 3]> {
    let letters: Vec<char> = "^".chars().chain(word.chars()).chain("$".chars()).collect();
    let mut groups: Vec<[char; 3]> =
        letters.windows(3).filter_map(|it| it.try_into().ok()).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// The trigrams of `words`, hashed to [`DIMENSION`] places: texts with similar words have a small
/// angle. Each word has the same weight, whatever its length.
pub fn vector<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSION];
    for word in words {
        let groups = groups(word);
        #[expect(clippy::cast_precision_loss, reason = "counts of letters")]
        let weight = 1.0 / (groups.len().max(1) as f32).sqrt();
        for group in groups {
            let hash = fnv1a(group.iter().collect::<String>().into_bytes());
            let place = usize::try_from(hash % DIMENSION as u64).unwrap_or_default();
            if let Some(place) = vector.get_mut(place) {
                // Half of the trigrams that collide cancel each other.
                *place += if hash >> 63 == 0 { weight } else { -weight };
            }
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_forms_are_alike_and_other_words_are_not() {
        let alike = [("promise", "promised"), ("hammer", "hammers"), ("greymantle", "greymantel")];
        for (one, other) in alike {
            assert!(is_alike(one, other) && is_alike(other, one), "{one} {other}");
        }
        let different = [("father", "feather"), ("other", "mother"), ("king", "kind"), ("a", "b")];
        for (one, other) in different {
            assert!(!is_alike(one, other) && !is_alike(other, one), "{one} {other}");
        }
        assert!(is_alike("", ""));
    }

    #[test]
    fn texts_with_like_words_are_nearer() {
        let cosine = |one: &str, other: &str| -> f32 {
            let [one, other] = [one, other].map(|text| vector(text.split(' ')));
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt()
        };
        let told = "wren promised bartoks father find silver hammer";
        assert!((cosine(told, told) - 1.0).abs() < 1e-5);
        assert!(cosine("promise father", told) > 0.3);
        assert!(cosine("geese south winter", told).abs() < 0.2);
        assert!(vector([]).iter().all(|it| *it == 0.0));
    }
}
