//! Untrusted text with invisible characters that affect readers and terminals: dropped for models
//! and services, escaped for people and files.
//!
//! Entry functions: [`visible`] and [`one_line`] (dropped), [`revealed`] and [`revealed_name`]
//! (escaped).

/// `text` without control characters (except line ends and tabs), zero-width and bidirectional
/// ones.
pub fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

pub fn one_line(text: &str, longest: usize) -> String {
    let flat = text.chars().map(|c| if matches!(c, '\t' | '\n') { ' ' } else { c });
    flat.filter(|c| !is_hidden(*c)).take(longest).collect()
}

/// True if `c` is invisible but affects its reader; line ends and tabs count as visible.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// `text` with invisible and bidirectional characters escaped as in JSON. Keeps line ends, tabs,
/// and joiners of emoji or joined scripts.
pub fn revealed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut units = [0; 2];
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        let joins = joins(before, c, chars.peek().copied());
        if (is_hidden(c) || is_deceptive(c)) && !joins {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
        // A selector belongs to the picture before it.
        before = if joins && c == PICTURE { before } else { Some(c) };
    }
    out
}

/// Selects a character's emoji form.
const PICTURE: char = '\u{fe0f}';

/// True if `c` shapes its neighbours: the joiners of Persian, Indian scripts and emoji, and the
/// emoji selector.
fn joins(before: Option<char>, c: char, after: Option<char>) -> bool {
    let is_emoji =
        |c: char| matches!(c, '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}' | '©' | '®');
    let is_joined = |c: char| matches!(c, '\u{620}'..='\u{6ff}' | '\u{900}'..='\u{dff}');
    let both = |is: &dyn Fn(char) -> bool| before.is_some_and(is) && after.is_some_and(is);
    match c {
        PICTURE => {
            let is_key = |c: char| c.is_ascii_digit() || matches!(c, '#' | '*');
            before.is_some_and(is_emoji)
                || (before.is_some_and(is_key) && after == Some('\u{20e3}'))
        }
        '\u{200c}' => both(&is_joined),
        '\u{200d}' => both(&is_joined) || both(&is_emoji),
        _ => false,
    }
}

/// [`revealed`] for text within a line: line ends and tabs are escaped too.
pub fn revealed_name(text: &str) -> String {
    revealed(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Invisible characters, and those that look like part of another.
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
    fn invisible_characters_escape_to_equal_json() {
        let value = serde_json::json!({"to": "a\u{202e}b\u{200b}\u{7f}\u{e0041}\u{2028}\u{3164}c", "n": "ü\n"});
        let shown = revealed(&serde_json::to_string_pretty(&value).unwrap());
        assert!(shown.contains(r"a\u202eb\u200b\u007f\udb40\udc41\u2028\u3164c"), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn emoji_and_script_joiners_are_not_escaped() {
        let names = "🧙‍♂️ ❤️ 1️⃣ می‌خواهم क्‍ष 👍🏽";
        assert_eq!(revealed(names), names);
        let forged =
            "a\u{200d}b \u{200d}♂ ❤\u{fe0f}\u{fe0f}\u{200d} a\u{fe0f} 1\u{fe0f}2 م\u{200c}b";
        let shown = "a\\u200db \\u200d♂ ❤\u{fe0f}\u{fe0f}\\u200d a\\ufe0f 1\\ufe0f2 م\\u200cb";
        assert_eq!(revealed(forged), shown);
    }

    #[test]
    fn invisible_control_characters_are_dropped() {
        let text = "a\u{0}b\u{200b}c\u{202e}d\u{e0041}\u{1b}[2J\u{2066}\ne\tf\u{9b}1m";
        assert_eq!(visible(text), "abcd[2J\ne\tf1m");
        assert_eq!(one_line(text, 9), "abcd[2J e");
    }
}
