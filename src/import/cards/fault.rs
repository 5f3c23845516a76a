//! A fault before it is reported with its file.
//!
//! Entry type: [`Fault`].

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// "data/character_book/entries/3"; empty: the whole file.
    pub place: String,
    pub message: String,
    pub way_out: &'static str,
}

impl Fault {
    pub fn new(place: &str, message: impl Into<String>, way_out: &'static str) -> Self {
        Self { place: place.to_owned(), message: message.into(), way_out }
    }
}
