//! Outcome of one utterance, as reports show it.
//!
//! Entry type: [`TurnLine`]. **Never**: decides anything.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::{SpeakerId, recall::RecallLine};
use crate::{
    domain::{Tier, redact},
    tools::{CallRecord, FollowUp},
};

/// One utterance and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct TurnLine {
    /// Number within the table, from 1.
    pub turn: u64,
    /// Name of the speaker, as the table uses it.
    pub speaker: String,
    /// The speaker or typist; for listeners at the table, and in no report.
    #[serde(skip)]
    pub from: Option<SpeakerId>,
    /// Text as understood, names corrected.
    #[serde(rename = "heard")]
    pub understood: String,
    /// Partials before the final.
    pub partials: u32,
    /// The NPC addressed.
    pub npc: Option<String>,
    /// The turn's tier.
    pub tier: Option<TierLine>,
    /// Tools the model saw.
    pub visible: Vec<String>,
    /// Calls the model made, in their order.
    pub tools: Vec<ToolLine>,
    /// The part of the answer that was heard.
    pub reply: String,
    /// The part of the answer that the voice failed to say, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unspoken: Option<String>,
    /// Outcome of the utterance.
    pub outcome: Outcome,
    /// Remark for the game master.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Length of the answer that was heard.
    pub audio_ms: u64,
    /// Durations of its stages.
    pub ms: Timings,
    /// Outcome of looking up what the NPC remembers; left out where nothing is remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalled: Option<RecallLine>,
    /// Recogniser, models and voice of the answer; left out where nobody was to answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<MadeBy>,
    /// Name of the chat model, or of several.
    pub brain: Option<String>,
    /// The recogniser's name; "typed" for typed text.
    pub stt: String,
    /// Name of the voice service.
    pub tts: Option<String>,
    /// Money spent in the session so far.
    pub spent: f64,
    /// Circumstances that are stored with the line, and in no report.
    #[serde(skip)]
    pub circumstances: Circumstances,
}

/// The makers of an answer, by the names of the configuration.
#[derive(Clone, Debug, Serialize)]
pub struct MadeBy {
    /// The recogniser; "typed" for typed text.
    #[serde(rename = "heard")]
    pub understood: String,
    /// The chat models that answered, in the order in which they did; none where none was asked, or did.
    pub thought: Vec<String>,
    /// The voice service, or the voice model.
    pub spoke: String,
    /// The engine of the answer: `cascaded`, `sentence_cascade` or `speech_to_speech`.
    pub engine: &'static str,
    /// The reason, where it is not the NPC's own engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// Circumstances of an utterance, and its listeners.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// Text as the recogniser gave it.
    pub raw: String,
    /// Character of the speaker.
    pub character: Option<String>,
    /// End of the speech.
    pub said_at: Option<Instant>,
    /// Length of the speech.
    pub said_for: Duration,
    /// Start of the answer, as heard.
    pub answered_at: Option<Instant>,
    /// The NPCs in the scene.
    pub npcs: Vec<String>,
    /// The people at the table, by the names the table uses.
    pub people: Vec<(SpeakerId, String)>,
}

/// Outcome of an utterance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Answered aloud to the end.
    Spoken,
    /// Answered aloud until somebody interrupted.
    Interrupted,
    /// Answered aloud until the model, the voice or the voice connection failed.
    CutShort,
    /// Meant for no NPC.
    NobodyAddressed,
    /// Nothing was understood.
    EmptyTranscript,
    /// The recogniser failed.
    HearingError,
    /// The chat model failed.
    ModelError,
    /// The voice failed.
    VoiceError,
    /// The model had nothing to say.
    EmptyReply,
    /// A spending cap was reached.
    OverBudget,
    /// Its speaker has asked for much just now, and others want to be answered too.
    PutOff,
    /// No sound in time.
    Timeout,
    /// Dropped before it was heard.
    Cancelled,
    /// A stop word; nothing to answer.
    Stopped,
    /// A command of the game master.
    Command,
    /// A wish that the table granted without an NPC.
    Granted,
}

impl Outcome {
    /// True if the table heard what it asked for, or asked for nothing.
    pub const fn is_well(self) -> bool {
        matches!(
            self,
            Self::Spoken
                | Self::Interrupted
                | Self::CutShort
                | Self::Stopped
                | Self::Command
                | Self::Granted
        )
    }
}

/// The tier of a turn and why.
#[derive(Clone, Debug, Serialize)]
pub struct TierLine {
    /// Tier that the selector chose.
    pub selected: Tier,
    /// Tier after the NPC's ceiling and the game master's override.
    pub effective: Tier,
    /// Reason for that tier, for the game master.
    pub reason: String,
}

/// One call of a tool and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct ToolLine {
    /// Identity of the tool, `server.tool`.
    pub tool: String,
    /// Arguments as the model gave them.
    pub arguments: Value,
    /// The answer, or the error's kind and text.
    pub result: Value,
    /// True if there is an answer.
    pub ok: bool,
    /// Wall time in ms.
    pub ms: f64,
    /// Tier of the tool; null when there is no such tool.
    pub tier: Option<Tier>,
    /// Times it went out.
    pub attempts: u32,
    /// True if it came from a cache.
    pub cached: bool,
    /// The result comes later, as a turn of its own.
    pub pending: bool,
}

impl ToolLine {
    /// A copy without credentials, for files.
    pub fn kept(&self) -> Self {
        Self { result: redact::json(&self.result), ..self.clone() }
    }

    /// A late result in one line, for the game master.
    pub fn late(late: &FollowUp) -> String {
        let line = Self::from(&late.record);
        format!("{} for {}: {}", line.tool, late.npc, line.result)
    }
}

impl From<&CallRecord> for ToolLine {
    fn from(record: &CallRecord) -> Self {
        let result = match &record.result {
            Ok(output) => output.value(),
            Err(error) => serde_json::json!({
                "error": error.kind.name(),
                "message": error.message,
            }),
        };
        Self {
            tool: record.tool.to_string(),
            arguments: record.arguments.clone(),
            // A server may repeat what it was given.
            result: redact::shown(&result),
            ok: record.result.is_ok(),
            ms: millis(record.took),
            tier: record.tier,
            attempts: record.attempts,
            cached: record.cached,
            pending: record.pending,
        }
    }
}

/// Durations of the stages of a turn, in ms; 0 where something was ready early.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Timings {
    /// Last voiced frame to final transcript.
    pub speech_end_to_final: f64,
    /// Final transcript to the model's first text.
    pub final_to_first_text: f64,
    /// The model's first text to the first frame that left.
    pub first_text_to_first_audio: f64,
    /// Last voiced frame to the first frame that left.
    pub speech_end_to_first_audio: f64,
}

/// `to - from` in ms, 0 when either is missing or they are the other way round.
pub fn between(from: Option<Instant>, to: Option<Instant>) -> f64 {
    match (from, to) {
        (Some(from), Some(to)) => millis(to.saturating_duration_since(from)),
        _ => 0.0,
    }
}

fn millis(duration: Duration) -> f64 {
    // A tenth of a microsecond is finer than any clock here.
    (duration.as_secs_f64() * 1e7).round() / 1e4
}

impl TurnLine {
    /// [`Self::stt`] of what nothing had to hear.
    pub const TYPED: &str = "typed";

    /// The line of a recording in which nobody spoke.
    pub fn without_speech(turn: u64, speaker: &str, detail: String) -> Self {
        Self {
            turn,
            speaker: speaker.to_owned(),
            ..Self::unanswered(Outcome::EmptyTranscript, detail)
        }
    }

    /// A line without an answer; who spoke, what and when is still to be filled in.
    pub(super) fn unanswered(outcome: Outcome, detail: impl Into<Option<String>>) -> Self {
        Self {
            turn: 0,
            speaker: String::new(),
            from: None,
            understood: String::new(),
            partials: 0,
            npc: None,
            tier: None,
            visible: Vec::new(),
            tools: Vec::new(),
            reply: String::new(),
            unspoken: None,
            outcome,
            detail: detail.into(),
            audio_ms: 0,
            ms: Timings::default(),
            recalled: None,
            made_by: None,
            brain: None,
            stt: String::new(),
            tts: None,
            spent: 0.0,
            circumstances: Circumstances::default(),
        }
    }
}
