//! Names of files, made of names that others chose.
//!
//! Entry type: [`FileNames`]. Letters, digits and hyphens alone pass.

use std::collections::BTreeSet;

/// Longest name without its ending, in bytes.
const NAME_MAX: usize = 60;

/// The names taken in a folder.
#[derive(Debug, Default)]
pub struct FileNames(BTreeSet<String>);

impl FileNames {
    /// A file name for `name` without an ending, taken once.
    pub fn take(&mut self, name: &str) -> String {
        let plain = stem(name);
        let plain = if plain.is_empty() { "unnamed".to_owned() } else { plain };
        let numbered = (2_usize..).map(|number| format!("{plain}-{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|it| !self.0.contains(it));
        let free = free.unwrap_or(plain);
        self.0.insert(free.clone());
        free
    }
}

/// Letters and digits in lower case, one hyphen between words.
fn stem(name: &str) -> String {
    let mut stem = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        let c = if c.is_alphanumeric() { c } else { '-' };
        if stem.len() + c.len_utf8() > NAME_MAX {
            break;
        }
        if c != '-' || !(stem.is_empty() || stem.ends_with('-')) {
            stem.push(c);
        }
    }
    stem.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain_and_unique() {
        let mut names = FileNames::default();
        assert_eq!(names.take("../../etc/passwd\0"), "etc-passwd");
        assert_eq!(names.take("Friday, the 13th"), "friday-the-13th");
        assert_eq!(names.take("friday the 13TH!"), "friday-the-13th-2");
        assert_eq!((names.take("…"), names.take("/")), ("unnamed".into(), "unnamed-2".into()));
        assert!(names.take(&"Ä".repeat(500)).len() <= NAME_MAX);
    }
}
