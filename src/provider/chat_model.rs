//! The contract of a chat model: messages and tools in, text and calls out as they are written.
//!
//! Entry type: [`ChatModel`]. **Never**: calls a tool.

use std::sync::Arc;

use futures::stream::BoxStream;

use super::{Attempts, Error};
use crate::domain::{Message, ToolCall, ToolChoice, ToolSpec, TurnFacts};

/// Writes replies and asks for tools.
pub trait ChatModel: Send + Sync {
    /// Short name for logs and reports ("scripted", "openai").
    fn name(&self) -> &str;

    /// The model's name in the price list; `None`: it costs nothing.
    fn priced_as(&self) -> Option<&str>;

    /// True if it does what any prompt says; a brain of rules does not.
    fn reads_prompts(&self) -> bool {
        true
    }

    /// Tokens of a request and its answer together, at most; `None`: nothing is counted, as with a
    /// brain of rules.
    fn window(&self) -> Option<u32> {
        None
    }

    /// Tokens it may write beyond the longest answer that nobody hears: its thoughts. They are paid for.
    fn thinks(&self) -> u32 {
        0
    }

    /// True if the service may bill what it reads as written to its cache.
    fn writes_cache(&self) -> bool {
        false
    }

    /// True if it continues an answer whose beginning is the last message of the request.
    fn continues(&self) -> bool {
        false
    }

    /// Streams one reply. Dropping the stream cancels the request.
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>>;
}

/// One request to a chat model.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// Stable prefix first, this turn's facts last.
    pub messages: Vec<Message>,
    /// The tools it may call now.
    pub tools: Arc<[ToolSpec]>,
    /// Rule for tool calls: optional, required, forbidden, or a certain tool.
    pub tool_choice: ToolChoice,
    /// Longest answer, in tokens.
    pub max_tokens: u32,
    /// The turn's facts as values, for brains that do not read prose.
    pub facts: Arc<TurnFacts>,
    /// Payer of further attempts.
    pub attempts: Attempts,
}

/// A piece of a streamed reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// Text to append.
    Text(String),
    /// Bytes that it has written and that nobody reads: it thinks.
    Hidden(usize),
    /// One whole call.
    ToolCall(ToolCall),
    /// Tokens billed for this request so far; no count lowers an earlier one.
    Usage(Usage),
    /// The service has cut the text here, perhaps within a sentence.
    CutOff(CutOff),
    /// Nothing follows.
    Done,
}

/// Reason a service ends a reply before the model does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutOff {
    /// It has as many tokens as were asked for.
    Length,
    /// The service withholds the rest for what it says.
    Filter,
}

/// Tokens billed for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub input_tokens: u64,
    /// Of those, read from the provider's cache.
    pub cached_tokens: u64,
    /// Of the rest, written to the provider's cache, where that has a price of its own.
    pub written_tokens: u64,
    /// Tokens of the answer, hidden reasoning included.
    pub output_tokens: u64,
}
