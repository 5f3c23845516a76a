//! Words that one person says once, and an NPC's variants of them.

use std::{collections::BTreeSet, fs, io::ErrorKind, path::Path};

use tempfile::TempDir;

/// Letters of numbers. Two words share at most their first letter, so an index that omits common
/// beginnings holds the rest of each.
const LETTERS: &[u8] = b"bcdfghjklpqvwxz";
/// End of a word that a person said.
const SAID: &str = "umbat";
/// End of the word that an NPC answers with.
const ANSWERED: &str = "arnok";
/// Words that one evening may have.
pub const MOST: usize = LETTERS.len() * LETTERS.len();

/// A word by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word(pub usize);

impl Word {
    fn code(self) -> String {
        let letter = |digit: usize| char::from(LETTERS[digit % LETTERS.len()]);
        [letter(self.0), letter(self.0 / LETTERS.len())].iter().collect()
    }

    /// As a person says it.
    pub fn said(self) -> String {
        let code = self.code();
        format!("{code}o{code}{SAID}")
    }

    /// As an NPC repeats it aloud to the person who said it.
    pub fn answered(self) -> String {
        let code = self.code();
        format!("{code}o{code}{ANSWERED}")
    }

    /// The word whose code ends these bytes, without its first letter.
    fn ending(bytes: &[u8]) -> Option<Self> {
        let &[.., last, b'o', first, again] = bytes else { return None };
        let digit = |letter| LETTERS.iter().position(|it| *it == letter);
        (last == again).then_some(())?;
        Some(Self(digit(first)? + LETTERS.len() * digit(last)?))
    }
}

fn words_with(end: &str, text: &str) -> Vec<Word> {
    let all = text.match_indices(end);
    all.filter_map(|(at, _)| Word::ending(&text.as_bytes()[..at])).collect()
}

/// Words of people in a text, in their order.
pub fn said_in(text: &str) -> Vec<Word> {
    words_with(SAID, text)
}

/// Words in the answers of NPCs in a text.
pub fn answered_in(text: &str) -> Vec<Word> {
    words_with(ANSWERED, text)
}

/// Places below `folder` that hold one of `words`, said or answered.
pub fn places(folder: &Path, words: &BTreeSet<Word>) -> Vec<String> {
    let mut found = Vec::new();
    each_file(folder, &mut |path, text| {
        let all = said_in(text).into_iter().chain(answered_in(text));
        for word in all.filter(|it| words.contains(it)) {
            found.push(format!("{} is in {}", word.said(), path.display()));
        }
    });
    found
}

/// Words of people in all files below `folder`.
pub fn all_in(folder: &Path) -> BTreeSet<Word> {
    let mut all = BTreeSet::new();
    each_file(folder, &mut |_, text| all.extend(said_in(text)));
    all
}

fn each_file(folder: &Path, see: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, see);
        } else if let Some(bytes) = there(fs::read(&path)) {
            see(&path, &String::from_utf8_lossy(&bytes));
        }
    }
}

/// The result of a file operation, unless the file was just replaced or removed.
fn there<T>(done: std::io::Result<T>) -> Option<T> {
    match done {
        Ok(done) => Some(done),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => panic!("a file of the evening: {error}"),
    }
}

/// The files below `folder` as a kill leaves them.
pub fn as_killed(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_files(folder, copy.path());
    copy
}

fn copy_files(from: &Path, to: &Path) {
    let mut paths: Vec<_> = fs::read_dir(from).unwrap().map(|it| it.unwrap().path()).collect();
    // The log first: the database has what leaves the log meanwhile.
    paths.sort_by_key(|path| !path.to_string_lossy().ends_with("-wal"));
    for path in &paths {
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            fs::create_dir(&to).unwrap();
            copy_files(path, &to);
        } else {
            there(fs::copy(path, to));
        }
    }
}
