//! Result of a turn and of its rounds. Playback knows the played part.
//!
//! Entry types: [`TurnReport`], [`RoundResults`].

use std::sync::Arc;

use tokio::time::Instant;

use crate::{
    domain::{EngineKind, Message, Npc, Said, redact},
    logic::speakable::SpeakableFilter,
    tools::CallRecord,
};

#[derive(Debug)]
pub struct TurnReport {
    /// The utterance as the conversation stores it.
    pub said: Said,
    /// Calls and results, in the order the model needs them.
    pub exchange: Vec<Message>,
    /// Its own message contained text that is not public.
    pub told_secrets: bool,
    /// Categories of tools called or named, without repetition.
    pub topics: Vec<Arc<str>>,
    pub visible: Vec<String>,
    /// Every call in the model's order, refused ones included.
    pub calls: Vec<CallRecord>,
    /// Models that answered, in order, without repetition.
    pub thought: Vec<Arc<str>>,
    pub engine: EngineUsed,
    pub news: Vec<String>,
    pub first_text_at: Option<Instant>,
    /// Text that the voice failed to speak; usually empty.
    pub unspoken: String,
    pub failure: Option<Failure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineUsed {
    pub kind: EngineKind,
    /// The services that spoke, in words; `None`: the NPC's voice service.
    pub spoke: Option<String>,
    /// The voice that spoke last, if it is not the NPC's own.
    pub other_voice: Option<String>,
    /// Why it is not the NPC's own engine.
    pub because: Option<String>,
}

impl EngineUsed {
    /// A cascade as the NPC's own engine; `is_opened`: of two models.
    pub const fn cascaded(is_opened: bool) -> Self {
        let kind = if is_opened { EngineKind::SentenceCascade } else { EngineKind::Cascaded };
        Self { kind, spoke: None, other_voice: None, because: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The chat model failed. The text is for the game master, never spoken.
    #[error("{0}")]
    Model(String),
    #[error("{0}")]
    Voice(String),
    #[error("{0}")]
    OverBudget(String),
    #[error("the model had nothing to say (ask again, or in other words)")]
    EmptyReply,
}

impl Failure {
    /// Name for traces.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Model(_) => "model_error",
            Self::Voice(_) => "voice_error",
            Self::OverBudget(_) => "over_budget",
            Self::EmptyReply => "empty_reply",
        }
    }
}

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
