//! Short forms of speech, spelled out: "haste noch n Bett" is "hast du noch ein Bett".
//!
//! Entry function: [`spelled_out`]. **Never**: touches other words, or a language without such forms.

use super::{language::Language, words::Words};

/// Longest form that stands for an article, and so only before another word.
const ARTICLE: usize = 3;

/// `text` in `language` (ISO 639-1) without short forms.
pub fn spelled_out(text: &str, language: &str) -> String {
    let forms = Language::of(language).map(|it| it.short_forms).unwrap_or_default();
    let words = Words::of(text);
    let (mut whole, mut from) = (String::with_capacity(text.len()), 0);
    for at in 0..words.len() {
        let form = forms.iter().find(|(short, _)| words.get(at) == Some(*short));
        let place = words.source(at);
        let behind = text.get(place.end..).unwrap_or_default();
        let goes_on = behind.trim_start().starts_with(char::is_alphanumeric);
        let Some((short, long)) = form.filter(|it| it.0.len() > ARTICLE || goes_on) else {
            continue;
        };
        // "'ne" has its apostrophe before it.
        let before = text.get(from..place.start).unwrap_or_default();
        let before =
            if short.len() > ARTICLE { before } else { before.trim_end_matches(['\'', '’']) };
        whole.push_str(before);
        whole.push_str(long);
        from = place.end;
    }
    whole.push_str(text.get(from..).unwrap_or_default());
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_are_spelled_out() {
        for (text, long) in [
            ("haste noch n Bett für heut Nacht?", "hast du noch ein Bett für heute Nacht?"),
            ("Biste der Wirt?", "bist du der Wirt?"),
            ("Kannste mir 'ne Suppe bringen", "kannst du mir eine Suppe bringen"),
            ("gib mir nen Krug", "gib mir einen Krug"),
            ("das kann ich nich", "das kann ich nicht"),
        ] {
            assert_eq!(spelled_out(text, "de"), long, "{text}");
        }
        for text in ["ne, danke", "Hast du ein Bett?", "Ich nehme n.", "Nenn ihn nie so", ""] {
            assert_eq!(spelled_out(text, "de"), text, "{text}");
        }
        assert_eq!(spelled_out("rock n roll, make haste", "en"), "rock n roll, make haste");
        assert_eq!(spelled_out("haste", "xx"), "haste");
    }
}
