//! Character cards and lorebooks.

use super::draft::Drafts;

/// True if `bytes` are a card or a lorebook.
pub fn is_card(_bytes: &[u8]) -> bool {
    false
}

/// Reads the card or lorebook in `bytes`, the content of `file`.
pub fn read(_file: &str, _bytes: &[u8], _drafts: &mut Drafts) {}
