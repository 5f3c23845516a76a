//! What a chat model reads and asks for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CallId, PersonId, Said};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// Persona and rules; the stable prefix.
    System(String),
    /// What a player said, or this turn's facts.
    User(Said),
    /// What the NPC said, and the tools it asked for.
    Assistant {
        /// Spoken text; may be empty before tool calls.
        text: String,
        /// Calls asked for in this message.
        calls: Vec<ToolCall>,
        /// It was led to by what not everybody may know.
        #[serde(default)]
        gated: bool,
    },
    /// The answer to one call.
    Tool {
        /// The call it answers.
        call: CallId,
        /// The text the model reads.
        content: String,
        /// Somebody outside wrote of it: a server, or a page.
        #[serde(default)]
        outside: bool,
        /// Not everybody may know it.
        #[serde(default)]
        gated: bool,
    },
    /// A summary in place of older messages; the model reads it like something a player said.
    Summary {
        /// Speakers of whom only the name was known, as NPCs call them.
        speakers: Vec<String>,
        /// The others whose words it sums up.
        #[serde(default)]
        people: Vec<PersonId>,
        /// The text the model reads.
        text: String,
        /// Somebody outside wrote of what it sums up. What was kept before it was known counts as if
        /// somebody had.
        #[serde(default = "unknown")]
        outside: bool,
        /// Not everybody may know all of it; the same for what was kept before.
        #[serde(default = "unknown")]
        gated: bool,
    },
}

impl Message {
    /// Whether words of somebody outside are in it, who may want to give orders.
    pub fn is_from_outside(&self) -> bool {
        match self {
            // What was kept before it was marked has a frame.
            Self::Tool { outside, content, .. } => *outside || content.starts_with("<tool-data"),
            Self::Summary { outside, .. } => *outside,
            Self::System(_) | Self::User(_) | Self::Assistant { .. } => false,
        }
    }

    /// Whether it holds what not everybody may know.
    pub const fn is_gated(&self) -> bool {
        match self {
            Self::Assistant { gated, .. }
            | Self::Tool { gated, .. }
            | Self::Summary { gated, .. } => *gated,
            Self::System(_) | Self::User(_) => false,
        }
    }

    /// What an NPC has said.
    pub const fn spoken(text: String) -> Self {
        Self::Assistant { text, calls: Vec::new(), gated: false }
    }
}

/// What is not known of a summary of an earlier version.
const fn unknown() -> bool {
    true
}

/// A call a model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id, to pair the result with.
    pub id: CallId,
    /// The model-facing tool name.
    pub name: String,
    /// The arguments as the model wrote them; JSON is not guaranteed.
    pub arguments: String,
    /// Unknown members of the call, sent back unchanged.
    pub extra: Map<String, Value>,
}

impl ToolCall {
    /// The member of `extra` that lasts as long as the turn: what a service wants back unchanged
    /// while its calls are answered (a model's signed thoughts), and nobody afterwards.
    pub const OF_TURN: &str = "of_turn";

    /// The call as it is kept beyond its turn, and as others see it.
    #[must_use]
    pub fn kept(&self) -> Self {
        let mut kept = self.clone();
        kept.extra.remove(Self::OF_TURN);
        kept
    }
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Model-facing name: letters, digits, `_`, `-`, at most 64 bytes.
    pub name: Arc<str>,
    /// The tool's identity, `server.tool`.
    pub identity: Arc<str>,
    /// What it does, for the model.
    pub description: Arc<str>,
    /// JSON Schema of the arguments.
    pub parameters: Arc<Value>,
    /// Whether an answer waits for its result.
    pub calling: Calling,
}

/// How an answer goes on after a call, where a model can go on at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calling {
    /// It waits: the result is part of it.
    #[default]
    Waits,
    /// It goes on: the call only records something, and its result is not spoken of.
    Records,
    /// It goes on: the result may come late, and is spoken in a pause.
    Late,
    /// It goes on, and is interrupted by the result.
    Urgent,
}

/// What is known about this turn beside the words themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnFacts {
    /// What NPCs call the speaker.
    pub speaker: String,
    /// Who it is; `None`: nobody of the table.
    pub by: Option<PersonId>,
    /// What was said, names corrected.
    pub utterance: String,
    /// ISO 639-1 code of the language the speaker speaks; `None`: it could not be told yet.
    pub language: Option<&'static str>,
    /// The rolls that are wanted, if any ("2d6+3", "3d6; 1d20").
    pub dice: Option<String>,
    /// The roll whose odds are asked for, if any ("2d6+3 >= 10").
    pub odds: Option<String>,
}
