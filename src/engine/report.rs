//! Result of a turn. Playback knows the played part.
//!
//! Entry type: [`TurnReport`].

use std::sync::Arc;

use tokio::time::Instant;

use crate::{
    domain::{EngineKind, Message, Said},
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
    /// The service that spoke; `None`: the NPC's voice service.
    pub spoke: Option<String>,
    /// Why it is not the NPC's own engine.
    pub because: Option<String>,
}

impl EngineUsed {
    /// A cascade as the NPC's own engine; `is_opened`: of two models.
    pub const fn cascaded(is_opened: bool) -> Self {
        let kind = if is_opened { EngineKind::SentenceCascade } else { EngineKind::Cascaded };
        Self { kind, spoke: None, because: None }
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
