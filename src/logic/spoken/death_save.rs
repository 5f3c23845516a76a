//! A death save, which is a plain d20: "I'm down, death save please".
//!
//! Entry function: [`asked`]. Each word of such an utterance names the save, requests it, or is a
//! filler, so "I failed my death save" is none.

use super::utterance::{Spoken, without_calls};
use crate::logic::language::is_dice_talk;

/// The d20 that `utterance` requests.
pub(super) fn asked(utterance: &str) -> Option<String> {
    let said = Spoken::of(without_calls(utterance, is_call));
    let begins =
        said.words().next().is_some_and(|it| matches!(it, "can" | "could" | "kann" | "kannst"));
    // "you need to make a death save" speaks to a player.
    let is_to_player = said.words().any(|word| matches!(word, "you" | "du"));
    let is_request = begins || !is_to_player && !utterance.trim_end().ends_with('?');
    let is_asked = said.has(|it| it.death_saves) && is_request && said.words().all(is_beside);
    is_asked.then(|| "1d20".to_owned())
}

/// "Bartok", not "please".
fn is_call(part: &str) -> bool {
    let said = Spoken::of(part);
    said.words().count() == 1 && !said.words().any(is_beside)
}

fn is_beside(word: &str) -> bool {
    is_dice_talk(|it| it.beside_death_save, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn death_save_is_a_d20() {
        for said in [
            "i'm down death save please",
            "Death save!",
            "Bartok, I need to make a death saving throw",
            "can you roll a death save for me?",
            "okay, rolling my death save",
            "ich sterbe, Todesrettungswurf",
            "Ich bin unten, Todesrettungswurf bitte",
            "Bartok, würfel mir einen Todesrettungswurf",
        ] {
            assert_eq!(asked(said).as_deref(), Some("1d20"), "{said}");
        }
    }

    #[test]
    fn talk_about_death_saves_rolls_nothing() {
        for said in [
            "i'm down",
            "botched death save",
            "my death save failed",
            "I failed my death save",
            "what is a death save",
            "death save?",
            "you need to make a death save",
            "would you like to make a death save",
            "do I need a death save?",
            "don't roll a death save",
            "she made two death saves already",
            "two death saves to go",
            "the death of the king saves us",
            "I will not make a death save",
            "Was ist ein Todesrettungswurf",
            "kein Todesrettungswurf",
            "den Todesrettungswurf habe ich verpatzt",
            "Muss ich einen Todesrettungswurf machen",
        ] {
            assert_eq!(asked(said), None, "{said}");
        }
    }
}
