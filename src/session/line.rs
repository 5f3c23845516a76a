//! Outcome of one utterance, as reports show it.
//!
//! Entry type: [`TurnLine`].

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::{SpeakerId, caller::OrderId, recall::RecallLine};
use crate::{
    domain::{Tier, TurnId, redact},
    tools::{CallRecord, FollowUp, NamedBy},
};

#[derive(Clone, Debug, Serialize)]
pub struct TurnLine {
    /// Number within the table, from 1.
    pub turn: u64,
    pub speaker: String,
    /// The speaker or typist; not in reports.
    #[serde(skip)]
    pub from: Option<SpeakerId>,
    #[serde(rename = "heard")]
    pub understood: String,
    pub partials: u32,
    pub npc: Option<String>,
    pub tier: Option<TierLine>,
    pub visible: Vec<String>,
    pub tools: Vec<ToolLine>,
    /// The answer as far as it was played.
    pub reply: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unspoken: Option<String>,
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub audio_ms: u64,
    pub ms: Timings,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalled: Option<RecallLine>,
    /// Omitted if no answer was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<MadeBy>,
    pub brain: Option<String>,
    /// The recogniser; "typed" for typed text.
    pub stt: String,
    pub tts: Option<String>,
    pub spent: f64,
    /// Id of its trace; omitted if it was not traced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    #[serde(skip)]
    pub circumstances: Circumstances,
}

#[derive(Clone, Debug, Serialize)]
pub struct MadeBy {
    /// The recogniser; "typed" for typed text.
    #[serde(rename = "heard")]
    pub understood: String,
    /// Chat models that answered, in order; may be empty.
    pub thought: Vec<String>,
    pub spoke: String,
    /// `cascaded`, `sentence_cascade` or `speech_to_speech`.
    pub engine: &'static str,
    /// Why it is not the NPC's own engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// Context of an utterance, and its listeners.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    pub raw: String,
    /// The order of a workflow or a program that ends with this line.
    pub order: Option<OrderId>,
    /// Its words were published ahead of it.
    pub asked: Option<AskedId>,
    /// The turn that answered; `None`: no NPC did.
    pub turn: Option<TurnId>,
    pub character: Option<String>,
    pub said_at: Option<Instant>,
    pub said_for: Duration,
    pub answered_at: Option<Instant>,
    pub npcs: Vec<String>,
    pub people: Vec<(SpeakerId, String)>,
}

/// Words that were published before their answer, which its line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AskedId(u64);

impl AskedId {
    /// One that no other words of this process have.
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Spoken,
    Interrupted,
    /// Played until the model, the voice or the voice connection failed.
    CutShort,
    /// Addressed to no NPC.
    NobodyAddressed,
    EmptyTranscript,
    HearingError,
    ModelError,
    VoiceError,
    EmptyReply,
    OverBudget,
    PutOff,
    /// No sound in time.
    Timeout,
    /// Dropped before any sound left.
    Cancelled,
    Stopped,
    Command,
    /// A wish granted by the table itself.
    Granted,
}

impl Outcome {
    /// True for expected outcomes: nothing failed and nothing was missed.
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

#[derive(Clone, Debug, Serialize)]
pub struct TierLine {
    /// Tier that the selector chose.
    pub selected: Tier,
    /// After the NPC's ceiling and the game master's override.
    pub effective: Tier,
    /// Reason, for the game master.
    pub reason: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct ToolLine {
    /// `server.tool`.
    pub tool: String,
    /// Not in reports.
    #[serde(skip)]
    pub named_by: NamedBy,
    /// Address of the MCP server, for the log of calls; not in reports.
    #[serde(skip)]
    pub server: Option<String>,
    /// As the model gave them.
    pub arguments: Value,
    /// Result, or the error's kind and text.
    pub result: Value,
    pub ok: bool,
    pub ms: f64,
    /// Null for an unknown tool.
    pub tier: Option<Tier>,
    pub attempts: u32,
    pub cached: bool,
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
            named_by: record.named_by,
            server: record.server.as_deref().map(str::to_owned),
            arguments: record.arguments.clone(),
            // A server may repeat its input.
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

/// Durations of a turn's stages, in ms; 0 if a stage was ready early.
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

/// `to - from` in ms; 0 if either is missing or they are reversed.
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
    /// [`Self::stt`] of typed text.
    pub const TYPED: &str = "typed";

    /// The line of a recording without speech.
    pub fn without_speech(turn: u64, speaker: &str, detail: String) -> Self {
        Self {
            turn,
            speaker: speaker.to_owned(),
            ..Self::unanswered(Outcome::EmptyTranscript, detail)
        }
    }

    /// A line without an answer; speaker, text and time are filled in later.
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
            trace: None,
            circumstances: Circumstances::default(),
        }
    }
}
