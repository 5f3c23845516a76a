//! One turn's copy of its NPC's conversation.
//!
//! Entry type: [`Excerpt`].

use std::sync::Arc;

use super::window::{Prompt, Window};
use crate::{domain::Message, logic::prompt::SideLine};

pub struct Excerpt {
    /// System prompt; equal in every turn, so that providers can cache it.
    pub system: String,
    /// Utterances and answers, oldest first.
    pub talk: Arc<[Message]>,
    pub side_lines: Vec<SideLine>,
    /// Categories of tools called or named in recent turns, without repetition.
    pub topics: Vec<Arc<str>>,
    pub retracted: u64,
    pub window: Window,
    /// True if it contains words of outsiders.
    pub outside: bool,
    /// True if it contains text that is not public.
    pub secrets: bool,
}

impl Excerpt {
    /// For a question of the game master without a conversation. `outside`: `system` contains words
    /// of outsiders. Question and memories may be secret.
    pub fn of_game_master(system: String, window: Window, outside: bool) -> Self {
        let (side_lines, topics) = (Vec::new(), Vec::new());
        let talk = Arc::from([]);
        Self { system, talk, side_lines, topics, retracted: 0, window, outside, secrets: true }
    }

    pub fn prompt(&self, message: Message) -> Prompt {
        Prompt {
            system: Message::System(self.system.clone()),
            talk: Arc::clone(&self.talk),
            turn: vec![message],
            window: self.window.clone(),
        }
    }
}
