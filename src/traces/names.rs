//! Names of spans and attributes.
//!
//! They are those of OpenTelemetry for generative AI and MCP, in
//! open-telemetry/semantic-conventions-genai at commit 0393513c; nothing there is stable yet. Those
//! of speech are proposed there (pull request 390). Names of our own begin with `glyphoxa.`. Speech,
//! prompts and arguments are in attributes with the segment `pii`, by which a collector
//! can drop them.

pub const SERVICE_NAME: &str = "service.name";
pub const SERVICE_VERSION: &str = "service.version";
pub const GLYPHOXA: &str = "glyphoxa";

/// Root span of a turn.
pub const INVOKE_AGENT: &str = "invoke_agent";

pub const OPERATION_NAME: &str = "gen_ai.operation.name";
pub const AGENT_NAME: &str = "gen_ai.agent.name";
pub const CONVERSATION_ID: &str = "gen_ai.conversation.id";
/// `completed` or `interrupted`; an error has [`ERROR_TYPE`] instead.
pub const END_REASON: &str = "gen_ai.agent.invocation.end_reason";
/// An entry of the configuration, which may name a service or a model.
pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub const TOOL_NAME: &str = "gen_ai.tool.name";
/// [`TOOL_NAME`] of all tools that do not exist.
pub const UNKNOWN_TOOL: &str = "unknown";
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub const ERROR_TYPE: &str = "error.type";

pub const MCP_METHOD: &str = "mcp.method.name";
pub const MCP_PROTOCOL: &str = "mcp.protocol.version";
/// [`MCP_METHOD`] of a call.
pub const TOOLS_CALL: &str = "tools/call";

pub const STAGE: &str = "glyphoxa.stage";
pub const OUTCOME: &str = "glyphoxa.outcome";
pub const TIER: &str = "glyphoxa.tier";
pub const ENGINE: &str = "glyphoxa.engine";
pub const TURN: &str = "glyphoxa.turn";
/// End of speech to the first sound out, in seconds.
pub const FIRST_AUDIO: &str = "glyphoxa.first_audio_seconds";
/// Start of a request to its first text, in seconds.
pub const FIRST_TEXT: &str = "glyphoxa.first_text_seconds";
pub const CHARACTERS: &str = "glyphoxa.characters";
pub const CACHED: &str = "glyphoxa.tool.cached";
pub const PENDING: &str = "glyphoxa.tool.pending";
pub const ATTEMPTS: &str = "glyphoxa.tool.attempts";
pub const SERVER: &str = "glyphoxa.mcp.server";

/// Everything with this segment is absent without `telemetry.content`.
#[cfg(test)]
pub const PII: &str = ".pii.";
pub const UNDERSTOOD: &str = "glyphoxa.pii.understood";
pub const REPLY: &str = "glyphoxa.pii.reply";
pub const PROMPT: &str = "glyphoxa.pii.prompt";
pub const ANSWER: &str = "glyphoxa.pii.answer";
pub const SPOKEN: &str = "glyphoxa.pii.spoken";
pub const ARGUMENTS: &str = "glyphoxa.pii.tool_arguments";
pub const RESULT: &str = "glyphoxa.pii.tool_result";

/// Spans below a turn's root that are work of a service or a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Chat,
    ExecuteTool,
    /// A model that hears and speaks.
    Live,
    SpeechToText,
    TextToSpeech,
}

impl Operation {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::ExecuteTool => "execute_tool",
            Self::Live => "generate_live_content",
            Self::SpeechToText => "speech_to_text",
            Self::TextToSpeech => "text_to_speech",
        }
    }

    /// Attribute of the span's target.
    pub const fn target(self) -> &'static str {
        match self {
            Self::ExecuteTool => TOOL_NAME,
            Self::Chat | Self::Live | Self::SpeechToText | Self::TextToSpeech => PROVIDER_NAME,
        }
    }

    /// True for a request to a service.
    pub const fn is_client(self) -> bool {
        !matches!(self, Self::ExecuteTool)
    }
}
