//! Documents of Roll20.

use serde_json::Value;

use super::draft::Drafts;

/// True if `document` is one of Roll20.
pub fn is_roll20(_document: &Value) -> bool {
    false
}

/// Reads `document`, the content of `file`.
pub fn read(_file: &str, _document: Value, _drafts: &mut Drafts) {}
