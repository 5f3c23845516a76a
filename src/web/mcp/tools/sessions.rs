//! `session.recap`, `session.transcript`.

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    campaign::{RecapRequest, date},
    memory::{LineFilter, Pick, TranscriptLine},
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        schema::{
            boolean, count, flag, integer, maybe_string, name, object, of_list, result, string,
        },
        served::{Annotations, Rights, ServedTool},
    },
};

/// Most lines of one answer.
const LINES_MAX: u32 = 500;
const LINES: u32 = 100;

pub static RECAP: ServedTool = ServedTool {
    name: "session.recap",
    title: "Recap of a session",
    description: "What happened in a session: its summary, or an extract of its lines. Asks no \
        model, and costs nothing.",
    rights: Rights::Everyone,
    annotations: Annotations::LOOKS,
    input: || {
        let members = json!({
            "session": name("Id of the session (default: the last in which something was said)"),
            "secrets": flag("With what only the game master knows (a game master's token)", false),
        });
        object(&members, &[])
    },
    output: || {
        let members = json!({ "session": string(), "text": string() });
        result(&members, &["session", "text"])
    },
    run: |call| recap(call).boxed(),
};

pub static TRANSCRIPT: ServedTool = ServedTool {
    name: "session.transcript",
    title: "Transcript of a session",
    description: "Lines of a session: the last ones, or those from a number on. A player's token \
        sees what everyone may know.",
    rights: Rights::Everyone,
    annotations: Annotations::LOOKS,
    input: || {
        let members = json!({
            "session": name("Id of the session (default: the last in which something was said)"),
            "from": {
                "type": "integer", "minimum": 1, "description": "Number of the first line",
            },
            "limit": count("Most lines", LINES_MAX, LINES),
        });
        object(&members, &[])
    },
    output: || {
        let line = json!({
            "number": integer(), "at": string(), "speaker": string(), "npc": maybe_string(),
            "text": string(), "secret": boolean(),
        });
        let mut schema = of_list("lines", &line, &["number", "at", "speaker", "npc", "text"]);
        schema["properties"]["session"] = string();
        schema["required"] = json!(["session", "lines"]);
        schema
    },
    run: |call| transcript(call).boxed(),
};

#[derive(Deserialize)]
struct AskedRecap {
    session: Option<String>,
    #[serde(default)]
    secrets: bool,
}

#[derive(Deserialize)]
struct AskedLines {
    session: Option<String>,
    from: Option<u64>,
    limit: Option<u32>,
}

async fn recap(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let AskedRecap { session, secrets } = call.read()?;
    if secrets && !call.is_dm() {
        return Err("only a game master's token reads secrets (leave out 'secrets')".into());
    }
    let (_, entry) = call.session(session.as_deref()).await?;
    let id = entry.session.id;
    let owner = call.owner();
    let request = RecapRequest { owner, session: Some(id.clone()), for_dm: secrets, paid: false };
    let text = call.handles().recaps.recap(request).await?;
    Ok(json!({ "session": id, "text": text }).into())
}

async fn transcript(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let AskedLines { session, from, limit } = call.read()?;
    let limit = limit.unwrap_or(LINES).min(LINES_MAX);
    let (scope, entry) = call.session(session.as_deref()).await?;
    let id = entry.session.id;
    let pick = match from {
        Some(from) => {
            Pick::Range { from, to: from.saturating_add(u64::from(limit).saturating_sub(1)) }
        }
        None => Pick::All,
    };
    let limit = usize::try_from(limit)?;
    let filter = LineFilter { session: Some(id.clone()), pick, limit, ..LineFilter::default() };
    let lines = call.store().lines(&scope, filter, call.viewer()).await?;
    let is_dm = call.is_dm();
    let lines = lines.iter().map(|line| shown(line, is_dm)).collect::<Vec<Value>>();
    Ok(json!({ "session": id, "lines": lines }).into())
}

/// A line without the ids of people.
pub fn shown(line: &TranscriptLine, is_dm: bool) -> Value {
    let said = &line.said;
    let mut shown = json!({
        "number": line.seq,
        "at": date(said.at),
        "speaker": said.who(),
        "npc": said.npc,
        "text": said.text,
    });
    if is_dm {
        shown["secret"] = said.visibility.is_gated().into();
    }
    shown
}
