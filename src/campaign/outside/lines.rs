//! Lines gathered from a table's events, except those taken back meanwhile.
//!
//! Entry type: [`Gathered`].

use tokio::time::Instant;

use crate::{
    domain::{Owner, PersonId, redact::without_credentials},
    session::TableEvent,
};

/// Most lines of one call: a minute of talk has fewer.
const LINES_MAX: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideLine {
    /// Player or NPC.
    pub speaker: String,
    /// The NPC, if it is an NPC's answer.
    pub npc: Option<String>,
    pub text: String,
}

/// Lines so far.
pub struct Gathered {
    owner: Owner,
    lines: Vec<Part>,
}

struct Part {
    /// The person who said it or was answered; `None`: unknown.
    by: Option<PersonId>,
    /// First voice of a person's utterance; `None`: an NPC's answer.
    began: Option<Instant>,
    line: OutsideLine,
}

impl Gathered {
    pub const fn new(owner: Owner) -> Self {
        Self { owner, lines: Vec::new() }
    }

    /// Takes an event; true if a line has come.
    pub fn take(&mut self, event: &TableEvent) -> bool {
        match event {
            TableEvent::Said(said) => {
                let (by, began) = (Some(said.by.clone()), Some(said.began));
                // Replaces the beginning of the same utterance.
                self.lines.retain(|part| part.by != by || part.began != began);
                let speaker = said.speaker.clone();
                self.add(by, began, OutsideLine { speaker, npc: None, text: said.text.clone() })
            }
            TableEvent::Line(line) => {
                let Some(npc) = line.npc.clone().filter(|_| !line.reply.is_empty()) else {
                    return false;
                };
                let by = line.from.map(|from| self.owner.person(from.0, &line.speaker));
                let answer =
                    OutsideLine { speaker: npc.clone(), npc: Some(npc), text: line.reply.clone() };
                self.add(by, None, answer)
            }
            // A card takes back the last exchange and all later lines, which may include lines from
            // before this call. Missed events may include a card, an opt-out or a deletion.
            TableEvent::Halted { .. } | TableEvent::Missed(_) => {
                self.lines.clear();
                false
            }
            TableEvent::Forgotten(person) => {
                self.lines.retain(|part| part.by.as_ref() != Some(person));
                false
            }
            _ => false,
        }
    }

    fn add(&mut self, by: Option<PersonId>, began: Option<Instant>, line: OutsideLine) -> bool {
        if self.is_full() {
            return false;
        }
        let line = OutsideLine { text: without_credentials(&line.text), ..line };
        self.lines.push(Part { by, began, line });
        true
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.lines.len() >= LINES_MAX
    }

    /// True if a person has said something.
    pub fn has_utterance(&self) -> bool {
        self.lines.iter().any(|part| part.began.is_some())
    }

    pub fn into_lines(self) -> Vec<OutsideLine> {
        self.lines.into_iter().map(|part| part.line).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::session::UnderstoodLine;

    #[test]
    fn missed_events_may_have_taken_lines_back() {
        let mut gathered = Gathered::new(Owner::Local);
        let said = UnderstoodLine {
            speaker: "Thorin".to_owned(),
            by: PersonId("7".to_owned()),
            text: "I hate spiders".to_owned(),
            began: Instant::now(),
        };
        assert!(gathered.take(&TableEvent::Said(Arc::new(said))));
        assert!(!gathered.take(&TableEvent::Missed(3)));
        assert_eq!(gathered.into_lines(), []);
    }
}
