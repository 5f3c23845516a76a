//! Messages of a chat model.

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
    /// Words of a player, or facts of this turn.
    User(Said),
    /// Words of the NPC, and its tool calls.
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
        /// It includes words from outside: of a server, or a page.
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
        /// Its source includes words from outside. A summary stored without this field counts as if
        /// it did.
        #[serde(default = "unknown")]
        outside: bool,
        /// Not everybody may know all of it; the same for what was kept before.
        #[serde(default = "unknown")]
        gated: bool,
    },
}

impl Message {
    /// True if it includes words from outside, which may carry orders.
    pub fn is_from_outside(&self) -> bool {
        match self {
            // Older stored messages are marked by a frame instead.
            Self::Tool { outside, content, .. } => *outside || content.starts_with("<tool-data"),
            Self::Summary { outside, .. } => *outside,
            Self::System(_) | Self::User(_) | Self::Assistant { .. } => false,
        }
    }

    /// True if it contains secrets.
    pub const fn is_gated(&self) -> bool {
        match self {
            Self::Assistant { gated, .. }
            | Self::Tool { gated, .. }
            | Self::Summary { gated, .. } => *gated,
            Self::System(_) | Self::User(_) => false,
        }
    }

    /// Words of an NPC.
    pub const fn spoken(text: String) -> Self {
        Self::Assistant { text, calls: Vec::new(), gated: false }
    }
}

/// Default for a summary of an earlier version.
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
    /// while its calls are answered (a model's signed thoughts), and never afterwards.
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
    /// Description for the model.
    pub description: Arc<str>,
    /// JSON Schema of the arguments.
    pub parameters: Arc<Value>,
    /// Defines if an answer waits for its result.
    pub calling: Calling,
}

/// Effect of a call on the answer, for models that can continue it.
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

/// Facts about this turn beside the words themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnFacts {
    /// Name that NPCs use for the speaker.
    pub speaker: String,
    /// The speaker's id; `None`: not a person of the table.
    pub by: Option<PersonId>,
    /// Transcript with corrected names.
    pub utterance: String,
    /// ISO 639-1 code of the speaker's language; `None`: not detected yet.
    pub language: Option<&'static str>,
    /// The rolls that are wanted, if any ("2d6+3", "3d6; 1d20").
    pub dice: Option<String>,
    /// The roll whose odds are asked for, if any ("2d6+3 >= 10").
    pub odds: Option<String>,
    /// Number of rolls before the last one that is asked for, if any: 0 for the last.
    pub last: Option<u8>,
    /// True if rolling is only spoken of ("don't roll"), so that no dice may fall.
    pub dice_withheld: bool,
    /// True if all that is wanted is that the music stops.
    pub stops_music: bool,
}
