//! What a deletion takes, and what it has taken.
//!
//! Entry functions: [`question`], [`deleted`].

use crate::{campaign::NamesOf, commands::stored::FaceWords};

/// Asks if all that `whose`, as in "you have", said is to be deleted; `names` are those under which more goes.
pub fn question(whose: &str, place: &FaceWords, names: &NamesOf) -> String {
    let FaceWords { here, left, .. } = place;
    let mut text = format!(
        "This deletes every line that {whose} said {here}, everything derived from these lines, \
         and what NPCs remember of them. You can't undo this. The transcript keeps the NPCs' \
         answers, and the places of the lines without a name. {left}"
    );
    let listed = |names: &[String]| {
        names
            .iter()
            .map(|name| format!("`{}`", name.replace('`', "'")))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !names.own.is_empty() {
        let own = listed(&names.own);
        text.push_str(&format!(
            "\n\nAn earlier version of me stored NPCs' conversations and tool calls by name \
             only: everything under {own} is deleted too."
        ));
    }
    if !names.shared.is_empty() {
        let shared = listed(&names.shared);
        text.push_str(&format!(
            "\n\nSomeone else was called {shared} here too: what an earlier version of me stored \
             under that name stays. (This version tells the two of you apart.)"
        ));
    }
    text
}

/// Says that so many lines were deleted.
pub fn deleted(lines: u64) -> String {
    format!(
        "Deleted: {lines} {}, the answers, and everything derived from them. New lines are \
         written down again (/privacy optout prevents that).",
        if lines == 1 { "line" } else { "lines" }
    )
}
