//! `/session`: starts, ends and shows the play session.
//!
//! Entry item: [`COMMAND`]. **Never**: shows players the game masters' facts.

mod facts;

use serenity::all::{
    ChannelType, CommandOptionType, CreateCommand, CreateCommandOption, InteractionContext,
};

use super::{
    answer::{Answer, Refusal},
    command::{Call, Own, Who},
    parts, shared,
};
use crate::{
    campaign::RecapRequest,
    commands::SESSION,
    discord::{
        guild::{Guild, SessionStart},
        ui::{notices, reply::Reply},
    },
    domain::Owner,
};

/// The game masters as audience.
const DM: &str = "dm";

pub use facts::{FactPress, press as press_fact, turn_page};

pub const COMMAND: Own = Own { name: "session", register, who, run, complete: |_, _| Vec::new() };

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
    let begun = CreateCommand::new("session")
        .description(SESSION.description)
        .contexts(vec![InteractionContext::Guild])
        .add_option(
            sub("start", "Start a session: I join your voice channel and listen")
                .add_sub_option(channel),
        )
        .add_option(sub("stop", "End the session: I leave, and the transcript stays"));
    shared::subs(&SESSION)
        .fold(begun, CreateCommand::add_option)
        .add_option(sub("facts", "Review the facts that wait for your decision"))
        .add_option(
            sub("recap", "Show what happened, with the numbers of the lines that prove it")
                .add_sub_option(parts::words("which", "The session (default: the last)", 64))
                .add_sub_option(
                    CreateCommandOption::new(
                        CommandOptionType::String,
                        "audience",
                        "Audience (default: players)",
                    )
                    .add_string_choice("players", "players")
                    .add_string_choice("game masters", DM),
                ),
        )
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    match call.path.as_str() {
        "start" => {
            let voice = call.channel("channel");
            let start = SessionStart { user: call.user, text: call.channel, voice };
            Ok(Answer::after(guild.start(&start)?, |guild, started| match guild.started(started) {
                Ok(voice) => Reply::private(match guild.cannot_hear() {
                    None => format!("I listen in <#{voice}>."),
                    Some(why) => {
                        format!("I am in <#{voice}>. {}", notices::cannot_hear(&why))
                    }
                }),
                Err(why) => Reply::private(why.to_string()),
            }))
        }
        "stop" => {
            guild.stop("the game master ended it")?;
            Ok(Reply::private("The session is over.").into())
        }
        "facts" => Ok(facts::list(guild)),
        "recap" => recap(guild, call),
        _ => shared::run(guild, call, &SESSION),
    }
}

/// A player's recap is free and private. A game master's may use a model, and is public unless it
/// is for game masters.
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
    Ok(Answer::later_for(public, async move {
        match told.await {
            Ok(text) if public => Reply::public(text).titled("What happened"),
            Ok(text) => Reply::private(text).titled("What happened"),
            Err(why) => Reply::private(why.to_string()),
        }
    }))
}
