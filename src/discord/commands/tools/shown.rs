//! Tables of tools as text.
//!
//! Entry function: [`table`]. **Never**: lets a line end its code block.

use crate::discord::ui::reply::Reply;

/// Longest name of a server or a category, in characters.
pub const NAME_MAX: u16 = 64;

/// Lines in columns, with notes below.
pub fn table(title: &str, lines: &[String], notes: &str) -> Reply {
    let lines = if lines.is_empty() { "nothing".to_owned() } else { lines.join("\n") };
    Reply::private(format!("```\n{}\n```{notes}", lines.replace("```", "'''"))).titled(title)
}
