//! Names of files, made of names that others chose.
//!
//! Entry function: [`file_stem`].

/// Letters and digits of `name` in lower case, one hyphen between words, at most `most` bytes; empty if there
/// are none.
pub fn file_stem(name: &str, most: usize) -> String {
    let mut stem = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        let c = if c.is_alphanumeric() { c } else { '-' };
        if stem.len() + c.len_utf8() > most {
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
    fn only_letters_and_digits_pass() {
        assert_eq!(file_stem("../../etc/passwd\0", 60), "etc-passwd");
        assert_eq!(file_stem("\u{202e}Luna\u{200b} …", 60), "luna");
        assert_eq!(file_stem("…/…", 60), "");
        assert!(file_stem(&"Ä".repeat(500), 61).len() == 60);
    }
}
