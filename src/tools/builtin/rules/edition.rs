//! Names of the fifth edition as people and models write them. Other games and editions do not
//! match.

/// Words its name may contain, without numbers.
const WORDS: &[&str] = &[
    "a", "and", "book", "d", "dd", "dnd", "dragons", "dungeons", "e", "ed", "edition", "fifth",
    "game", "handbook", "one", "phb", "player", "players", "rules", "ruleset", "s", "srd", "st",
    "system", "th", "the", "v",
];
/// A name without a number needs one of these.
const NAMING: &[&str] = &["dd", "dnd", "dungeons", "fifth", "srd"];

/// The edition `system` names: "5e" or one of its two books; `None`: another system.
pub fn fifth_edition(system: &str) -> Option<&'static str> {
    let system = system.to_lowercase().replace(['&', '\u{2019}', '\''], "");
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let numbers = || system.split(|c| !is_number(c)).map(|it| it.trim_matches('.'));
    let numbers = || numbers().filter(|it| !it.is_empty());
    let words = || system.split(|c: char| !c.is_alphabetic()).filter(|it| !it.is_empty());
    if !words().all(|word| WORDS.contains(&word)) {
        return None;
    }
    let is_2014 = |number: &str| matches!(number, "2014" | "14") || number.starts_with("5.1");
    let is_2024 =
        |number: &str| matches!(number, "2024" | "24" | "5.5") || number.starts_with("5.2");
    if !numbers().all(|it| matches!(it, "5" | "5.0") || is_2014(it) || is_2024(it)) {
        return None;
    }
    let names_it = numbers().next().is_some() || words().any(|word| NAMING.contains(&word));
    match (numbers().any(is_2014), numbers().any(is_2024)) {
        (true, false) => Some("5e-2014"),
        (false, true) => Some("5e-2024"),
        // "One D&D" was the second book's working title.
        (false, false) if names_it && words().any(|word| word == "one") => Some("5e-2024"),
        _ => names_it.then_some("5e"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_usual_names_are_known_and_others_are_not() {
        for name in [
            "dnd5e",
            "5e",
            "5",
            "D&D",
            "D&D 5e",
            "d&d5e",
            "DnD 5th Edition",
            "fifth edition",
            "Dungeons & Dragons",
            "Dungeons and Dragons 5e",
            "SRD",
            "dnd-5e",
            "D&D_5E",
            "5th ed.",
        ] {
            assert_eq!(fifth_edition(name), Some("5e"), "{name}");
        }
        for name in ["2014", "5e-2014", "dnd5e 2014", "SRD 5.1", "5e14", "Player's Handbook 2014"] {
            assert_eq!(fifth_edition(name), Some("5e-2014"), "{name}");
        }
        for name in ["2024", "5.5e", "D&D 2024", "SRD 5.2.1", "5e24", "One D&D", "5.24e"] {
            assert_eq!(fifth_edition(name), Some("5e-2024"), "{name}");
        }
        for name in [
            "",
            "pf2e",
            "Pathfinder 2e",
            "D&D 3.5",
            "dnd35e",
            "ADnD 2nd edition",
            "4e",
            "D&D 4e",
            "Shadowrun 5e",
            "GURPS",
            "a",
            "rules",
            "Call of Cthulhu 7e",
        ] {
            assert_eq!(fifth_edition(name), None, "{name}");
        }
    }
}
