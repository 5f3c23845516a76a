//! `tools.call`: a tool of the assistant, within its whitelist, policy and approval.

use std::sync::Arc;

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    campaign::{KeptPermits, TableHere, ToolDecisions, outside_sessions},
    domain::{CallId, Scope, SessionId, ToolCall, TurnId},
    tools::{
        Authority, CallContext, CallErrorKind, CallRecord, Caller, Progress, Taint, ToolHost,
        TurnLimits,
    },
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        outside_effects::CallEffects,
        schema::{flag, name, object, result, string},
        served::{Annotations, Rights, ServedTool},
    },
};

/// Most tools named in an error.
const NAMED_MAX: usize = 40;

pub static CALL: ServedTool = ServedTool {
    name: "tools.call",
    title: "Call a tool of the assistant",
    description: "Calls a tool with the rights of the game master's assistant. What needs approval \
        waits for the game master at the table: the answer then says so, or comes after the \
        decision with 'wait'.",
    rights: Rights::Dm,
    annotations: Annotations { destructive: true, open_world: true, ..Annotations::ADDS },
    input: || {
        let members = json!({
            "tool": name("Name of the tool, as in dice.roll_dice"),
            "arguments": { "type": "object", "description": "Arguments of the tool" },
            "table": name("Id of the table (default: the newest)"),
            "wait": flag("Wait for the game master's decision and the result", false),
        });
        object(&members, &["tool"])
    },
    output: || {
        let members = json!({
            "tool": string(),
            "status": { "type": "string", "enum": ["done", "waiting"] },
            "text": string(),
            "result": {},
        });
        result(&members, &["tool", "status", "text", "result"])
    },
    run: |call| run(call).boxed(),
};

#[derive(Deserialize)]
struct Asked {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    table: Option<String>,
    #[serde(default)]
    wait: bool,
}

async fn run(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Asked { tool, arguments, table, wait } = call.read()?;
    call.handles().outside.may_call(&call.holder.id)?;
    let table = call.table(table.as_deref())?;
    if let Some(table) = &table
        && let Some(way_out) = table.link.status(table.link.halts.count()).await?.card
    {
        return Err(way_out.into());
    }
    let scope = call.scope(table.as_ref()).await?;
    let (session, host) = host(&call, table.as_ref(), &scope).await?;
    let snapshot = host.snapshot();
    let entry = snapshot.find(&tool);
    let entry = entry.ok_or_else(|| unknown(&call, &host, &tool))?;
    let made = ToolCall {
        id: CallId(format!("outside-{:08x}", rand::random::<u32>())),
        name: entry.spec.name.to_string(),
        arguments: Value::Object(arguments).to_string(),
        extra: Map::new(),
    };
    let (late, mut results) = mpsc::channel(1);
    let effects = CallEffects { link: table.map(|table| table.link), late };
    let context = CallContext {
        authority: authority(&call, &scope, &session, &host),
        scope,
        session,
        turn: TurnId(0),
        speaker: "a program outside".into(),
        by: None,
        deadline: Instant::now() + entry.tool.max(),
        fresh: false,
        taint: Taint::default(),
        progress: Progress::default(),
        span: Default::default(),
        cancel: CancellationToken::new(),
        effects: Arc::new(effects),
    };
    // The program may act on words from outside.
    context.taint.set();
    let record = host.execute(&context, &made).await;
    // A call under way now has the only sender, so the channel closes with it.
    drop(context);
    if !record.pending {
        return done(&record);
    }
    call.progress.report(record.for_model.clone()).await;
    if wait {
        let late = results.recv().await.ok_or("the call was withdrawn")?;
        return done(&late.record);
    }
    let tool = &*record.tool;
    Ok(json!({ "tool": tool, "status": "waiting", "text": record.for_model, "result": null })
        .into())
}

fn done(record: &CallRecord) -> Result<ToolAnswer, ToolError> {
    let tool = &*record.tool;
    match &record.result {
        Ok(output) => {
            let (text, value) = (&record.for_model, output.value());
            Ok(json!({ "tool": tool, "status": "done", "text": text, "result": value }).into())
        }
        Err(error) if error.kind == CallErrorKind::NotVisible => {
            Err(format!("the assistant may not use '{tool}' (list it under the assistant's tools)")
                .into())
        }
        Err(error) => Err(format!("{tool}: {}: {}", error.kind.name(), record.for_model).into()),
    }
}

/// The tools of the session, or those outside sessions.
async fn host(
    call: &Incoming,
    table: Option<&TableHere>,
    scope: &Scope,
) -> Result<(SessionId, ToolHost), ToolError> {
    let handles = call.handles();
    if let Some(table) = table {
        let session = table.link.session.clone();
        let host = handles.tools.at(&session, scope);
        return Ok((session, host));
    }
    let decided = match scope.owner.guild() {
        Some(guild) => {
            let settings = handles.guilds.clone().read(guild).await?;
            ToolDecisions { changes: settings.tools, permits: settings.permits }
        }
        None => {
            let data_dir = handles.settings.load().data_dir.clone();
            let permits = KeptPermits::new(&data_dir, scope.campaign.clone()).read()?;
            ToolDecisions { permits, ..ToolDecisions::default() }
        }
    };
    Ok(outside_sessions(&handles.tools, scope, decided))
}

/// Why `tool` cannot be called, with the tools that can.
fn unknown(call: &Incoming, host: &ToolHost, tool: &str) -> String {
    let npc = Arc::clone(&call.handles().settings.load().assistant.npc);
    let visible = host.visible(&npc.name, npc.budget_tier, npc.budget_tier.ceiling());
    let names: Vec<&str> =
        visible.iter().take(NAMED_MAX).map(|entry| &*entry.spec.identity).collect();
    match names.is_empty() {
        true => format!("unknown tool '{tool}' (the assistant has no tools)"),
        false => format!("unknown tool '{tool}' (the assistant has: {})", names.join(", ")),
    }
}

/// The assistant's rights.
fn authority(call: &Incoming, scope: &Scope, session: &SessionId, host: &ToolHost) -> Authority {
    let handles = call.handles();
    let npc = Arc::clone(&handles.settings.load().assistant.npc);
    let tier = npc.budget_tier;
    let offered = host.visible(&npc.name, tier, tier.ceiling()).names();
    let limits = TurnLimits::new(host.calls_of(&npc.name), npc.policy.clone());
    let payments = Some(handles.payments(scope, Some(session), &npc));
    let caller = Caller { npc: npc.name.as_str().into(), tier, offered, sampler: None, payments };
    Authority::Dm(caller, limits)
}
