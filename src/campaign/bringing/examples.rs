//! A greeting and example lines as part of a description: a chat model opens and talks in that manner.
//!
//! Entry function: [`examples`].

use crate::{
    import::draft::{Exchange, NpcDraft},
    logic::words::shortened,
};

/// Heading of the examples. A description that has it, such as that of an exported card, gets no others.
const HEADING: &str = "Examples of how you talk (only the manner counts; do not repeat them):";
/// Most characters of all, and of a line.
const TEXT_MAX: usize = 2_000;
const LINE_MAX: usize = 600;
const EXCHANGES_MAX: usize = 6;

/// Lines behind the description `told`, at most `room` characters; empty: none.
pub fn examples(draft: &NpcDraft, told: &str, room: usize) -> String {
    if told.contains(HEADING) {
        return String::new();
    }
    let greeting = draft.greetings.iter().map(|it| line("You open", it)).find(|it| !it.is_empty());
    let exchanges = draft.examples.iter().map(exchange).filter(|it| !it.is_empty());
    let mut text = HEADING.to_owned();
    let mut left = room.min(TEXT_MAX).saturating_sub(HEADING.chars().count());
    for part in greeting.into_iter().chain(exchanges.take(EXCHANGES_MAX)) {
        let length = part.chars().count() + 1;
        if length <= left {
            left -= length;
            text.push('\n');
            text.push_str(&part);
        }
    }
    if text == HEADING { String::new() } else { text }
}

/// A player's line and the answer; empty without an answer.
fn exchange(of: &Exchange) -> String {
    let (player, answer) = (line("A player", &of.player), line("You", &of.npc));
    match (answer.is_empty(), player.is_empty()) {
        (true, _) => String::new(),
        (false, true) => answer,
        (false, false) => format!("{player}\n{answer}"),
    }
}

/// `text` as said by `who`, on one line; empty without a word.
fn line(who: &str, text: &str) -> String {
    if !text.contains(char::is_alphanumeric) {
        return String::new();
    }
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{who}: {}", shortened(&words, LINE_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(player: &str, npc: &str) -> Exchange {
        Exchange { player: player.to_owned(), npc: npc.to_owned() }
    }

    #[test]
    fn examples_are_a_greeting_and_six_exchanges() {
        let mut draft = NpcDraft {
            greetings: vec!["…".to_owned(), "Welcome,\nfriend!".to_owned(), "Hm.".to_owned()],
            examples: vec![
                exchange("Any maps?", "Plenty."),
                exchange("", "Sit."),
                exchange("A", "…"),
            ],
            ..NpcDraft::default()
        };
        let text = examples(&draft, "She sells maps.", 8_000);
        let wanted = format!(
            "{HEADING}\nYou open: Welcome, friend!\nA player: Any maps?\nYou: Plenty.\nYou: Sit."
        );
        assert_eq!(text, wanted);
        assert_eq!(examples(&draft, &text, 8_000), "");
        assert_eq!(examples(&draft, "", 40), "");
        draft.examples = vec![exchange("Maps?", "Yes."); 20];
        assert_eq!(examples(&draft, "", 8_000).matches("Maps?").count(), EXCHANGES_MAX);
        draft.examples = vec![exchange(&"ä".repeat(5_000), &"ö".repeat(5_000)); 20];
        let long = examples(&draft, "", 8_000).chars().count();
        assert!((1_000..=TEXT_MAX).contains(&long), "{long}");
        assert_eq!(examples(&NpcDraft::default(), "", 8_000), "");
    }
}
