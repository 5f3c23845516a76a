//! The part of its NPC's conversation that one turn gets.
//!
//! Entry type: [`Excerpt`]. **Never**: changes with the conversation; the next turn gets its own.

use std::sync::Arc;

use super::window::{Prompt, Window};
use crate::{domain::Message, logic::prompt::SideLine};

/// The conversation up to a turn.
pub struct Excerpt {
    /// System prompt of the NPC; it is equal in every turn, so that providers can cache it.
    pub system: String,
    /// Utterances and answers, oldest first.
    pub talk: Arc<[Message]>,
    /// Lines said around the NPC since it last spoke.
    pub side_lines: Vec<SideLine>,
    /// Categories of tools that were called or named in the last turns, each once.
    pub topics: Vec<Arc<str>>,
    /// Number of retractions so far.
    pub retracted: u64,
    /// The room the NPC's model has.
    pub window: Window,
    /// Words of somebody outside are in it.
    pub outside: bool,
    /// It has text that not everybody may know.
    pub secrets: bool,
}

impl Excerpt {
    /// A question of the game master, before which nothing was said; `outside`: words of somebody
    /// outside are in `system`. The question, and memories that are looked up for it, may be
    /// secret.
    pub fn of_game_master(system: String, window: Window, outside: bool) -> Self {
        let (side_lines, topics) = (Vec::new(), Vec::new());
        let talk = Arc::from([]);
        Self { system, talk, side_lines, topics, retracted: 0, window, outside, secrets: true }
    }

    /// Prompt of a model that answers `message`.
    pub fn prompt(&self, message: Message) -> Prompt {
        Prompt {
            system: Message::System(self.system.clone()),
            talk: Arc::clone(&self.talk),
            turn: vec![message],
            window: self.window.clone(),
        }
    }
}
