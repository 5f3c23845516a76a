//! A voice of a service's list. Entry type: [`ListedVoice`].

use serde::{Deserialize, Serialize};

/// A voice as its service lists it. Texts are the service's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedVoice {
    /// As in an NPC's `voice_id`.
    pub id: String,
    /// As people know it; may equal `id`.
    pub name: String,
    /// ISO 639-1 codes; empty: not known, or all.
    #[serde(default)]
    pub languages: Vec<String>,
    /// As the service describes it: "female, young, narration".
    #[serde(default)]
    pub about: String,
}

impl ListedVoice {
    /// True if it may speak `language`, an ISO 639-1 code.
    pub fn speaks(&self, language: &str) -> bool {
        self.languages.is_empty() || self.languages.iter().any(|code| code == language)
    }
}

/// The ISO 639-1 code of a language tag ("en_US", "de-at"); `None`: it has none.
pub fn language_code(tag: &str) -> Option<String> {
    let code = tag.split(['-', '_']).next().unwrap_or_default().to_lowercase();
    // Mandarin is one language of Chinese.
    let code = if code == "cmn" { "zh".to_owned() } else { code };
    (code.len() == 2 && code.chars().all(|c| c.is_ascii_lowercase())).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_from_tags() {
        for (tag, code) in [("en_US", "en"), ("de-at", "de"), ("DE", "de"), ("cmn", "zh")] {
            assert_eq!(language_code(tag).as_deref(), Some(code), "{tag}");
        }
        for tag in ["", "chr", "e1", "joe"] {
            assert_eq!(language_code(tag), None, "{tag}");
        }
        let voice = ListedVoice { languages: vec!["de".to_owned()], ..ListedVoice::default() };
        assert!(voice.speaks("de") && !voice.speaks("en") && ListedVoice::default().speaks("en"));
    }
}
