//! Names of people and texts of commands, cleaned and escaped.
//!
//! Entry functions: [`cleaned`], [`escaped`], [`strong`], [`marked`].

use crate::{
    commands::{Piece, Text},
    domain::is_hidden,
};

/// Characters of Discord's markup.
const MARKUP: &str = "\\*_~`|>#-[]()<:";
/// Zero-width space, inserted to break a mention or a link.
const BREAK: char = '\u{200b}';

/// A user-chosen name without control and bidirectional characters; a placeholder if nothing is
/// left.
pub fn cleaned(name: &str) -> String {
    let seen: String = name.chars().filter(|c| !is_unseen(*c)).collect();
    match seen.trim() {
        "" => "somebody".to_owned(),
        name => name.to_owned(),
    }
}

/// `text` shown literally: no markup, mention or link.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_unseen(*c)) {
        if MARKUP.contains(c) {
            shown.push('\\');
        }
        shown.push(c);
        if matches!(c, '@' | '/') {
            shown.push(BREAK);
        }
    }
    shown
}

pub fn strong(name: &str) -> String {
    format!("**{}**", escaped(name))
}

/// Unlike in text, line ends and tabs count as unseen.
fn is_unseen(c: char) -> bool {
    c.is_control() || is_hidden(c)
}

/// `text` with Discord's markup; escapes words of others.
pub fn marked(text: &Text) -> String {
    text.rendered(|piece| match piece {
        Piece::Plain(words) | Piece::Marked(words) => words.clone(),
        Piece::Strong(name) => strong(name),
        Piece::Others(words) => escaped(words),
        Piece::Person(id) => format!("<@{}>", id.0),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn name_is_nothing_but_a_name() {
        assert_eq!(cleaned("\u{202e}An\u{7}na\n"), "Anna");
        assert_eq!(cleaned("\u{200b} \u{feff}"), "somebody");
        assert_eq!(cleaned("Zoë von 龍"), "Zoë von 龍");
        assert_eq!(escaped("Anna"), "Anna");
        assert_eq!(escaped("**x** @everyone"), "\\*\\*x\\*\\* @\u{200b}everyone");
        assert_eq!(escaped("<@11>"), "\\<@\u{200b}11\\>");
        assert_eq!(escaped("https://a.b"), "https\\:/\u{200b}/\u{200b}a.b");
    }

    proptest! {
        #[test]
        fn no_name_mentions_links_or_marks_up(name in "[@<>#&:/*_`~|a-z0-9 \\[\\]()\u{202e}]{0,40}") {
            let shown = escaped(&name);
            prop_assert!(!shown.contains("@everyone") && !shown.contains("@here"));
            let mentions = shown.matches("<@").count();
            prop_assert_eq!(mentions, shown.matches("<@\u{200b}").count());
            prop_assert!(!shown.contains("://") && !shown.contains("discord.gg/"));
            let bare: Vec<char> = shown.chars().collect();
            for (at, c) in bare.iter().enumerate().filter(|(_, c)| "*_`~|<>[".contains(**c)) {
                prop_assert!(at > 0 && bare[at - 1] == '\\', "{c} in {shown}");
            }
        }
    }
}
