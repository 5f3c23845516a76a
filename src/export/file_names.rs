//! Names of files, made of names that others chose.
//!
//! Entry type: [`FileNames`]. Letters, digits and hyphens alone pass.

use std::collections::BTreeSet;

use crate::domain::file_stem;

/// Longest name without its ending, in bytes.
const NAME_MAX: usize = 60;

/// The names taken in a folder.
#[derive(Debug, Default)]
pub struct FileNames(BTreeSet<String>);

impl FileNames {
    /// A file name for `name` without an ending, taken once.
    pub fn take(&mut self, name: &str) -> String {
        let plain = file_stem(name, NAME_MAX);
        let plain = if plain.is_empty() { "unnamed".to_owned() } else { plain };
        let numbered = (2_usize..).map(|number| format!("{plain}-{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|it| !self.0.contains(it));
        let free = free.unwrap_or(plain);
        self.0.insert(free.clone());
        free
    }
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
