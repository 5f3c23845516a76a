//! Parts without a place here, counted by file.

use std::collections::BTreeMap;

use crate::import::draft::LeftOut;

/// Texts in fields that the import does not know.
pub const UNUSED: &str = "texts of unknown fields";
/// Plurals of parts with the reason why they are left out.
const WHY: &[(&str, &str)] = &[
    ("documents of an unknown kind", "their kind is unknown"),
    ("second copies of documents", "they have the id of an earlier document"),
    ("parts of other documents", "their document is stored apart from them; unpack it whole"),
    ("journals without a page", "they are empty"),
    ("pages without text", "only text is imported"),
    ("pictures", "pictures are not imported"),
    (UNUSED, "their fields have no place here; copy them into the biography to import them"),
    ("texts that were cut", "a text has at most 65,536 bytes"),
];

/// Counts of parts left out.
#[derive(Debug, Default)]
pub struct LeftOuts(BTreeMap<(String, &'static str), usize>);

impl LeftOuts {
    pub fn count(&mut self, file: &str, plural: &'static str) {
        self.add(file, plural, 1);
    }

    pub fn add(&mut self, file: &str, plural: &'static str, number: usize) {
        // One count for all lines of a file.
        let file = file.rsplit_once("!line ").map_or(file, |(file, _)| file);
        if number > 0 {
            *self.0.entry((file.to_owned(), plural)).or_default() += number;
        }
    }

    pub fn told(self) -> impl Iterator<Item = LeftOut> {
        self.0.into_iter().map(|((file, plural), number)| {
            let why = WHY.iter().find(|(name, _)| *name == plural);
            let why = why.map_or("they have no place in a campaign here", |(_, why)| *why);
            LeftOut { file, what: format!("{plural} ({number})"), why: why.to_owned() }
        })
    }
}
