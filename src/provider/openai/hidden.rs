//! Removes what must not be spoken from streamed text: `<think>` and raw tool-call mark-up.
//!
//! Entry type: [`Hidden`]. Text is given on at once; only a possible beginning of a tag is held.
//! **Never**: reading calls out of mark-up; a server that leaks them has the wrong parser.

/// Elements whose content is never text.
const TAGS: [&str; 4] = ["think", "thinking", "tool_call", "tool_calls"];

/// A filter over one reply.
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
    /// Takes the next text and gives what may be spoken of it.
    pub fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let mut shown = String::new();
        loop {
            let Some(start) = self.held.find('<') else {
                self.give(&mut shown, self.held.len());
                return shown;
            };
            self.give(&mut shown, start);
            match tag_at(&self.held) {
                Some((tag, length)) => {
                    self.held.drain(..length);
                    match tag {
                        Tag::Open(name) => self.inside = self.inside.or(Some(name)),
                        Tag::Close(name) if self.inside == Some(name) => self.inside = None,
                        Tag::Close(_) => {}
                    }
                }
                None if may_become_tag(&self.held) => return shown,
                None => self.give(&mut shown, 1),
            }
        }
    }

    /// The reply is over: what was held and is no tag.
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if self.inside.is_some() { String::new() } else { held }
    }

    /// Moves the first `length` bytes out of what is held.
    fn give(&mut self, shown: &mut String, length: usize) {
        let given = self.held.drain(..length);
        if self.inside.is_none() {
            shown.extend(given);
        }
    }
}

/// The tag `text` starts with, and its length.
fn tag_at(text: &str) -> Option<(Tag, usize)> {
    TAGS.iter().find_map(|name| {
        let open = format!("<{name}>");
        let close = format!("</{name}>");
        if text.starts_with(&open) {
            Some((Tag::Open(name), open.len()))
        } else if text.starts_with(&close) {
            Some((Tag::Close(name), close.len()))
        } else {
            None
        }
    })
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

    proptest! {
        #[test]
        fn text_without_tags_is_unchanged(text in "[a-z< >/é]{0,40}", step in 1_usize..6) {
            prop_assume!(!TAGS.iter().any(|tag| text.contains(&format!("{tag}>"))));
            prop_assert_eq!(shown(&text, step), text);
        }
    }
}
