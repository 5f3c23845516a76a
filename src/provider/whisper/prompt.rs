//! The prompt, which a model takes for what was said before: names of the scene, and how dice are
//! written.
//!
//! Entry functions: [`prompt_of`], [`is_echo`]. Each word costs time in every transcription.

use std::collections::HashSet;

/// Bytes of names: about 120 tokens of made-up ones. With 240 bytes every third name of the shipped
/// world was left out, and such a name is rarely recognised.
const NAMES_MAX: usize = 420;

/// Dice as they should be written. A die with an article keeps "a d twenty" one die, and "plus" as
/// a word keeps the number after it; measured with `tests/data/hearing_dice.txt`. A last sentence
/// without a verb would come back for unclear speech.
const ENGLISH_DICE: &str = "Roll a d20 with disadvantage. Roll 2d6 plus 3.";

/// The first of `names` that fit, and dice, for speech in `language`.
pub fn prompt_of(names: &[String], language: &str) -> String {
    let mut length = 0;
    let fits = |name: &&String| {
        length += name.len() + 2;
        length <= NAMES_MAX
    };
    let names: Vec<&str> = names.iter().take_while(fits).map(String::as_str).collect();
    let names = names.join(", ");
    let (heading, dice) = match language {
        "en" => ("Names: ", ENGLISH_DICE),
        "de" => ("Namen: ", "Wirf 2W6+3, W20."),
        _ => ("", ""),
    };
    match (names.is_empty(), dice.is_empty()) {
        (true, _) => dice.to_owned(),
        (false, true) => format!("{heading}{names}."),
        (false, false) => format!("{heading}{names}. {dice}"),
    }
}

/// Fewest words a second of real speech.
const SLOWEST: f32 = 1.5;

/// Fewest words that count as the end of the prompt: "roll 2d6 plus 3" has six.
const WORDS_OF_DICE: usize = 5;

/// True if `text` seems to repeat `prompt` instead of `seconds` of speech: only its words, and too
/// few of them, or up to its end. A player may still have said just that.
pub fn is_echo(text: &str, prompt: &str, seconds: f32) -> bool {
    let prompt: Vec<String> = words(prompt).collect();
    let known: HashSet<&String> = prompt.iter().collect();
    let said: Vec<String> = words(text).collect();
    let end = prompt.get(prompt.len().saturating_sub(2)..).unwrap_or_default();
    let is_slow = said.len() >= 3 && (said.len() as f32) < seconds * SLOWEST;
    let is_its_end = said.len() >= WORDS_OF_DICE && said.ends_with(end);
    (is_slow || is_its_end) && said.iter().all(|word| known.contains(word))
}

/// Spoken words of `text`: "2d6" is three.
fn words(text: &str) -> impl Iterator<Item = String> {
    let groups = text.split(|c: char| !c.is_alphanumeric());
    groups.flat_map(|group| {
        let chars: Vec<char> = group.to_lowercase().chars().collect();
        let parts = chars.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
        parts.map(|part| part.iter().collect()).collect::<Vec<String>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_that_comes_back_is_no_speech() {
        let prompt = "Names: Bartok, Greymantle. Roll 2d6+3, d20.";
        for (text, seconds, is) in [
            ("Bartok, Greymantle, Greymantle, d20", 4.3, true),
            ("Roll 2d6, d20.", 3.0, true),
            ("Bartok, roll 2d6+3.", 2.5, false),
            ("Bartok, roll d20.", 1.5, false),
            ("Bartok, roll a d20.", 4.3, false),
            ("Greymantle!", 1.0, false),
            ("", 4.0, false),
        ] {
            assert_eq!(is_echo(text, prompt, seconds), is, "{text}");
        }
    }

    #[test]
    fn likeliest_names_come_before_dice_in_prompt() {
        let names = ["Thorin", "Elara"].map(str::to_owned);
        assert_eq!(prompt_of(&names, "en"), format!("Names: Thorin, Elara. {ENGLISH_DICE}"));
        assert_eq!(prompt_of(&names, "de"), "Namen: Thorin, Elara. Wirf 2W6+3, W20.");
        assert_eq!(prompt_of(&names, "fr"), "Thorin, Elara.");
        assert_eq!(prompt_of(&[], "en"), ENGLISH_DICE);
        assert_eq!(prompt_of(&[], "fr"), "");
        let many: Vec<String> = (0..100).map(|n| format!("Somebody{n}")).collect();
        let prompt = prompt_of(&many, "en");
        assert!(prompt.starts_with("Names: Somebody0, ") && prompt.len() < 500, "{prompt}");
    }
}
