//! Steps that call a tool, as an NPC or the assistant: within its whitelist, tier, policy and
//! approval. Entry functions: [`call`], [`picture`].

use std::sync::Arc;

use serde_json::{Map, json};
use tokio::{sync::mpsc, time::Instant};

use super::{
    context::{StepContext, failed},
    effects::StepEffects,
};
use crate::{
    campaign::{ToolDecisions, outside_sessions},
    domain::{CallId, Npc, SessionId, Tier, ToolCall, TurnId, one_line},
    engine::NpcPayments,
    logic::{
        cast::find_npc,
        workflow::{
            look::Done,
            record::Starter,
            values::{Given, Words},
        },
    },
    tools::{
        Authority, CallContext, CallErrorKind, CallRecord, Caller, FollowUp, Payments, Progress,
        ToolHost, TurnLimits, builtin::WORKFLOWS,
    },
};

/// The tool that shows pictures.
const PICTURES: &str = "image-gen.generate_image";
/// Longest reason of a failed call in a record, in characters.
const WHY_MAX: usize = 300;

/// Shows the table a picture.
pub async fn picture(
    context: &StepContext,
    npc: Option<&str>,
    prompt: &Words,
) -> Result<Done, Done> {
    let value = json!({ "prompt": prompt.text() });
    let arguments = Given { value, outside: prompt.is_outside() };
    call(context, PICTURES, npc, arguments).await
}

/// Calls the tool `identity`; the result is what it returns.
pub async fn call(
    context: &StepContext,
    identity: &str,
    npc: Option<&str>,
    arguments: Given,
) -> Result<Done, Done> {
    if let Some(link) = &context.link
        && let Ok(status) = link.status(context.halts).await
        && let Some(way_out) = status.card
    {
        return Err(failed(way_out));
    }
    let npc = caller(context, npc)?;
    let (session, host) = host(context).await?;
    let (late, mut result) = mpsc::channel(1);
    let snapshot = host.snapshot();
    let entry = snapshot.find(identity).ok_or_else(|| {
        failed(format!("unknown tool '{identity}' (glyphoxa tools list shows all)"))
    })?;
    if entry.tool.server() == WORKFLOWS {
        // It is called within this run, whose steps are counted.
        return Err(failed(format!("'{identity}' is a workflow (write workflow.NAME)")));
    }
    let call = ToolCall {
        id: CallId(format!("run-{}", context.run.0)),
        name: entry.spec.name.to_string(),
        arguments: arguments.value.to_string(),
        extra: Map::new(),
    };
    let made = CallContext {
        scope: context.scope.clone(),
        authority: authority(context, &npc, &host),
        session,
        turn: TurnId(0),
        speaker: context.origin.speaker.as_ref().map_or("a workflow", |it| &it.name).into(),
        by: match &context.origin.starter {
            Starter::Person(person) => Some(person.clone()),
            Starter::Npc(_) | Starter::Schedule(_) | Starter::Program(_) => None,
        },
        // A workflow waits for results that come late.
        deadline: Instant::now() + entry.tool.max(),
        fresh: false,
        taint: context.origin.taint.clone(),
        progress: Progress::default(),
        span: Default::default(),
        cancel: context.cancel.clone(),
        effects: Arc::new(effects(context, late)),
    };
    if context.tainted || arguments.outside {
        made.taint.set();
    }
    let record = host.execute(&made, &call).await;
    // A call under way now has the only sender, so the channel closes with it.
    drop(made);
    let record = match record.pending {
        true => later(context, &mut result).await?,
        false => record,
    };
    done(&record, &npc)
}

/// The result of a call that waited for approval.
async fn later(
    context: &StepContext,
    result: &mut mpsc::Receiver<FollowUp>,
) -> Result<CallRecord, Done> {
    let late = context.cancel.run_until_cancelled(result.recv()).await;
    late.flatten().map(|late| late.record).ok_or_else(|| failed("the call was withdrawn"))
}

fn done(record: &CallRecord, npc: &Npc) -> Result<Done, Done> {
    match &record.result {
        Ok(output) => {
            // Secrets taint as well: later calls that reach outside ask first.
            let outside = record.outside || record.secret;
            Ok(Done::Result(Given { value: output.value(), outside }))
        }
        Err(error) if error.kind == CallErrorKind::NotVisible => Err(failed(format!(
            "{} may not use '{}' (list it under its tools, within its budget_tier)",
            npc.name, record.tool
        ))),
        Err(error) => {
            let why = one_line(&error.to_string(), WHY_MAX);
            Err(failed(format!("{}: {}: {why}", record.tool, error.kind.name())))
        }
    }
}

/// The NPC of this name; without one, the assistant.
fn caller(context: &StepContext, npc: Option<&str>) -> Result<Arc<Npc>, Done> {
    let settings = context.parts.settings.load();
    let Some(name) = npc else { return Ok(Arc::clone(&settings.assistant.npc)) };
    if let Some(link) = &context.link {
        return link.seat(name).map(|seated| seated.npc).map_err(failed);
    }
    let (at, _) = find_npc(&settings.cast, name).map_err(failed)?;
    settings.cast.get(at).cloned().ok_or_else(|| failed("this NPC has left"))
}

/// The tools of the session, or those outside sessions.
async fn host(context: &StepContext) -> Result<(SessionId, ToolHost), Done> {
    let (tools, scope) = (&context.parts.tools, &context.scope);
    Ok(match &context.link {
        Some(link) => (link.session.clone(), tools.at(&link.session, scope)),
        None => outside_sessions(tools, scope, decided(context).await?),
    })
}

/// The game master's decisions about tools.
async fn decided(context: &StepContext) -> Result<ToolDecisions, Done> {
    if let Some(decided) = &context.origin.decided {
        return Ok(decided.clone());
    }
    let (guilds, guild) = (context.parts.guilds.clone(), context.scope.owner.guild());
    let (Some(guilds), Some(guild)) = (guilds, guild) else { return Ok(ToolDecisions::default()) };
    let settings = guilds.read(guild).await.map_err(failed)?;
    Ok(ToolDecisions { changes: settings.tools, permits: settings.permits })
}

fn authority(context: &StepContext, npc: &Arc<Npc>, host: &ToolHost) -> Authority {
    let tier: Tier = npc.budget_tier;
    let offered = host.visible(&npc.name, tier, tier.ceiling()).names();
    let limits = TurnLimits::new(host.calls_of(&npc.name), npc.policy.clone());
    let payments: Arc<dyn Payments> = match &context.link {
        Some(link) => Arc::new(NpcPayments::new(Arc::clone(npc), link.budget.clone())),
        None => {
            let settings = context.parts.settings.load();
            context.parts.accounts.payments(&context.scope, &settings.budget, npc)
        }
    };
    let name = Arc::from(npc.name.as_str());
    let caller = Caller { npc: name, tier, offered, sampler: None, payments: Some(payments) };
    match context.origin.starter {
        Starter::Person(_) => Authority::Dm(caller, limits),
        Starter::Npc(_) | Starter::Schedule(_) | Starter::Program(_) => {
            Authority::Npc(caller, limits)
        }
    }
}

fn effects(context: &StepContext, late: mpsc::Sender<FollowUp>) -> StepEffects {
    StepEffects {
        face: Arc::clone(context.effects()),
        link: context.link.clone(),
        halts: context.halts,
        cancel: context.cancel.clone(),
        late,
    }
}
