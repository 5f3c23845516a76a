//! `/session`: begins, ends and shows the play session.

use futures::FutureExt;
use serenity::all::{
    ChannelType, CommandOptionType, CreateCommand, CreateCommandOption, InteractionContext,
};

use super::{Answer, Call, Command, Refusal, Then, Who, parts, with_status};
use crate::{
    campaign::RecapRequest,
    discord::{
        facts,
        guild::{panel_actions, task::Guild},
        ui::reply::Reply,
    },
    domain::Owner,
};

/// The audience of game masters.
const DM: &str = "dm";

/// `/session`.
pub const COMMAND: Command =
    Command { name: "session", register, who, run, complete: |_, _| Vec::new() };

fn who(sub: &str) -> Who {
    if sub == "recap" { Who::Everyone } else { Who::Dm }
}

fn register() -> CreateCommand {
    let sub = |name, text| CreateCommandOption::new(CommandOptionType::SubCommand, name, text);
    let channel = CreateCommandOption::new(
        CommandOptionType::Channel,
        "channel",
        "The voice channel (default: the one you are in)",
    )
    .channel_types(vec![ChannelType::Voice, ChannelType::Stage]);
    CreateCommand::new("session")
        .description("Begin, end or look at the play session")
        .contexts(vec![InteractionContext::Guild])
        .add_option(sub("start", "I join your voice channel and listen").add_sub_option(channel))
        .add_option(sub("stop", "I leave, and what was said is kept"))
        .add_option(sub("status", "How things stand"))
        .add_option(sub("facts", "What may be worth keeping, and waits for your word"))
        .add_option(
            sub("recap", "What happened, with the numbers of the lines that say so")
                .add_sub_option(parts::words("which", "The session (default: the last)", 64))
                .add_sub_option(
                    CreateCommandOption::new(
                        CommandOptionType::String,
                        "audience",
                        "For whom (default: players)",
                    )
                    .add_string_choice("players", "players")
                    .add_string_choice("game masters", DM),
                ),
        )
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    match call.path.as_str() {
        "start" => {
            let work = guild.start(call.user, call.channel, call.channel("channel"))?;
            Ok(Answer::Later { public: false, work })
        }
        "stop" => {
            guild.stop("the game master ended it")?;
            Ok(Reply::private("The session is over.").into())
        }
        "facts" => Ok(facts::list(guild)),
        "recap" => recap(guild, call),
        _ => with_status(guild, |guild, status| {
            let live = guild.session()?;
            let text = panel_actions::look(live, Some(&status)).text();
            let place = format!("In <#{}>, panel in <#{}>.", live.voice, live.text);
            Ok(Reply::private(format!("{place}\n{text}")).titled("The session"))
        }),
    }
}

/// What players ask for costs nothing, and only they see it; what a game master asks for may be
/// written by a model, and is for everybody to see unless it is for game masters.
fn recap(guild: &Guild, call: &Call) -> Result<Answer, Refusal> {
    let for_dm = call.text("audience") == Some(DM);
    if for_dm && !call.is_dm {
        return Err(guild.only_dms().into());
    }
    let session = call.text("which").map(str::to_owned);
    let owner = Owner::Guild(guild.id.get());
    let request = RecapRequest { owner, session, for_dm, paid: call.is_dm };
    let told = guild.shared.handles.recaps.recap(request);
    let public = call.is_dm && !for_dm;
    let work = async move {
        let reply = match told.await {
            Ok(text) if public => Reply::public(text).titled("What happened"),
            Ok(text) => Reply::private(text).titled("What happened"),
            Err(why) => Reply::private(why.to_string()),
        };
        Box::new(move |_: &mut Guild| reply) as Then
    };
    Ok(Answer::Later { public, work: work.boxed() })
}
