//! Values of labels that come from outside, bounded. Entry type: [`Labels`].

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

/// Distinct values of a label; later ones are counted as [`OTHER`]. With this many tools, servers
/// and services an answer stays below 1 MB.
const VALUES: usize = 200;
/// Bytes of a value.
const LENGTH: usize = 48;
pub const OTHER: &str = "other";

/// Values that each label has had.
#[derive(Debug, Default)]
pub struct Labels(Mutex<BTreeMap<&'static str, BTreeSet<String>>>);

impl Labels {
    /// `value` as a value of `label`.
    pub fn bounded(&self, label: &'static str, value: &str) -> String {
        let value = plain(value);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry(label).or_default();
        if known.contains(&value) {
            return value;
        }
        if known.len() >= VALUES {
            return OTHER.to_owned();
        }
        known.insert(value.clone());
        value
    }
}

/// `value` cut, without characters that need escaping.
fn plain(value: &str) -> String {
    let mut plain = String::new();
    for c in value.chars() {
        let is_plain = c.is_alphanumeric() || "_.-:/@+".contains(c);
        let c = if is_plain { c } else { '_' };
        if plain.len() + c.len_utf8() > LENGTH {
            break;
        }
        plain.push(c);
    }
    if plain.is_empty() { OTHER.to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_values_are_bounded() {
        let labels = Labels::default();
        for number in 0..VALUES {
            assert_eq!(labels.bounded("tool", &format!("t{number}")), format!("t{number}"));
        }
        assert_eq!(labels.bounded("tool", "one more"), OTHER);
        assert_eq!(labels.bounded("tool", "t7"), "t7");
        assert_eq!(labels.bounded("service", "one more"), "one_more", "another label");
    }

    #[test]
    fn label_values_need_no_escaping() {
        let labels = Labels::default();
        let of = |value: &str| labels.bounded("tool", value);
        assert_eq!(of("dice-roller.roll"), "dice-roller.roll");
        assert_eq!(of("a\"b\\c\nd"), "a_b_c_d");
        assert_eq!(of(""), OTHER);
        assert_eq!(of(&"ä".repeat(LENGTH)), "ä".repeat(LENGTH / 2));
    }
}
