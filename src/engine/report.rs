//! The result of a turn.
//!
//! Entry type: [`TurnReport`]. **Never**: says what of it was played; playback knows.

use std::sync::Arc;

use tokio::time::Instant;

use crate::{
    domain::{EngineKind, Message, Said},
    tools::CallRecord,
};

/// Result of a turn, whether or not it was heard.
#[derive(Debug)]
pub struct TurnReport {
    /// Line of the utterance in the conversation.
    pub said: Said,
    /// Calls and results, in the order the model needs them.
    pub exchange: Vec<Message>,
    /// Its own message told the NPC what not everybody may know.
    pub told_secrets: bool,
    /// Categories of tools that were called or named, each once.
    pub topics: Vec<Arc<str>>,
    /// Tools that the model could call in its first round.
    pub visible: Vec<String>,
    /// Every call, refused ones included, in the order the model made them.
    pub calls: Vec<CallRecord>,
    /// Names of the models that answered, in the order in which they did, each once.
    pub thought: Vec<Arc<str>>,
    /// The engine of the answer.
    pub engine: EngineUsed,
    /// News of services for the game master, not shown yet.
    pub news: Vec<String>,
    /// Arrival of the model's first text or call.
    pub first_text_at: Option<Instant>,
    /// Text of the model that the voice failed to say; empty where it did not fail.
    pub unspoken: String,
    /// Reason it ended early, if it did.
    pub failure: Option<Failure>,
}

/// The engine of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineUsed {
    /// The kind of engine.
    pub kind: EngineKind,
    /// The service that spoke; `None`: the NPC's voice service.
    pub spoke: Option<String>,
    /// The reason, where it is not the NPC's own engine.
    pub because: Option<String>,
}

impl EngineUsed {
    /// A cascade, which is the NPC's own engine; `is_opened`: of two models.
    pub const fn cascaded(is_opened: bool) -> Self {
        let kind = if is_opened { EngineKind::SentenceCascade } else { EngineKind::Cascaded };
        Self { kind, spoke: None, because: None }
    }
}

/// Reason a turn ended before it was complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The chat model failed; the text is for the game master, never spoken.
    #[error("{0}")]
    Model(String),
    /// The voice failed.
    #[error("{0}")]
    Voice(String),
    /// A spending cap stopped it.
    #[error("{0}")]
    OverBudget(String),
    /// The model answered without a word to say.
    #[error("the model had nothing to say (ask again, or in other words)")]
    EmptyReply,
}
