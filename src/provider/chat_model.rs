//! The contract of a chat model: messages and tools in, text and calls out as they are written.
//!
//! Entry type: [`ChatModel`]. **Never**: calls a tool.

use std::sync::Arc;

use futures::stream::BoxStream;

use super::{Attempts, Error};
use crate::domain::{Message, ToolCall, ToolChoice, ToolSpec, TurnFacts};

pub trait ChatModel: Send + Sync {
    /// Short name for logs and reports ("scripted", "openai").
    fn name(&self) -> &str;

    /// Name in the price list; `None`: free.
    fn priced_as(&self) -> Option<&str>;

    /// False for a brain of rules, which ignores the prompt.
    fn reads_prompts(&self) -> bool {
        true
    }

    /// Most tokens of a request plus its answer; `None`: unlimited, as for a brain of rules.
    fn window(&self) -> Option<u32> {
        None
    }

    /// Most tokens of hidden reasoning, billed in addition to `max_tokens`.
    fn thinks(&self) -> u32 {
        0
    }

    fn writes_cache(&self) -> bool {
        false
    }

    /// True if it continues an answer whose beginning is the last message.
    fn continues(&self) -> bool {
        false
    }

    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>>;
}

#[derive(Clone, Debug)]
pub struct ChatRequest {
    pub messages: Vec<Message>,
    pub tools: Arc<[ToolSpec]>,
    pub tool_choice: ToolChoice,
    /// In tokens.
    pub max_tokens: u32,
    /// The turn's facts as values, for brains that cannot read prose.
    pub facts: Arc<TurnFacts>,
    pub attempts: Attempts,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    Text(String),
    /// Bytes of reasoning, which is not shown.
    Hidden(usize),
    ToolCall(ToolCall),
    /// Tokens billed so far; no count lowers an earlier one.
    Usage(Usage),
    /// The service cut the text here, perhaps within a sentence.
    CutOff(CutOff),
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutOff {
    /// `max_tokens` was reached.
    Length,
    /// A content filter withheld the rest.
    Filter,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Cached tokens included.
    pub input_tokens: u64,
    /// Part of `input_tokens` read from the provider's cache.
    pub cached_tokens: u64,
    /// Part of `input_tokens` written to the provider's cache, where that has its own price.
    pub written_tokens: u64,
    /// Hidden reasoning included.
    pub output_tokens: u64,
}
