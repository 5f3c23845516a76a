//! Documents of Foundry VTT.

use serde_json::Value;

use super::draft::Drafts;

/// True if `document` is one of Foundry VTT.
pub fn is_foundry(_document: &Value) -> bool {
    false
}

/// Reads `document`, the content of `file`.
pub fn read(_file: &str, _document: Value, _drafts: &mut Drafts) {}
