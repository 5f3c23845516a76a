//! Results of a turn's rounds.

use std::sync::Arc;

use tokio::time::Instant;

use super::Failure;
use crate::{
    domain::{Message, Npc, redact},
    logic::speakable::SpeakableFilter,
};

#[derive(Debug, Default)]
pub struct RoundResults {
    pub exchange: Vec<Message>,
    pub visible: Vec<String>,
    /// Models that answered, without repetition.
    pub thought: Vec<Arc<str>>,
    pub first_text_at: Option<Instant>,
    pub text: String,
    pub failure: Option<Failure>,
}

impl RoundResults {
    pub fn thought_by(&mut self, name: &Arc<str>) {
        if !self.thought.contains(name) {
            self.thought.push(Arc::clone(name));
        }
    }

    pub fn add_text(&mut self, text: &str, mut plain: SpeakableFilter) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        let bare = plain.next(text);
        let is_marked = redact::holds_credential(&bare) && !redact::holds_credential(text);
        self.text.push_str(&redact::without_credentials(if is_marked { &bare } else { text }));
    }
}

pub fn plain(npc: &Npc) -> SpeakableFilter {
    let names = std::iter::once(&npc.name).chain(&npc.aliases);
    SpeakableFilter::new("", names.map(String::as_str))
}
