//! Lines that an NPC says without a chat model, from its greetings and example lines.
//!
//! Entry function: [`lines`]. Readers of files have separated what is said from what happens.

use crate::{
    domain::visible,
    import::draft::NpcDraft,
    logic::words::{fold, shortened},
};

/// Most characters of a line.
const LINE_MAX: usize = 300;
const GREETINGS_MAX: usize = 8;
const EXAMPLES_MAX: usize = 30;
/// Longest player's line, in words, that an example answers; longer ones are never repeated.
const PHRASE_WORDS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokenLine {
    /// Phrases that it answers; none: everything else.
    pub when: Vec<String>,
    pub say: Vec<String>,
}

struct Words {
    hello: &'static [&'static str],
    who: &'static [&'static str],
    i_am: &'static str,
    otherwise: &'static [&'static str],
}

static ENGLISH: Words = Words {
    hello: &["hello", "hi", "hey", "greetings", "good morning", "good day", "good evening"],
    who: &["who are you", "what is your name", "what are you called", "your name"],
    i_am: "I am",
    otherwise: &["Tell me more.", "Is that so?", "I would have to think about that."],
};
static GERMAN: Words = Words {
    hello: &["hallo", "guten morgen", "guten tag", "guten abend", "seid gegrüßt", "grüß gott"],
    who: &["wer bist du", "wer seid ihr", "wie heißt du", "dein name"],
    i_am: "Ich bin",
    otherwise: &["Erzähl mir mehr.", "So, so.", "Darüber müsste ich nachdenken."],
};

/// The lines of a person who speaks `language`; the last one answers everything else. Also returns the number
/// of unused greetings and examples.
pub fn lines(draft: &NpcDraft, language: &str) -> (Vec<SpokenLine>, usize) {
    let words = if language == "de" { &GERMAN } else { &ENGLISH };
    let owned = |of: &[&str]| of.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let i_am = format!("{} {}.", words.i_am, plain(&draft.name));
    let greetings = draft.greetings.iter().filter_map(|text| spoken(text));
    let mut greetings: Vec<String> = greetings.take(GREETINGS_MAX).collect();
    let mut used = greetings.len();
    if greetings.is_empty() {
        greetings.push(i_am.clone());
    }
    let mut all = vec![
        SpokenLine { when: owned(words.hello), say: greetings },
        SpokenLine { when: owned(words.who), say: vec![i_am] },
    ];
    let mut asked: Vec<String> = all.iter().flat_map(|it| &it.when).map(|it| fold(it)).collect();
    let most = used + EXAMPLES_MAX;
    for example in &draft.examples {
        let phrase = fold(&example.player);
        let length = phrase.split(' ').count();
        let (Some(say), false) = (spoken(&example.npc), phrase.is_empty()) else { continue };
        if used < most && length <= PHRASE_WORDS && !asked.contains(&phrase) {
            used += 1;
            asked.push(phrase.clone());
            all.push(SpokenLine { when: vec![phrase], say: vec![say] });
        }
    }
    all.push(SpokenLine { when: Vec::new(), say: owned(words.otherwise) });
    (all, draft.greetings.len() + draft.examples.len() - used)
}

/// `text` as a line; `None`: it has no word.
fn spoken(text: &str) -> Option<String> {
    let text = plain(text);
    text.contains(char::is_alphanumeric).then(|| shortened(&text, LINE_MAX))
}

/// On one line, without the braces of placeholders.
fn plain(text: &str) -> String {
    let text = visible(text).replace('{', "(").replace('}', ")");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::draft::Exchange;

    #[test]
    fn line_is_all_that_is_said() {
        let wanted = "You call me \"Bart\"? Well met, (dice)!";
        assert_eq!(spoken("You call me \"Bart\"?\nWell met, {dice}!").unwrap(), wanted);
        assert_eq!(spoken("…"), None);
    }

    #[test]
    fn example_lines_answer_what_players_said() {
        let exchange =
            |player: &str, npc: &str| Exchange { player: player.to_owned(), npc: npc.to_owned() };
        let draft = NpcDraft {
            name: "Luna".to_owned(),
            examples: vec![
                exchange("Where is the key?", "Under the mat."),
                exchange("where is the KEY", "Again?"),
                exchange("", "Nobody asked."),
                exchange("one two three four five six seven eight nine", "Too long."),
            ],
            ..NpcDraft::default()
        };
        let (lines, unused) = lines(&draft, "en");
        assert_eq!((lines.len(), unused), (4, 3));
        assert_eq!(lines[0].say, ["I am Luna."]);
        let key = SpokenLine {
            when: vec!["where is the key".into()],
            say: vec!["Under the mat.".into()],
        };
        assert_eq!(lines[2], key);
        assert!(lines[3].when.is_empty());
    }
}
