//! Text to clauses and their phonemes, by espeak-ng.
//!
//! Entry function: [`clauses`]. espeak-ng drops punctuation, which networks need for intonation, so
//! clauses are cut here and keep their marks. **Never**: linking espeak-ng (its licence is GPL-3),
//! text in a shell.

use crate::provider::{Error, Kind, child::fed};

const PROGRAM: &str = "espeak-ng";
/// Longest text, in bytes; far above any sentence.
const MAX_TEXT: usize = 16 * 1024;
/// Most letters of abbreviations that do not end a clause ("Dr.", "Mrs.").
const ABBREVIATED: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    pub sounds: String,
    /// Its last mark: one of `,.;:!?`.
    pub mark: char,
}

/// The clauses of `text`, by the voice `espeak` of espeak-ng. Fails without espeak-ng or that
/// voice, or if the text is no sentence.
pub async fn clauses(text: &str, espeak: &str) -> Result<Vec<Clause>, Error> {
    if text.len() > MAX_TEXT {
        let text =
            format!("cannot speak \"{}\" bytes at once (speak sentence by sentence)", text.len());
        return Err(Error::new(Kind::InvalidRequest, text));
    }
    let written = cut(text);
    let mut sounds = Vec::new();
    let all: Vec<&str> = written.iter().map(|clause| clause.words.as_str()).collect();
    let lines = phonemes(&all.join("\n\n"), espeak).await?;
    if lines.len() == written.len() {
        sounds = lines;
    } else {
        // espeak-ng may cut a clause further.
        for clause in &written {
            sounds.push(phonemes(&clause.words, espeak).await?.join(" "));
        }
    }
    let said = written.iter().zip(&sounds);
    Ok(said.map(|(it, sounds)| Clause { sounds: unmarked(sounds), mark: it.mark }).collect())
}

/// Removes "(fr)" and "(en)", espeak-ng's marks of a change of language.
fn unmarked(sounds: &str) -> String {
    let mut inside = false;
    let said = sounds.chars().filter(|c| {
        inside = inside && *c != ')' || *c == '(';
        !inside && *c != ')'
    });
    said.collect()
}

async fn phonemes(words: &str, espeak: &str) -> Result<Vec<String>, Error> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let arguments = ["-q", "--ipa", "-b", "1", "-v", espeak, "--stdin"];
    let printed = fed(PROGRAM, &arguments, words).await?;
    let lines = printed.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

#[derive(Debug, PartialEq)]
struct Written {
    words: String,
    mark: char,
}

/// The clauses of `text` that have words.
fn cut(text: &str) -> Vec<Written> {
    let chars: Vec<char> = text.chars().collect();
    let mut clauses: Vec<Written> = Vec::new();
    let mut words = String::new();
    for (at, c) in chars.iter().enumerate() {
        let next = chars.get(at + 1).copied();
        let ends_word = next.is_none_or(|next| !next.is_alphanumeric());
        match mark(*c) {
            Some('.') if ends_word && next.is_some() && is_abbreviated(&words) => words.push(' '),
            Some(mark) if ends_word || "…—–".contains(*c) => {
                end(&mut clauses, &mut words, mark)
            }
            // "3.5", "10,000" and "12:30" are numbers.
            Some(_) => words.push(*c),
            None if c.is_alphanumeric() || "'’-&%+€$£°".contains(*c) => words.push(*c),
            None => words.push(' '),
        }
    }
    end(&mut clauses, &mut words, '.');
    clauses
}

/// Ends a clause; of two marks in a row the stronger counts ("?!").
fn end(clauses: &mut Vec<Written>, words: &mut String, mark: char) {
    if words.chars().any(char::is_alphanumeric) {
        let said = words.split_whitespace().collect::<Vec<_>>().join(" ");
        clauses.push(Written { words: said, mark });
    } else if let Some(last) = clauses.last_mut()
        && words.trim().is_empty()
        && ",;:".contains(last.mark)
    {
        last.mark = mark;
    }
    words.clear();
}

fn mark(c: char) -> Option<char> {
    match c {
        ',' | '.' | ';' | ':' | '!' | '?' => Some(c),
        '…' => Some('.'),
        '—' | '–' => Some(','),
        _ => None,
    }
}

fn is_abbreviated(words: &str) -> bool {
    let last = words.rsplit(' ').next().unwrap_or_default();
    last.chars().count() <= ABBREVIATED
        && last.chars().next().is_some_and(char::is_uppercase)
        && words.trim() != last
        || ["Dr", "Mr", "Mrs", "Ms", "St", "Lt"].contains(&last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Vec<(String, char)> {
        cut(text).into_iter().map(|clause| (clause.words, clause.mark)).collect()
    }

    fn is(words: &str, mark: char) -> (String, char) {
        (words.to_owned(), mark)
    }

    #[test]
    fn clauses_keep_their_marks() {
        assert_eq!(
            marked("Ah, you!  Who\nare you?"),
            [is("Ah", ','), is("you", '!'), is("Who are you", '?')]
        );
        assert_eq!(marked("Wait… what?!"), [is("Wait", '.'), is("what", '?')]);
        assert_eq!(marked("Go - now — please"), [is("Go - now", ','), is("please", '.')]);
        assert_eq!(
            marked("It's 3.5 or 10,000; (well) 12:30."),
            [is("It's 3.5 or 10,000", ';'), is("well 12:30", '.')]
        );
        assert_eq!(
            marked("Ask Dr. Smith. He knows."),
            [is("Ask Dr Smith", '.'), is("He knows", '.')]
        );
        assert_eq!(marked("... \"\" !"), []);
        assert_eq!(marked("[[hack]] <b>x</b>"), [is("hack b x b", '.')]);
    }

    #[test]
    fn espeak_language_markers_are_removed() {
        assert_eq!(unmarked("(fr)ha(en) xq"), "ha xq");
    }

    #[tokio::test]
    async fn espeak_finds_the_phonemes_of_each_clause() {
        let hello = |mark| Clause { sounds: "həlˈoʊ".to_owned(), mark };
        assert_eq!(clauses("Hello, hello.", "en-us").await.unwrap(), [hello(','), hello('.')]);
        assert!(clauses("…", "en-us").await.unwrap().is_empty());
        let error = clauses(&"a".repeat(MAX_TEXT + 1), "en-us").await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
    }
}
