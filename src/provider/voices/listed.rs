//! A voice in a service's own list.
//!
//! Entry type: [`ListedVoice`].

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVoice {
    pub id: String,
    pub name: String,
    /// ISO 639-1 codes; empty: not known or all.
    pub languages: Vec<String>,
    /// As the service describes it: "female, young, narration".
    pub about: String,
}
