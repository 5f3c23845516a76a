//! `voice.speak`, `voice.listen`.

use std::time::Duration;

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    campaign::{ListenFor, ListenUntil, OutsideSpoken, Utterance48, WantedLine},
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        schema::{self, count, flag, maybe_string, name, number, object, of_list, string, text},
        served::{Annotations, Rights, ServedTool},
    },
};

/// Longest text, in characters: what an NPC says in about two minutes.
const TEXT_MAX: u32 = 2_000;
/// Longest time to listen, in seconds.
const SECONDS_MAX: u32 = 60;
const SECONDS: u32 = 30;

/// Outcomes of a line.
const HOW: [&str; 5] = ["spoken", "begun", "interrupted", "x_card", "not_said"];
/// Description of the argument `sound`.
pub const SOUND: &str = "Return the speech as a WAV file where no table plays it; some clients take \
    none, or nothing above 1 MB (8 seconds)";

pub static SPEAK: ServedTool = ServedTool {
    name: "voice.speak",
    title: "Speak as an NPC",
    description: "An NPC says the text word for word at the running table; the answer comes when it \
        was heard, with what was heard of it. With wait: false it comes at once, and the line goes \
        on. Without a table the speech is returned as sound.",
    rights: Rights::Dm,
    annotations: Annotations { open_world: true, ..Annotations::ADDS },
    input: || {
        let members = json!({
            "text": text("What the NPC says", TEXT_MAX),
            "npc": name("Name of the NPC (default: the narrator, else the first one present)"),
            "table": name("Id of the table (default: the newest)"),
            "sound": flag(SOUND, true),
            "wait": flag("Wait until the line was heard; without, no sound is returned", true),
        });
        object(&members, &["text"])
    },
    output: spoken_schema,
    run: |call| speak(call).boxed(),
};

pub static LISTEN: ServedTool = ServedTool {
    name: "voice.listen",
    title: "Listen to the table",
    description: "What is said next at the table, transcribed, by speaker. Ends after an utterance, \
        at a silence, or when the time is over. Only players who are heard are in it.",
    rights: Rights::Listening,
    annotations: Annotations { open_world: true, ..Annotations::LOOKS },
    input: || {
        let members = json!({
            "table": name("Id of the table (default: the newest)"),
            "seconds": count("Longest time to listen", SECONDS_MAX, SECONDS),
            "until": {
                "type": "string", "enum": ["utterance", "silence", "time"],
                "default": "utterance", "description": "What ends it before the time is over",
            },
        });
        object(&members, &[])
    },
    output: || {
        let line = json!({ "speaker": string(), "npc": maybe_string(), "text": string() });
        of_list("lines", &line, &["speaker", "npc", "text"])
    },
    run: |call| listen(call).boxed(),
};

#[derive(Deserialize)]
struct Speak {
    text: String,
    npc: Option<String>,
    table: Option<String>,
    sound: Option<bool>,
    wait: Option<bool>,
}

#[derive(Deserialize)]
struct Listen {
    table: Option<String>,
    seconds: Option<u32>,
    until: Option<Until>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Until {
    #[default]
    Utterance,
    Silence,
    Time,
}

async fn speak(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Speak { text, npc, table, sound, wait } = call.read()?;
    call.progress.report("the NPC is about to speak".to_owned()).await;
    let outside = call.handles().outside.for_program(&call.holder.id);
    let (owner, table, npc) = (call.owner(), table.as_deref(), npc.as_deref());
    let wanted = WantedLine { owner, table, npc, text: &text };
    if wait == Some(false) {
        let begun = outside.begin_speaking(wanted, call.token_ends()).await?;
        return Ok(answer(begun, false));
    }
    let spoken = outside.speak(wanted).await?;
    Ok(answer(spoken, sound.unwrap_or(true)))
}

async fn listen(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Listen { table, seconds, until } = call.read()?;
    let seconds = seconds.unwrap_or(SECONDS).min(SECONDS_MAX);
    let until = match until.unwrap_or_default() {
        Until::Utterance => ListenUntil::Utterance,
        Until::Silence => ListenUntil::Silence,
        Until::Time => ListenUntil::Time,
    };
    call.progress.report("listening".to_owned()).await;
    let wanted = ListenFor { most: Duration::from_secs(seconds.into()), until };
    let heard = call.handles().outside.listen(call.owner(), table.as_deref(), wanted).await?;
    let lines = heard
        .into_iter()
        .map(|line| json!({ "speaker": line.speaker, "npc": line.npc, "text": line.text }));
    Ok(json!({ "lines": lines.collect::<Vec<Value>>() }).into())
}

/// An answer about what an NPC said, with its sound if the caller `wants_sound` and no table plays
/// it.
pub fn answer(spoken: OutsideSpoken, wants_sound: bool) -> ToolAnswer {
    let OutsideSpoken { npc, heard, how, why, sound } = spoken;
    let sound = sound.filter(|_| wants_sound);
    let seconds = sound.as_ref().map(Utterance48::seconds);
    let value = json!({ "npc": npc, "heard": heard, "how": how, "why": why, "seconds": seconds });
    ToolAnswer { value, sound }
}

pub fn spoken_schema() -> Value {
    let mut seconds = number();
    seconds["type"] = json!(["number", "null"]);
    seconds["description"] = "Length of the returned sound; null: none is returned".into();
    let members = json!({
        "npc": string(),
        "heard": { "type": "string", "description": "The text as far as it was heard" },
        "how": { "type": "string", "enum": HOW },
        "why": maybe_string(),
        "seconds": seconds,
    });
    schema::result(&members, &["npc", "heard", "how", "why", "seconds"])
}
