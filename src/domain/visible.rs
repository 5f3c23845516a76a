//! Text of others, which may hold characters that nobody sees but that act on whoever reads it, a
//! terminal included: a model and a service get it without them, people and files get them escaped.
//!
//! Entry functions: [`visible`] and [`one_line`] (dropped), [`revealed`] and [`revealed_name`]
//! (escaped). **Never**: knows whose text it is.

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

/// `text` in which what cannot be seen, or would change how the rest is read, is escaped as in JSON.
/// Line ends and tabs stay.
pub fn revealed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut units = [0; 2];
    for c in text.chars() {
        if is_hidden(c) || is_deceptive(c) {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The same of what stands within a line, which it cannot end.
pub fn revealed_name(text: &str) -> String {
    revealed(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Characters that look like nothing, or like another one's part.
fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2028}' | '\u{2029}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_with_a_line_end_stays_in_its_line() {
        let forged = "Anna\r\nBartok:\tyes\u{2028}\u{1b}[1A\u{202e}\u{9b}m";
        let shown = r"Anna\u000d\nBartok:\tyes\u2028\u001b[1A\u202e\u009bm";
        assert_eq!(revealed_name(forged), shown);
        assert_eq!(revealed("a\n\tb"), "a\n\tb");
    }

    #[test]
    fn what_cannot_be_seen_is_escaped_and_stays_the_same_json() {
        let value = serde_json::json!({"to": "a\u{202e}b\u{200b}\u{7f}\u{e0041}\u{2028}\u{3164}c", "n": "ü\n"});
        let shown = revealed(&serde_json::to_string_pretty(&value).unwrap());
        assert!(shown.contains(r"a\u202eb\u200b\u007f\udb40\udc41\u2028\u3164c"), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn what_acts_without_being_seen_is_dropped() {
        let text = "a\u{0}b\u{200b}c\u{202e}d\u{e0041}\u{1b}[2J\u{2066}\ne\tf\u{9b}1m";
        assert_eq!(visible(text), "abcd[2J\ne\tf1m");
        assert_eq!(one_line(text, 9), "abcd[2J e");
    }
}
