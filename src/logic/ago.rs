//! Time since something happened, in words.
//!
//! Entry function: [`ago`]. **Never**: asks what time it is.

/// Units in ms, each with its name in the plural.
const UNITS: [(i64, &str); 6] = [
    (365 * 86_400_000, "years"),
    (30 * 86_400_000, "months"),
    (7 * 86_400_000, "weeks"),
    (86_400_000, "days"),
    (3_600_000, "hours"),
    (60_000, "minutes"),
];

/// `ms` milliseconds as text: "just now", "20 minutes ago", "3 weeks ago".
pub fn ago(ms: i64) -> String {
    let unit = UNITS.iter().find(|(length, _)| ms >= 2 * length);
    unit.map_or_else(
        || "just now".to_owned(),
        |(length, name)| format!("{} {name} ago", ms / length),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ago_uses_largest_unit_that_fits_twice() {
        let said = [
            (-5, "just now"),
            (119_000, "just now"),
            (120_000, "2 minutes ago"),
            (5_400_000, "90 minutes ago"),
            (30 * 3_600_000, "30 hours ago"),
            (3 * 86_400_000, "3 days ago"),
            (20 * 86_400_000, "2 weeks ago"),
            (100 * 86_400_000, "3 months ago"),
            (800 * 86_400_000, "2 years ago"),
        ];
        for (ms, words) in said {
            assert_eq!(ago(ms), words);
        }
    }
}
