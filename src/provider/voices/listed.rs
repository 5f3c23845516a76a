//! A voice as its service lists it.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVoice {
    pub id: String,
    pub name: String,
    /// ISO 639-1 codes; empty: not known or all.
    pub languages: Vec<String>,
    /// As the service describes it: "female, young, narration".
    pub about: String,
}
