//! `/session`: begins, ends and shows the play session.

use serenity::all::{
    ChannelType, CommandOptionType, CreateCommand, CreateCommandOption, InteractionContext,
};

use super::{Answer, Call, Command, Refusal, Who, with_status};
use crate::discord::{board, guild::Guild, reply::Reply};

/// `/session`.
pub const COMMAND: Command =
    Command { name: "session", register, who: |_| Who::Dm, run, complete: |_, _| Vec::new() };

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
        _ => with_status(guild, |guild, status| {
            let live = guild.live()?;
            let text = board::look(live, Some(&status)).text();
            let place = format!("In <#{}>, panel in <#{}>.", live.voice, live.text);
            Ok(Reply::private(format!("{place}\n{text}")).titled("The session"))
        }),
    }
}
