//! An NPC's conversation, independent of its engine.
//!
//! Entry type: [`Conversation`], owned by the seat. Each turn gets an [`Excerpt`] and returns its
//! addition. Contains only what was played. Game facts, the stage note and memories appear only in
//! the turn's own [`message()`], so they never enter the history.

mod exchanges;
mod history;
mod summary;
mod window;

pub use exchanges::forget_exchanges;
pub use history::kept;
pub use summary::{Summarising, Summary};
pub use window::{Excerpt, Prompt, Window};

#[cfg(test)]
pub use exchanges::exchanges;

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use self::{history::History, summary::summarising};
use super::{NpcModel, TurnReport};
use crate::{
    domain::{Campaign, Message, Person, Said},
    engine::{Cause, Turn},
    logic::prompt::{self, SideLine, TurnMessage},
    provider::Error,
    tools::{ToolHost, framed_inline},
};

/// Turns whose topics count.
const TOPIC_TURNS: usize = 3;
/// Messages between a failed summary and the next attempt.
const TRY_AGAIN: usize = 8;
/// Longest extract of a conversation without a summary, in bytes.
const EXTRACT: usize = 8_000;

/// Replaces the words before a line that repeats words from outside.
const RECITED: &str = "your next line has words from outside in it";

/// Notice after a failed summary.
const NOT_SUMMED_UP: &str = "but its model failed to sum it up; Glyphoxa tries again, and shortens \
                             the oldest part when it no longer fits";

/// An NPC's prompt and its memory of a session.
pub struct Conversation {
    /// Summarises the conversation, which must fit its window.
    model: NpcModel,
    system: String,
    history: History,
    window: Window,
    topics: Topics,
    retracted: u64,
    /// Number of messages when a summary failed.
    failed_at: Option<usize>,
}

impl Conversation {
    /// Continues `before`.
    pub fn new(model: NpcModel, campaign: &Campaign, before: Vec<Message>) -> Self {
        let system = prompt::system_prompt(&model.npc, campaign);
        Self {
            window: Window::of(&model, &system),
            model,
            system,
            history: History::new(before),
            topics: Topics::default(),
            retracted: 0,
            failed_at: None,
        }
    }

    /// Applies a new description; the memory is kept.
    pub fn go_on_as(&mut self, fresh: Self) {
        let Self { model, system, window, .. } = fresh;
        (self.model, self.system, self.window) = (model, system, window);
    }

    /// Utterances and answers, oldest first, as stored with the session.
    pub fn messages(&self) -> &[Message] {
        self.history.messages()
    }

    /// Like [`Conversation::messages`], if they have changed since the last call.
    pub fn changed(&mut self) -> Option<&[Message]> {
        self.history.changed()
    }

    /// For the next turn; `host` fills in values that servers have given for prompts.
    pub fn excerpt(&self, host: &ToolHost) -> Excerpt {
        let system = host.filled(&self.system);
        let messages = self.history.messages();
        Excerpt {
            outside: system != self.system
                || messages.iter().any(Message::is_from_outside)
                || self.history.side_lines().iter().any(SideLine::is_from_outside),
            secrets: !self.model.npc.secret_knowledge.is_empty()
                || messages.iter().any(Message::is_gated),
            system,
            talk: messages.into(),
            side_lines: self.history.side_lines().to_vec(),
            topics: self.topics.categories(),
            retracted: self.retracted,
            window: self.window.clone(),
        }
    }

    /// Adds a turn with its spoken text.
    pub fn add(&mut self, turn: &TurnReport, spoken: &str) {
        self.topics.add(turn.topics.clone());
        self.history.add(turn, spoken);
        match self.window.is_known() {
            false => self.history.trim(),
            true => {
                if let Some(oldest) = self.history.excess() {
                    let oldest = Summary::extract(&self.model.npc.name, oldest, EXTRACT);
                    self.history.replace(oldest);
                }
            }
        }
    }

    /// Adds a line addressed to others.
    pub fn add_side_line(&mut self, line: SideLine) {
        self.history.add_side_line(line);
    }

    /// Lines overheard since the NPC last spoke, and unanswered lines addressed to it.
    pub fn side_lines(&self) -> &[SideLine] {
        self.history.side_lines()
    }

    /// Removes the last side line with exactly these words, because the whole utterance follows
    /// later.
    pub fn remove_side_line(&mut self, line: &SideLine) {
        self.history.remove_side_line(line);
    }

    /// Removes everything of one person.
    pub fn forget(&mut self, person: &Person) {
        self.retract();
        self.history.forget(person);
    }

    /// Counts a retraction, so that engines forget copies of the conversation.
    pub const fn retract(&mut self) {
        self.retracted += 1;
    }

    /// Removes the last exchange, if it begins with `said`.
    pub fn take_back(&mut self, said: &Said) {
        self.history.take_back(said);
    }

    /// A task that summarises the older half of a conversation that fills the window; run it while
    /// no answer waits. `None` while there is room.
    pub fn summarise(&self) -> Option<Summarising> {
        let messages = self.history.messages();
        if self.failed_at.is_some_and(|at| (at..at + TRY_AGAIN).contains(&messages.len())) {
            return None;
        }
        Some(summarising(self.model.clone(), self.window.task(messages)?))
    }

    /// Applies the outcome, unless the messages have changed; returns a notice for the game master.
    pub fn summarised(&mut self, outcome: Result<Summary, Error>) -> Option<String> {
        let npc = &self.model.npc.name;
        match outcome {
            Ok(summary) => {
                self.failed_at = None;
                if !self.history.replace(summary) {
                    tracing::debug!(npc, "summary not used: what it is of has changed");
                }
                None
            }
            Err(error) => {
                tracing::warn!(npc, %error, "conversation not summed up");
                let is_first = self.failed_at.replace(self.history.messages().len()).is_none();
                is_first.then(|| format!("{npc} has talked for long, {NOT_SUMMED_UP}: {error}"))
            }
        }
    }

    /// Warning about the model's window, once.
    pub fn warning(&self) -> Option<String> {
        self.window.warning()
    }
}

/// Categories of tools of the last turns.
#[derive(Default)]
struct Topics(VecDeque<Vec<Arc<str>>>);

impl Topics {
    fn add(&mut self, of_turn: Vec<Arc<str>>) {
        while self.0.len() >= TOPIC_TURNS {
            self.0.pop_front();
        }
        self.0.push_back(of_turn);
    }

    fn categories(&self) -> Vec<Arc<str>> {
        let all: BTreeSet<&Arc<str>> = self.0.iter().flatten().collect();
        all.into_iter().cloned().collect()
    }
}

/// The turn's message, once the memory lookup is done. Cancel safe.
pub async fn message(turn: &Turn) -> Message {
    Message::User(text(turn, turn.words()).await.into())
}

/// Like [`message`], as text; without the words if the model receives their sound. Cancel safe.
pub async fn message_beside_sound(turn: &Turn) -> String {
    let words = if turn.audio.is_empty() { turn.words() } else { prompt::HEARD_ITSELF };
    text(turn, words).await
}

async fn text(turn: &Turn, utterance: &str) -> String {
    let recalled = match turn.recall.clone() {
        Some(recall) => Some(recall.await),
        None => None,
    };
    prompt::turn_message(&TurnMessage {
        speaker: &turn.facts.speaker,
        utterance,
        dice: turn.facts.dice.as_deref(),
        side_lines: &turn.conversation.side_lines,
        scene: turn.setting.scene.as_deref(),
        time_of_day: turn.setting.time_of_day.as_deref(),
        recalled: recalled.as_ref(),
        note: turn.setting.note.as_deref(),
        is_follow_up: matches!(turn.cause, Cause::FollowUp(_)),
    })
}

/// The utterance as the conversation stores it.
pub fn said(turn: &Turn) -> Said {
    let text = match &turn.cause {
        Cause::FollowUp(_) => prompt::FOLLOW_UP.to_owned(),
        Cause::Puppet { outside: true, .. } => {
            format!("{}: {}", turn.facts.speaker, framed_inline("workflow", RECITED))
        }
        Cause::Utterance | Cause::Puppet { .. } => {
            format!("{}: {}", turn.facts.speaker, turn.words())
        }
    };
    Said { text, by: turn.facts.by.clone() }
}
