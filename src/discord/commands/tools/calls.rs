//! `/tools calibrate|leaderboard|call`: calls tools by hand.

use std::{collections::BTreeSet, sync::Arc};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::servers::table;
use crate::{
    campaign::outside_sessions,
    discord::{
        commands::{
            answer::{Answer, Refusal},
            command::Call,
            effects::{CommandEffects, Notes},
        },
        guild::Guild,
        ui::reply::Reply,
    },
    domain::{CallId, Npc, SessionId, Tier, ToolCall, TurnId},
    logic::cast::find_npc,
    tools::{
        Authority, CallContext, CallErrorKind, CallRecord, Caller, Progress, ServerKey, Taint,
        Tool, ToolHost, TurnLimits, calibrated_line, picked, rank, report_of, reported_line,
    },
};

/// Environment of own figures.
const HERE: &str = "here";

/// Measures tools in the background: those that anyone here may use, except those with arguments in
/// the configuration, which only the operator may call. Fails if `tool` is unknown.
pub fn calibrate(guild: &Guild, tool: Option<&str>) -> Result<Answer, Refusal> {
    let host = guild.tools();
    let names: Vec<String> = tool.map(str::to_owned).into_iter().collect();
    let wanted = picked(&host, &names)?;
    let usable = usable(guild);
    Ok(Answer::later(async move {
        let may = |tool: &Tool| usable.contains(&*tool.identity) && tool.declared.probe.is_none();
        let measured = host.calibrate(|tool| wanted.contains(&*tool.identity) && may(tool)).await;
        if measured.is_empty() {
            return Reply::private(
                "no tool was measured: either no NPC may use it (/tools allow), or only the \
                 bot's owner can measure it (glyphoxa tools calibrate)",
            );
        }
        let lines: Vec<String> = measured.iter().map(calibrated_line).collect();
        let keep = tokio::task::spawn_blocking(move || host.keep_figures()).await;
        let kept = match keep {
            Ok(Ok(())) => String::new(),
            Ok(Err(why)) => format!("I can't save the figures beyond a restart: {why}"),
            Err(lost) => format!("I can't save the figures beyond a restart: {lost}"),
        };
        table("Measured", &lines, &kept)
    }))
}

/// The fastest tools available now or earlier.
pub fn leaderboard(guild: &Guild, category: Option<&str>) -> Answer {
    let settings = guild.shared.handles.settings.load_full();
    let servers = guild.shared.handles.servers.status(guild.owner());
    // A server connected per session has figures of its own.
    let servers = servers.into_iter().flat_map(|it| {
        [it.owner, Some(guild.owner())].map(|owner| ServerKey { owner, name: it.prefix.clone() })
    });
    let snapshot = guild.tools().snapshot();
    let tools = snapshot.all().iter().map(|entry| &entry.tool);
    let tools = tools.map(|it| ServerKey { owner: it.owner, name: it.server().to_owned() });
    let there: BTreeSet<ServerKey> = servers.chain(tools).collect();
    let category = category.map(str::to_owned);
    Answer::later(async move {
        let lines = tokio::task::spawn_blocking(move || {
            let figures = report_of(&settings.data_dir, &settings.environment, |owner, tool| {
                let name = tool.split_once('.').map_or(tool, |(server, _)| server).to_owned();
                there.contains(&ServerKey { owner, name })
            });
            let reports = [(HERE.to_owned(), figures)];
            let boards = rank(&reports, category.as_deref()).into_iter();
            let lines = boards.flat_map(|(category, tools)| {
                let places = tools.into_iter().enumerate();
                let places = places.map(|(place, (from, it))| reported_line(place + 1, from, it));
                std::iter::once(category.to_owned()).chain(places.collect::<Vec<_>>())
            });
            lines.collect::<Vec<String>>()
        });
        let lines = lines.await.unwrap_or_default();
        match lines.is_empty() {
            true => Reply::private("no tool has been measured yet (use /tools calibrate)"),
            false => table("The quickest tools", &lines, ""),
        }
    })
}

/// Calls a tool as an NPC or the assistant, under its whitelist, policy and approval.
pub fn call(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let name = call.words("tool")?;
    let npc = caller(guild, call.text("npc"))?;
    let effects = CommandEffects::new(guild);
    let running = guild.session().ok().map(|session| session.id.clone());
    let (session, host) = tools_of(guild, running);
    let snapshot = host.snapshot();
    let known = snapshot.find(name);
    let known = known.ok_or_else(|| format!("unknown tool '{name}' (/tools list shows all)"))?;
    let (tier, identity) = (npc.budget_tier, Arc::clone(&known.tool.identity));
    let offered = host.visible(&npc.name, tier, tier.ceiling()).names();
    let limits = TurnLimits::new(guild.calls_of(&npc.name), npc.policy.clone());
    let payments = Some(guild.shared.handles.payments(&guild.scope(), Some(&session), &npc));
    let caller = Caller { npc: npc.name.as_str().into(), tier, offered, sampler: None, payments };
    let context = CallContext {
        scope: guild.scope(),
        session,
        turn: TurnId(0),
        authority: Authority::Dm(caller, limits),
        speaker: call.name.as_str().into(),
        by: Some(guild.scope().owner.person(call.user.get(), &call.name)),
        deadline: Instant::now() + tier.ceiling(),
        fresh: false,
        taint: Taint::default(),
        cancel: CancellationToken::new(),
        effects: effects.clone(),
        progress: Progress::default(),
        span: Default::default(),
    };
    let made = ToolCall {
        id: CallId("game-master".to_owned()),
        name: known.spec.name.to_string(),
        arguments: call.text("arguments").unwrap_or("{}").to_owned(),
        extra: serde_json::Map::new(),
    };
    Ok(Answer::later(async move {
        let record = host.execute(&context, &made).await;
        if record.result.as_ref().is_err_and(|it| it.kind == CallErrorKind::NotVisible) {
            return Reply::private(format!(
                "{0} may not use '{identity}' (choose an NPC that may, or use /tools allow \
                 npc:{0})",
                npc.name
            ));
        }
        effects.late_results(usize::from(record.pending)).await;
        answer(&record, effects.take())
    }))
}

/// The tools of the running session, else those available outside sessions.
fn tools_of(guild: &Guild, running: Option<SessionId>) -> (SessionId, ToolHost) {
    let (tools, scope) = (&guild.shared.handles.tools, guild.scope());
    match running {
        Some(session) => (session.clone(), tools.at(&session, &scope)),
        None => outside_sessions(tools, &scope, guild.decided_tools()),
    }
}

/// Identities of the tools that an NPC or the assistant may use here.
fn usable(guild: &Guild) -> BTreeSet<String> {
    let (_, host) = tools_of(guild, guild.session().ok().map(|session| session.id.clone()));
    let mut cast = guild.cast();
    cast.push(Arc::clone(&guild.shared.handles.settings.load().assistant.npc));
    let visible = |npc: &Arc<Npc>| host.visible(&npc.name, Tier::Deep, Tier::Deep.ceiling());
    let all = cast.iter().map(visible).flat_map(|tools| {
        let identities = tools.iter().map(|entry| entry.tool.identity.to_string());
        identities.collect::<Vec<_>>()
    });
    all.collect()
}

/// The NPC called `name`; without a name, the assistant.
fn caller(guild: &Guild, name: Option<&str>) -> Result<Arc<Npc>, Refusal> {
    match name {
        Some(name) => {
            let cast = guild.cast();
            let (at, _) = find_npc(&cast, name)?;
            Ok(Arc::clone(&cast[at]))
        }
        None => Ok(Arc::clone(&guild.shared.handles.settings.load().assistant.npc)),
    }
}

fn answer(record: &CallRecord, notes: Notes) -> Reply {
    let (tool, took) = (&record.tool, record.took.as_secs_f64() * 1e3);
    let what = match &record.result {
        Ok(output) => output.for_model(),
        Err(error) => format!("{}: {error}", error.kind.name()),
    };
    let what = what.replace("```", "'''");
    let mut text = format!("`{tool}` took {took:.1} ms\n```\n{what}\n```");
    for line in notes.lines {
        text.push_str(&format!("\n{line}"));
    }
    notes
        .files
        .into_iter()
        .fold(Reply::private(text), |reply, (name, bytes)| reply.with_file(name, bytes))
}
