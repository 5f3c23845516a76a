//! Answers of a chat model, and what `ask --json` says of a turn.

use serde_json::{Value, json};

use super::chat_server::Script;

/// A whole answer ("Aye."), billed at so many tokens.
pub fn answer(tokens: u64) -> Script {
    Script::stream()
        .chunk(json!({"role": "assistant", "content": "Aye."}), None)
        .chunk(json!({}), Some("stop"))
        .usage(20, 0, tokens)
        .done()
}

/// The text under `key`, which has to be there.
#[track_caller]
pub fn text<'v>(line: &'v Value, key: &str) -> &'v str {
    line[key].as_str().unwrap_or_else(|| panic!("no text '{key}': {line:#}"))
}
