//! Results of the rounds of a turn.
//!
//! Entry type: [`RoundResults`]. **Never**: asks a model.

use std::sync::Arc;

use tokio::time::Instant;

use super::Failure;
use crate::{
    domain::{Message, Npc, redact},
    logic::speakable::SpeakableFilter,
};

/// Results of the rounds.
#[derive(Debug, Default)]
pub struct RoundResults {
    /// Calls and results for the history.
    pub exchange: Vec<Message>,
    /// Tools that the model could call in the first round.
    pub visible: Vec<String>,
    /// Names of the models that answered, each once.
    pub thought: Vec<Arc<str>>,
    /// Arrival of the first text or call.
    pub first_text_at: Option<Instant>,
    /// The model's words, all rounds.
    pub text: String,
    /// Reason it ended early.
    pub failure: Option<Failure>,
}

impl RoundResults {
    /// The model `name` has answered.
    pub fn thought_by(&mut self, name: &Arc<str>) {
        if !self.thought.contains(name) {
            self.thought.push(Arc::clone(name));
        }
    }

    /// Adds what was written, of which `plain` takes the mark-up.
    pub fn add_text(&mut self, text: &str, mut plain: SpeakableFilter) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        let bare = plain.next(text);
        let is_marked = redact::holds_credential(&bare) && !redact::holds_credential(text);
        self.text.push_str(&redact::without_credentials(if is_marked { &bare } else { text }));
    }
}

/// Takes the mark-up of what `npc` says.
pub fn plain(npc: &Npc) -> SpeakableFilter {
    let names = std::iter::once(&npc.name).chain(&npc.aliases);
    SpeakableFilter::new("", names.map(String::as_str))
}
