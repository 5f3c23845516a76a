//! Spells names as they are pronounced, for services without a pronunciation list.
//!
//! Entry function: [`respell`].

use crate::domain::Pronunciation;

/// Replaces whole words, ignoring case. Of two matching entries the longer wins.
pub fn respell(text: &str, pronunciation: &[Pronunciation]) -> String {
    let mut entries: Vec<(Vec<char>, &str)> = pronunciation
        .iter()
        .map(|entry| (folded(&entry.word), entry.respelling.as_str()))
        .filter(|(word, _)| !word.is_empty())
        .collect();
    entries.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    let characters: Vec<char> = text.chars().collect();
    let lower: Vec<char> = characters.iter().map(|c| lower(*c)).collect();
    let mut said = String::with_capacity(text.len());
    let mut at = 0;
    let mut inside_word = false;
    while let Some(character) = characters.get(at) {
        let fits = |(word, _): &&(Vec<char>, &str)| {
            let end = at + word.len();
            lower.get(at..end) == Some(word)
                && !lower.get(end).is_some_and(|next| next.is_alphanumeric())
        };
        if let Some((word, respelling)) = entries.iter().find(fits).filter(|_| !inside_word) {
            said.push_str(respelling);
            at += word.len();
            inside_word = true;
        } else {
            said.push(*character);
            inside_word = character.is_alphanumeric();
            at += 1;
        }
    }
    said
}

fn folded(word: &str) -> Vec<char> {
    word.trim().chars().map(lower).collect()
}

/// Maps one character to one, so that positions stay the same.
fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str, entries: &[(&str, &str)]) -> String {
        let entries: Vec<Pronunciation> = entries
            .iter()
            .map(|(word, respelling)| Pronunciation {
                word: (*word).to_owned(),
                respelling: (*respelling).to_owned(),
            })
            .collect();
        respell(text, &entries)
    }

    #[test]
    fn whole_words_are_respelled() {
        let entries = [("Bartok", "bar tock"), ("Bartok the Barkeep", "old bar tock")];
        assert_eq!(said("Bartok's ale, bartok!", &entries), "bar tock's ale, bar tock!");
        assert_eq!(said("Ask Bartok the Barkeep.", &entries), "Ask old bar tock.");
        assert_eq!(said("Bartoks bar-Bartok", &entries), "Bartoks bar-bar tock");
    }

    #[test]
    fn letters_of_any_script_are_whole_words() {
        assert_eq!(said("Ünal und Ünals", &[("ünal", "oonal")]), "oonal und Ünals");
        let entries = [("Greymantle", "gray mantle"), ("Zoë", "zo ee")];
        let text = "GREYMANTLE, meet Zoë's Greymantles.";
        assert_eq!(said(text, &entries), "gray mantle, meet zo ee's Greymantles.");
        assert_eq!(said("aZoë ZOË", &entries), "aZoë zo ee");
        assert_eq!(said("nothing", &[("", "x")]), "nothing");
    }

    proptest! {
        #[test]
        fn text_without_entries_is_untouched(text in "\\PC*") {
            prop_assert_eq!(said(&text, &[("", "x")]), text);
        }
    }
}
