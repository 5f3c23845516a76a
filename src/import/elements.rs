//! Start tags of HTML in texts that are mostly something else.
//!
//! Entry functions: [`name`], [`has_attributes`].

/// Name of the element whose tag goes on with `after`, which follows "<" or "</", and the rest. The name is
/// empty where no tag begins.
pub fn name(after: &str) -> (&str, &str) {
    if !after.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return ("", after);
    }
    let is_end = |c: char| c.is_whitespace() || matches!(c, '/' | '<' | '>');
    after.split_at(after.find(is_end).unwrap_or(after.len()))
}

/// True if `rest`, which follows an element's name, gives attributes. These may hide an element of any name.
pub fn has_attributes(rest: &str) -> bool {
    // Up to the next bracket, so that all tags together are read once.
    let given = rest.split(['<', '>']).next().unwrap_or_default();
    let is_hidden = given.trim().trim_end_matches('/').trim_end().eq_ignore_ascii_case("hidden");
    rest.starts_with(char::is_whitespace) && (given.contains('=') || is_hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_tell_a_tag_from_text() {
        for (after, element, has) in [
            ("dialog class=secret>", "dialog", true),
            ("dm_note.x hidden>", "dm_note.x", true),
            ("dm-note hidden />", "dm-note", true),
            ("secret door>", "secret", false),
            ("old hidden door>", "old", false),
            ("3 = x>", "", false),
            ("https://example.org/?a=b>", "https:", false),
        ] {
            let (found, rest) = name(after);
            assert_eq!(
                (found, has_attributes(rest) && !found.is_empty()),
                (element, has),
                "{after}"
            );
        }
    }
}
