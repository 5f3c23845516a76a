//! Removes `<think>` and raw tool-call mark-up from streamed text.
//!
//! Entry type: [`Hidden`]. Text passes at once; only a possible beginning of a tag is held back.
//! **Never**: parses calls in mark-up; a server that leaks them has the wrong parser.

/// Elements whose content is never text.
const TAGS: [&str; 4] = ["think", "thinking", "tool_call", "tool_calls"];

#[derive(Debug, Default)]
pub struct Hidden {
    held: String,
    inside: Option<&'static str>,
}

enum Tag {
    Open(&'static str),
    Close(&'static str),
}

impl Hidden {
    /// Adds text and returns the part that may be spoken.
    pub fn push(&mut self, text: &str) -> String {
        // Held text is shorter than a tag, so each byte is copied and scanned once.
        let text = std::mem::take(&mut self.held) + text;
        let (mut shown, mut rest) = (String::new(), text.as_str());
        loop {
            let start = rest.find('<').unwrap_or(rest.len());
            let (before, tag) = rest.split_at(start);
            self.give(&mut shown, before);
            rest = match tag_at(tag) {
                _ if tag.is_empty() => return shown,
                Some((tag, behind)) => {
                    match tag {
                        Tag::Open(name) => self.inside = self.inside.or(Some(name)),
                        Tag::Close(name) if self.inside == Some(name) => self.inside = None,
                        Tag::Close(_) => {}
                    }
                    behind
                }
                None if may_become_tag(tag) => {
                    tag.clone_into(&mut self.held);
                    return shown;
                }
                None => {
                    let (mark, behind) = tag.split_at(1);
                    self.give(&mut shown, mark);
                    behind
                }
            };
        }
    }

    /// Ends the reply and returns held text that is no tag.
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if self.inside.is_some() { String::new() } else { held }
    }

    fn give(&self, shown: &mut String, text: &str) {
        if self.inside.is_none() {
            shown.push_str(text);
        }
    }
}

fn tag_at(text: &str) -> Option<(Tag, &str)> {
    let text = text.strip_prefix('<')?;
    let (named, tag): (_, fn(_) -> _) = match text.strip_prefix('/') {
        Some(named) => (named, Tag::Close),
        None => (text, Tag::Open),
    };
    TAGS.iter().find_map(|name| Some((tag(name), named.strip_prefix(name)?.strip_prefix('>')?)))
}

fn may_become_tag(text: &str) -> bool {
    TAGS.iter()
        .any(|name| format!("<{name}>").starts_with(text) || format!("</{name}>").starts_with(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, step: usize) -> String {
        let mut hidden = Hidden::default();
        let chars: Vec<char> = text.chars().collect();
        let mut out = String::new();
        for piece in chars.chunks(step.max(1)) {
            out.push_str(&hidden.push(&piece.iter().collect::<String>()));
        }
        out + &hidden.finish()
    }

    #[test]
    fn thoughts_and_markup_are_removed() {
        for step in 1..9 {
            assert_eq!(shown("<think>a plan</think>Well met.", step), "Well met.");
            assert_eq!(shown("Aye.<tool_call>{\"name\":\"x\"}</tool_call>", step), "Aye.");
            assert_eq!(shown("<think>never closed", step), "");
            assert_eq!(shown("</think>Aye", step), "Aye");
            assert_eq!(shown("<think>a <tool_call> b</think>Aye", step), "Aye");
            assert_eq!(shown("1 < 2 and <b>", step), "1 < 2 and <b>");
            assert_eq!(shown("ends with <thi", step), "ends with <thi");
        }
    }

    #[test]
    fn plain_text_is_given_at_once() {
        let mut hidden = Hidden::default();
        assert_eq!(hidden.push("Well"), "Well");
        assert_eq!(hidden.push(" <"), " ");
        assert_eq!(hidden.push("3"), "<3");
    }

    #[test]
    fn marks_without_tags_are_held_shortly() {
        for count in [10_000, 20_000] {
            let text = "<a".repeat(count) + "<‹a" + "</".repeat(count).as_str();
            let mut hidden = Hidden::default();
            let shown = hidden.push(&text);
            assert!(hidden.held.len() <= "</tool_calls>".len());
            assert_eq!(shown + &hidden.finish(), text);
        }
    }

    proptest! {
        #[test]
        fn any_cut_shows_the_same(text in "(<|/|>|think|tool_call|s|é|a){0,30}", step in 1_usize..6) {
            prop_assert_eq!(shown(&text, step), shown(&text, 1_000));
        }

        #[test]
        fn text_without_tags_is_unchanged(text in "[a-z< >/é]{0,40}", step in 1_usize..6) {
            prop_assume!(!TAGS.iter().any(|tag| text.contains(&format!("{tag}>"))));
            prop_assert_eq!(shown(&text, step), text);
        }
    }
}
