//! Text made for reading -> text short enough to be heard.

/// Most words kept.
const WORDS_MAX: usize = 60;

/// `text` without Markdown and line breaks, cut at the end of the last sentence that fits into 60
/// words after `before` words; a first sentence that is longer is cut between words.
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

/// Whether a sentence ends with `word`; a one-letter abbreviation ("e.g.", "5 ft.") ends none.
fn ends_sentence(word: &str) -> bool {
    let word = word.trim_end_matches(['"', '\'', ')', '”', '’']);
    let abbreviated = ["e.g.", "i.e.", "etc.", "ft.", "lb.", "vs.", "hr."]
        .iter()
        .any(|short| word.ends_with(short));
    word.ends_with(['.', '!', '?']) && !abbreviated
}

/// Without headings, tables, list marks, emphasis and links.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with(['#', '|']) || line.chars().all(|c| matches!(c, '-' | '=' | ' ')) {
            continue;
        }
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

/// `[text](address)` as `text`.
fn without_links(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        let link = after.split_once("](").and_then(|(text, tail)| {
            tail.split_once(')').map(|(_, rest)| (text, rest)).filter(|_| !text.contains('['))
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
}
