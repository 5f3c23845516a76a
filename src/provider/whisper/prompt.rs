//! What a model is made to believe was said before: the names of the scene, and how dice are written.
//!
//! Entry function: [`prompt_of`]. **Never**: longer than it is worth; each of its words costs time in
//! every hearing.

/// Bytes of names: about 70 tokens of made-up ones.
const NAMES_MAX: usize = 240;

/// The likeliest of `names`, as many as there is room for, and dice, for speech in `language`.
pub fn prompt_of(names: &[String], language: &str) -> String {
    let mut length = 0;
    let fits = |name: &&String| {
        length += name.len() + 2;
        length <= NAMES_MAX
    };
    let names: Vec<&str> = names.iter().take_while(fits).map(String::as_str).collect();
    let names = names.join(", ");
    let (heading, dice) = match language {
        "en" => ("Names: ", "Roll 2d6+3, d20."),
        "de" => ("Namen: ", "Wirf 2W6+3, W20."),
        _ => ("", ""),
    };
    match (names.is_empty(), dice.is_empty()) {
        (true, _) => dice.to_owned(),
        (false, true) => format!("{heading}{names}."),
        (false, false) => format!("{heading}{names}. {dice}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_names_stand_before_the_dice() {
        let names = ["Thorin", "Elara"].map(str::to_owned);
        assert_eq!(prompt_of(&names, "en"), "Names: Thorin, Elara. Roll 2d6+3, d20.");
        assert_eq!(prompt_of(&names, "de"), "Namen: Thorin, Elara. Wirf 2W6+3, W20.");
        assert_eq!(prompt_of(&names, "fr"), "Thorin, Elara.");
        assert_eq!(prompt_of(&[], "en"), "Roll 2d6+3, d20.");
        assert_eq!(prompt_of(&[], "fr"), "");
        let many: Vec<String> = (0..100).map(|n| format!("Somebody{n}")).collect();
        let prompt = prompt_of(&many, "en");
        assert!(prompt.starts_with("Names: Somebody0, ") && prompt.len() < 280, "{prompt}");
    }
}
