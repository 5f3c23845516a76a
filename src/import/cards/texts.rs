//! Raw texts of cards as texts of drafts: placeholders, HTML and Markdown in that order.
//!
//! Entry functions: [`about`] (for reading), [`said`] (for saying aloud), [`noted`] (for the game master).

use super::{
    macros::{Audience, Macros},
    markdown::{Told, plain, tidy, without_html},
    speech::spoken,
};

/// `raw` as plain text about a person.
pub fn about(raw: &str, macros: &mut Macros) -> Told {
    let told = without_html(&macros.filled(&tidy(raw), Audience::About));
    Told { open: plain(&told.open), secret: plain(&told.secret) }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// On one line; empty: nothing.
    pub text: String,
    /// False if the author also tells what happens.
    pub is_all: bool,
}

/// The words of `raw` spoken to a player.
pub fn said(raw: &str, macros: &mut Macros) -> Said {
    let told = without_html(&macros.filled(&tidy(raw), Audience::To)).open;
    let text = spoken(&told);
    let is_all = words(&text) >= words(&plain(&told));
    Said { text, is_all }
}

fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// `raw` for the game master alone: its placeholders stay, so that instructions are seen as they are.
pub fn noted(raw: &str) -> String {
    let told = without_html(&tidy(raw));
    [told.open, told.secret].join("\n").trim().to_owned()
}
