//! Text to the numbers a Piper network reads: clauses, their phonemes by espeak-ng, an alphabet.
//!
//! Entry function: [`pieces`]. espeak-ng says nothing of punctuation, which the network needs for
//! its melody, so clauses are cut here and their marks put back.
//! **Never**: linking espeak-ng (its licence is GPL-3), text in a shell.

use unicode_normalization::UnicodeNormalization;

use super::settings::Settings;
use crate::provider::{Error, Kind, child::fed};

/// The program and its package.
const PROGRAM: &str = "espeak-ng";
/// Longest text, in bytes; what a sentence may be is far below.
const MAX_TEXT: usize = 16 * 1024;
/// A piece of so many sounds ends with its clause: what is spoken at once is bounded, and with it
/// memory, which grows with the square.
const PIECE: usize = 400;
/// A clause without any mark is cut after so many sounds.
const LONGEST: usize = 800;
/// Letters of abbreviations that keep their clause ("Dr.", "Mrs.").
const ABBREVIATED: usize = 3;
/// Begin and end of a sentence, and what stands between sounds: never said by espeak-ng.
const BEGIN: char = '^';
/// See [`BEGIN`].
const END: char = '$';
/// See [`BEGIN`].
const BETWEEN: char = '_';

/// What `text` is to the network, in pieces to be spoken one after the other.
///
/// # Errors
/// espeak-ng is missing or does not know the voice's language.
pub async fn pieces(text: &str, settings: &Settings) -> Result<Vec<Vec<i32>>, Error> {
    if text.len() > MAX_TEXT {
        let text =
            format!("cannot speak \"{}\" bytes at once (speak sentence by sentence)", text.len());
        return Err(Error::new(Kind::InvalidRequest, text));
    }
    let clauses = clauses(text);
    let mut sounds = Vec::new();
    let all: Vec<&str> = clauses.iter().map(|clause| clause.words.as_str()).collect();
    let lines = phonemes(&all.join("\n\n"), settings).await?;
    if lines.len() == clauses.len() {
        sounds = lines;
    } else {
        // espeak-ng has cut a clause by rules of its own.
        for clause in &clauses {
            sounds.push(phonemes(&clause.words, settings).await?.join(" "));
        }
    }
    let said = clauses.iter().zip(&sounds);
    Ok(numbered(said.map(|(clause, sounds)| (sounds.as_str(), clause.mark)), settings))
}

/// The lines that espeak-ng prints for `words`.
async fn phonemes(words: &str, settings: &Settings) -> Result<Vec<String>, Error> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let arguments = ["-q", "--ipa", "-b", "1", "-v", settings.espeak.as_str(), "--stdin"];
    let printed = fed(PROGRAM, &arguments, words).await?;
    let lines = printed.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// Words up to a mark.
#[derive(Debug, PartialEq)]
struct Clause {
    words: String,
    mark: char,
}

/// The clauses of `text` that have words.
fn clauses(text: &str) -> Vec<Clause> {
    let chars: Vec<char> = text.chars().collect();
    let mut clauses: Vec<Clause> = Vec::new();
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

/// Ends a clause; a mark after a mark is the stronger of both ("?!").
fn end(clauses: &mut Vec<Clause>, words: &mut String, mark: char) {
    if words.chars().any(char::is_alphanumeric) {
        let said = words.split_whitespace().collect::<Vec<_>>().join(" ");
        clauses.push(Clause { words: said, mark });
    } else if let Some(last) = clauses.last_mut()
        && words.trim().is_empty()
        && ",;:".contains(last.mark)
    {
        last.mark = mark;
    }
    words.clear();
}

/// The mark that the network knows for `c`, if it is one.
fn mark(c: char) -> Option<char> {
    match c {
        ',' | '.' | ';' | ':' | '!' | '?' => Some(c),
        '…' => Some('.'),
        '—' | '–' => Some(','),
        _ => None,
    }
}

/// Whether the last word is a short one with a capital.
fn is_abbreviated(words: &str) -> bool {
    let last = words.rsplit(' ').next().unwrap_or_default();
    last.chars().count() <= ABBREVIATED
        && last.chars().next().is_some_and(char::is_uppercase)
        && words.trim() != last
        || ["Dr", "Mr", "Mrs", "Ms", "St", "Lt"].contains(&last)
}

/// Sounds and marks as numbers, in pieces.
fn numbered<'a>(said: impl Iterator<Item = (&'a str, char)>, settings: &Settings) -> Vec<Vec<i32>> {
    let mut pieces = Vec::new();
    let mut sounds = Vec::new();
    for (clause, mark) in said {
        let clause: Vec<char> = sounded(clause, settings);
        for part in clause.chunks(LONGEST) {
            if sounds.len() + part.len() > PIECE && !sounds.is_empty() {
                pieces.push(std::mem::take(&mut sounds));
            }
            sounds.extend_from_slice(part);
        }
        if !clause.is_empty() {
            sounds.push(mark);
            sounds.push(' ');
        }
    }
    pieces.push(sounds);
    pieces.retain(|sounds| !sounds.is_empty());
    pieces.iter().map(|sounds| numbers(sounds, settings)).collect()
}

/// The sounds of a clause that the alphabet has.
fn sounded(clause: &str, settings: &Settings) -> Vec<char> {
    // "(fr)bonjour(en)": espeak-ng tells where it changes the language.
    let mut inside = false;
    let said = clause.nfd().filter(|c| {
        inside = inside && *c != ')' || *c == '(';
        !inside && *c != ')'
    });
    let mut sounds = Vec::new();
    for c in said {
        match settings.replaced.get(&c) {
            Some(by) => sounds.extend(by.chars()),
            None => sounds.push(c),
        }
    }
    let own = [BEGIN, END, BETWEEN];
    sounds.retain(|c| settings.alphabet.contains_key(c) && !own.contains(c));
    sounds
}

/// A sentence as the network was trained to read it.
fn numbers(sounds: &[char], settings: &Settings) -> Vec<i32> {
    let ids = |c: char| settings.alphabet.get(&c).map(Vec::as_slice).unwrap_or_default();
    let sounds = sounds.strip_suffix(&[' ']).unwrap_or(sounds);
    let mut numbers = [ids(BEGIN), ids(BETWEEN)].concat();
    for sound in sounds {
        numbers.extend_from_slice(ids(*sound));
        numbers.extend_from_slice(ids(BETWEEN));
    }
    numbers.extend_from_slice(ids(END));
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(String, char)> {
        clauses(text).into_iter().map(|clause| (clause.words, clause.mark)).collect()
    }

    fn is(words: &str, mark: char) -> (String, char) {
        (words.to_owned(), mark)
    }

    #[test]
    fn clauses_keep_their_marks() {
        assert_eq!(
            cut("Ah, you!  Who\nare you?"),
            [is("Ah", ','), is("you", '!'), is("Who are you", '?')]
        );
        assert_eq!(cut("Wait… what?!"), [is("Wait", '.'), is("what", '?')]);
        assert_eq!(cut("Go - now — please"), [is("Go - now", ','), is("please", '.')]);
        assert_eq!(
            cut("It's 3.5 or 10,000; (well) 12:30."),
            [is("It's 3.5 or 10,000", ';'), is("well 12:30", '.')]
        );
        assert_eq!(cut("Ask Dr. Smith. He knows."), [is("Ask Dr Smith", '.'), is("He knows", '.')]);
        assert_eq!(cut("... \"\" !"), []);
        assert_eq!(cut("[[hack]] <b>x</b>"), [is("hack b x b", '.')]);
    }

    fn settings() -> Settings {
        let json = r#"{"audio": {"sample_rate": 22050}, "espeak": {"voice": "en-us"},
            "phoneme_map": {"q": ["a", "b"]},
            "phoneme_id_map": {"_": [0], "^": [1], "$": [2], " ": [3], ".": [4], ",": [5],
                "h": [6], "ə": [7], "l": [8], "ˈ": [9], "o": [10], "ʊ": [11], "a": [12], "b": [13, 14]}}"#;
        Settings::read(json.as_bytes()).unwrap()
    }

    #[test]
    fn sounds_become_numbers_with_pads_between() {
        let settings = settings();
        let said = [("həlˈoʊ", ',')].into_iter();
        let numbers = numbered(said, &settings);
        assert_eq!(numbers, [[1, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 5, 0, 2]]);
        // What espeak-ng tells of languages, what the alphabet lacks, and its own marks are not said.
        let said = [("(fr)ha(en) xq^$_", '.')].into_iter();
        assert_eq!(
            numbered(said, &settings),
            [[1, 0, 6, 0, 12, 0, 3, 0, 12, 0, 13, 14, 0, 4, 0, 2]]
        );
    }

    #[test]
    fn what_is_spoken_at_once_is_bounded() {
        let settings = settings();
        let long = "ha".repeat(5_000);
        let many = numbered([(long.as_str(), '.')].into_iter(), &settings);
        assert!(many.iter().all(|piece| piece.len() <= 2 * LONGEST + 8), "{}", many.len());
        let clauses = numbered((0..100).map(|_| ("haha haha haha", ',')), &settings);
        assert!(clauses.len() > 2 && clauses.iter().all(|piece| piece.len() <= 2 * PIECE + 8));
        assert!(numbered([("", '.')].into_iter(), &settings).is_empty());
    }

    #[tokio::test]
    async fn espeak_finds_the_phonemes_of_each_clause() {
        let alone = pieces("Hello, hello.", &settings()).await.unwrap();
        let hello = [6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0];
        let expected = [&[1, 0][..], &hello, &[5, 0, 3, 0], &hello, &[4, 0, 2]].concat();
        assert_eq!(alone, [expected]);
        assert!(pieces("…", &settings()).await.unwrap().is_empty());
        let error = pieces(&"a".repeat(MAX_TEXT + 1), &settings()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
    }
}
