//! Whole numbers of a German sentence in words, for a voice that would say figures in another
//! language: [`in_german`]. Leaves ordinals ("3. Mai"), fractions and figures beside letters
//! ("2d6").

use crate::logic::spoken::german_number_words;

pub fn in_german(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (digits, behind) = from.split_at(end);
        out.push_str(before);
        let words = digits.parse().ok().filter(|_| stands_alone(&out, digits, behind));
        match words.and_then(german_number_words) {
            Some(words) => out.push_str(&words),
            None => out.push_str(digits),
        }
        rest = behind;
    }
    out + rest
}

/// True if `digits` are a number of their own between `before` and `behind`.
fn stands_alone(before: &str, digits: &str, behind: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || ",.:/-+%".contains(c);
    let mut behind = behind.chars();
    let (first, second) = (behind.next(), behind.next());
    // A full stop ends a sentence or makes an ordinal; a comma before a blank ends a clause.
    let is_mark = match first {
        Some('.') => second.is_none(),
        Some(',' | ':') => second.is_none_or(|c| c == ' '),
        Some(c) => !joins(c),
        None => true,
    };
    let is_free = !before.ends_with(|c: char| joins(c));
    is_mark && is_free && (digits.len() == 1 || !digits.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_words_and_nothing_else() {
        for (text, is) in [
            ("Die Würfel zeigen 17.", "Die Würfel zeigen siebzehn."),
            ("Der Reihe nach 3, 21, 100.", "Der Reihe nach drei, einundzwanzig, einhundert."),
            ("Ein Wurf. 1", "Ein Wurf. eins"),
            (
                "Am 3. Mai um 10:30 mit 2d6 und 2,5 oder 50%",
                "Am 3. Mai um 10:30 mit 2d6 und 2,5 oder 50%",
            ),
            ("Etwa 58 von hundert", "Etwa achtundfünfzig von hundert"),
            ("007", "007"),
        ] {
            assert_eq!(in_german(text), is);
        }
    }
}
