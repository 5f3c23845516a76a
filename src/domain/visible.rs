//! Text as it may be shown or sent on: without characters that nobody sees but that act on whoever
//! reads it, a terminal included.
//!
//! Entry functions: [`visible`], [`one_line`]. **Never**: knows whose text it is.

/// `text` without control characters (but for line ends and tabs), without zero-width and
/// bidirectional ones.
pub fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

/// At most `longest` characters of it on one line.
pub fn one_line(text: &str, longest: usize) -> String {
    let flat = text.chars().map(|c| if matches!(c, '\t' | '\n') { ' ' } else { c });
    flat.filter(|c| !is_hidden(*c)).take(longest).collect()
}

/// Whether nobody sees it although it acts on who reads it; line ends and tabs are seen.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_without_being_seen_is_dropped() {
        let text = "a\u{0}b\u{200b}c\u{202e}d\u{e0041}\u{1b}[2J\u{2066}\ne\tf\u{9b}1m";
        assert_eq!(visible(text), "abcd[2J\ne\tf1m");
        assert_eq!(one_line(text, 9), "abcd[2J e");
    }
}
