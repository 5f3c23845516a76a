//! Shortens text for listening.

/// Most words.
const WORDS_MAX: usize = 60;
/// Most words of a heading that a paragraph begins with.
const TITLE: usize = 6;

/// `text` without Markdown and line breaks, cut after the last sentence within 60 words, of which
/// `before` are used; a longer first sentence is cut between words.
pub fn shorten(text: &str, before: usize) -> String {
    let plain = plain(text);
    let most = WORDS_MAX.saturating_sub(before).max(1);
    let words: Vec<&str> = plain.split_whitespace().collect();
    if words.len() <= most {
        return words.join(" ");
    }
    let kept = words.get(..most).unwrap_or_default();
    match kept.iter().rposition(|word| ends_sentence(word)) {
        Some(last) => kept.get(..=last).unwrap_or_default().join(" "),
        None => format!("{} …", kept.join(" ").trim_end_matches([',', ';', ':'])),
    }
}

/// True if a sentence ends with `word`; a known abbreviation ("e.g.", "5 ft.") ends none.
fn ends_sentence(word: &str) -> bool {
    let word = word.trim_end_matches(['"', '\'', ')', '”', '’']);
    let abbreviated = ["e.g.", "i.e.", "etc.", "ft.", "lb.", "vs.", "hr."]
        .iter()
        .any(|short| word.ends_with(short));
    word.ends_with(['.', '!', '?']) && !abbreviated
}

/// `text` without headings and tables, which are not read aloud.
pub fn without_headings(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_line = |line: &str| line.chars().all(|c| matches!(c, '-' | '=' | ' '));
    let is_underlined = |at: usize| {
        let next = lines.get(at + 1).filter(|next| next.len() > 1 && is_line(next));
        next.is_some_and(|next| !next.contains(' '))
    };
    let told = lines.iter().enumerate().filter(|(at, line)| {
        let is_table = line.starts_with('|') || line.contains(" | ");
        !(is_line(line) || is_table || is_heading(line) || is_underlined(*at))
    });
    let told: Vec<&str> = told.map(|(_, line)| behind_heading(line)).collect();
    told.join("\n")
}

/// True if a separate line is a heading: marked, or emphasised as a whole and no sentence.
fn is_heading(line: &str) -> bool {
    let marks = line.trim_start_matches('#');
    let is_marked = marks.len() < line.len() && (marks.is_empty() || marks.starts_with(' '));
    let whole = line.strip_prefix("**").and_then(|it| it.strip_suffix("**"));
    let is_emphasised =
        whole.is_some_and(|it| !it.contains("**") && !it.ends_with(['.', '!', '?']));
    is_marked || is_emphasised || line.starts_with("<h") && line.ends_with('>')
}

/// A line without its emphasised heading: "**At Higher Levels.** When …".
fn behind_heading(line: &str) -> &str {
    let inner = line.trim_start_matches('*');
    let heading = inner.split_once("**").filter(|(title, rest)| {
        let is_title = title.ends_with('.') && title.split_whitespace().count() <= TITLE;
        inner.len() + 2 <= line.len() && is_title && !rest.trim_matches(['*', ' ']).is_empty()
    });
    heading.map_or(line, |(_, rest)| rest.trim_start_matches(['*', ' ']))
}

/// Removes headings, tables, list marks, emphasis and links.
fn plain(text: &str) -> String {
    let text = without_headings(text);
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_start_matches(['-', '*', '>', '•', ' ']);
        for c in without_links(line).chars() {
            if !matches!(c, '*' | '_' | '`') {
                plain.push(c);
            }
        }
        plain.push(' ');
    }
    plain
}

fn without_links(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    // False once no ')' is left: searching for it at every '[' would take quadratic time.
    let mut may_close = true;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        let next = after.find('[').unwrap_or(after.len());
        let end = after.get(..next).and_then(|text| text.find("](")).filter(|_| may_close);
        let link = end.and_then(|end| {
            let (text, tail) = after.split_at(end);
            let closed = tail.split_once(')');
            may_close = closed.is_some();
            closed.map(|(_, rest)| (text, rest))
        });
        match link {
            Some((text, tail)) => {
                plain.push_str(text);
                rest = tail;
            }
            None => {
                plain.push('[');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_the_end_of_a_sentence() {
        let text = format!("{}end. Two words. {}", "word ".repeat(50), "more ".repeat(50));
        let short = shorten(&text, 0);
        assert!(short.ends_with("end. Two words."), "{short}");
        assert_eq!(shorten("Short, e.g. this.", 0), "Short, e.g. this.");
        assert!(shorten(&"on ".repeat(90), 10).ends_with("on …"));
        let text = format!("{}within 5 ft. {}", "A target. ", "of it ".repeat(40));
        assert_eq!(shorten(&text, 0), "A target.");
    }

    #[test]
    fn takes_markdown_away() {
        let text =
            "## Blinded\n\n- A **blinded** creature [can't](/see) see [1].\n| a | b |\n|---|---|\n";
        assert_eq!(shorten(text, 0), "A blinded creature can't see [1].");
    }

    #[test]
    fn links_are_found_in_linear_work() {
        assert_eq!(without_links("[a](b [c](d) e"), "a e");
        assert_eq!(without_links("[[a](b) ](c) [d] (e)"), "[a ](c) [d] (e)");
        // A search to the end from every bracket would be quadratic.
        for unclosed in ["[", "[a](", "]("] {
            let text = unclosed.repeat((1 << 20) / unclosed.len());
            assert_eq!(without_links(&text), text);
        }
    }

    #[test]
    fn no_kind_of_heading_is_left() {
        for (text, plain) in [
            ("# Grappled\n\nIts speed is 0.", "Its speed is 0."),
            ("Grappled\n========\nIts speed is 0.", "Its speed is 0."),
            ("Conditions\n---\n### Grappled ###\nIts speed is 0.", "Its speed is 0."),
            ("**Grappled**\n\nIts speed is **0**.", "Its speed is 0."),
            ("***Grappled.*** Its speed is 0.", "Its speed is 0."),
            ("It burns.\n\n**At Higher Levels.** It burns more.", "It burns. It burns more."),
            ("**Its speed is 0.**", "Its speed is 0."),
            ("<h2>Grappled</h2>\nIts speed is 0.", "Its speed is 0."),
            ("Level | Speed\n--- | ---\n1 | 0\n\nIts speed is 0.", "Its speed is 0."),
            ("**Speed:** 0 feet.", "Speed: 0 feet."),
            ("Its speed\nis 0.", "Its speed is 0."),
        ] {
            assert_eq!(shorten(text, 0), plain, "{text}");
        }
    }
}
