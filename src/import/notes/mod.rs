//! Notes in Markdown.

use super::draft::Drafts;

/// True if `text`, the content of `file`, is a note.
pub fn is_notes(_file: &str, _text: &str) -> bool {
    false
}

/// Reads notes, each with its path inside the folder or ZIP.
pub fn read(_files: &[(String, String)], _drafts: &mut Drafts) {}
