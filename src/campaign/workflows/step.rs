//! Carries out the request of one step. Entry function: [`carry_out`].

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{sync::oneshot, time::Instant};

use super::{
    context::{StepContext, failed, gone, ours},
    spoken, tool,
};
use crate::{
    campaign::link::TableGone,
    domain::{Tier, redact::without_credentials, visible},
    logic::{
        dice::Outcome,
        music::MusicOrder,
        workflow::{Audience, look::Done, request::Request, values::Words},
    },
    session::{Command, SceneChange},
};

/// Carries out a step's request. Returns at once if cancelled, except that a tool call is withdrawn
/// first.
pub async fn carry_out(context: &StepContext, request: Request) -> Done {
    let done = match request {
        Request::Tool { identity, npc, arguments } => {
            tool::call(context, &identity, npc.as_deref(), arguments).await
        }
        Request::Picture { npc, prompt } => tool::picture(context, npc.as_deref(), &prompt).await,
        other => {
            let done = context.cancel.run_until_cancelled(at_table(context, other)).await;
            done.unwrap_or_else(|| Err(failed("it was stopped")))
        }
    };
    match done {
        Ok(done) | Err(done) => done,
    }
}

/// Steps besides calls of tools.
async fn at_table(context: &StepContext, request: Request) -> Result<Done, Done> {
    match request {
        Request::Say { npc, text } => spoken::say(context, &npc, &text).await,
        Request::Ask { npc, text } => spoken::ask(context, &npc, &text).await,
        Request::Scene { location, time, music, enter, leave } => {
            let words = [location, time, music];
            scene(context, words, [(enter, true), (leave, false)]).await
        }
        Request::Music(words) => music(context, words).await,
        Request::Roll(expression) => roll(context, &expression),
        Request::Tier { npc, tier, lasts } => set_tier(context, npc, tier, lasts).await,
        Request::Mute(npc) => mute(context, &npc, true).await,
        Request::Unmute(npc) => mute(context, &npc, false).await,
        Request::Notify { to, text } => notify(context, to, &text),
        Request::AwaitSilence => {
            let (done, silence) = oneshot::channel();
            let table = context.table()?;
            table.send(context.halts, Command::AwaitSilence(done)).await.map_err(gone)?;
            // A table that closes drops the sender.
            silence.await.map(|()| Done::NOTHING).map_err(|_| gone(TableGone))
        }
        Request::Tool { .. } | Request::Picture { .. } => Ok(Done::NOTHING),
    }
}

/// Changes place, time and music; then NPCs enter and leave.
async fn scene(
    context: &StepContext,
    words: [Option<Words>; 3],
    moves: [(Vec<String>, bool); 2],
) -> Result<Done, Done> {
    // NPCs read them as the game master's words.
    if words.iter().flatten().any(Words::is_outside) {
        let why = "a scene takes no words from outside (use inputs, or results of own tools)";
        return Err(failed(why));
    }
    let table = context.table()?;
    let [location, time, music] = words.map(|words| words.map(|words| words.text()));
    let mut orders = Vec::new();
    if location.is_some() || time.is_some() || music.is_some() {
        // A place may have its own sound.
        context.without_card().await?;
        orders.push(SceneChange::Set { location, time, music });
    }
    for (names, comes) in moves {
        for name in names {
            let seat = table.seat(&name).map_err(failed)?.seat;
            orders.push(if comes { SceneChange::Enter(seat) } else { SceneChange::Leave(seat) });
        }
    }
    context.order(orders.into_iter().map(Command::Scene).collect()).await
}

async fn music(context: &StepContext, words: Option<Words>) -> Result<Done, Done> {
    let Some(words) = words else {
        return context.order(vec![Command::Music(MusicOrder::Stop)]).await;
    };
    context.without_card().await?;
    if let Some(why) = context.table()?.effects.lacks_loudspeaker() {
        return Err(failed(why));
    }
    let words = words.text();
    let track = context.parts.music.choose(&context.table()?.session, &words);
    let track = track.ok_or_else(|| {
        failed(format!("no music fits '{}' (/music list shows all)", visible(&words)))
    })?;
    let title = track.title.clone();
    context.order(vec![Command::Music(MusicOrder::Play(track))]).await?;
    Ok(ours(json!({ "playing": title })))
}

async fn set_tier(
    context: &StepContext,
    npc: Option<String>,
    tier: Option<Tier>,
    lasts: Option<Duration>,
) -> Result<Done, Done> {
    only_game_master(context, "tiers are set")?;
    let seat = match npc {
        Some(npc) => Some(context.table()?.seat(&npc).map_err(failed)?.seat),
        None => None,
    };
    let until = lasts.map(|lasts| Instant::now() + lasts);
    context.order(vec![Command::SetTier { seat, tier, until }]).await
}

async fn mute(context: &StepContext, npc: &str, muted: bool) -> Result<Done, Done> {
    if !muted {
        only_game_master(context, "NPCs are unmuted")?;
        context.without_card().await?;
    }
    let seat = context.table()?.seat(npc).map_err(failed)?.seat;
    context.order(vec![Command::Mute { seat: Some(seat), muted }]).await
}

/// Fails if the model of an NPC has started the run.
fn only_game_master(context: &StepContext, what: &str) -> Result<(), Done> {
    match context.npc_starter() {
        Some(npc) => Err(failed(format!("{what} only for a game master, and {npc} started this"))),
        None => Ok(()),
    }
}

fn roll(context: &StepContext, expression: &str) -> Result<Done, Done> {
    let by = format!("run {}", context.run.0);
    let fallen = context.parts.dice.roll(expression, &by).map_err(failed)?;
    fallen.iter().for_each(|it| context.effects().show(&it.text));
    let mut rolls: Vec<Value> = fallen.iter().map(rolled).collect();
    Ok(ours(if rolls.len() == 1 { rolls.remove(0) } else { Value::Array(rolls) }))
}

fn rolled(outcome: &Outcome) -> Value {
    let Outcome { expression, rolls, totals, text, .. } = outcome;
    match outcome.total() {
        Some(total) => {
            json!({ "expression": expression, "rolls": rolls, "total": total, "text": text })
        }
        None => json!({ "expression": expression, "rolls": rolls, "totals": totals, "text": text }),
    }
}

fn notify(context: &StepContext, to: Audience, text: &Words) -> Result<Done, Done> {
    let text = without_credentials(&visible(&text.text()));
    match (to, &context.link) {
        (Audience::Players, _) => context.table()?.effects.show(&text),
        (Audience::Dm, Some(link)) => link.tell_dm(text),
        (Audience::Dm, None) => context.origin.effects.tell_dm(&text),
    }
    Ok(Done::NOTHING)
}
