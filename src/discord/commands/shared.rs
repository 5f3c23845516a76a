//! Shared commands, registered, read and answered on Discord.
//!
//! Entry functions: [`register`], [`used`], [`run`].

use futures::FutureExt;
use serenity::all::{CommandDataOptionValue, CreateCommand, CreateCommandOption};

use super::{
    answer::{Answer, Next},
    ask,
    command::Call,
    parts,
};
use crate::{
    commands::{
        Answer as Answered, Call as Used, Command, Kind, NPC_MAX, Parameter, Refusal,
        Reply as Said, Subcommand, Value, WORD_MAX,
    },
    discord::{
        guild::Guild,
        ui::{names::marked, reply::Reply},
    },
    session::SpeakerId,
};

pub fn register(command: &Command) -> CreateCommand {
    let created = parts::command(command.name, command.description);
    match command.sub("") {
        Some(whole) => whole.parameters.iter().map(option).fold(created, CreateCommand::add_option),
        None => command.subs.iter().map(sub).fold(created, CreateCommand::add_option),
    }
}

/// The command's subcommands, to be listed among others.
pub fn subs(command: &'static Command) -> impl Iterator<Item = CreateCommandOption> {
    command.subs.iter().map(sub)
}

fn sub(sub: &Subcommand) -> CreateCommandOption {
    let created = parts::sub(sub.name(), sub.description);
    sub.parameters.iter().map(option).fold(created, CreateCommandOption::add_sub_option)
}

fn option(parameter: &Parameter) -> CreateCommandOption {
    let Parameter { name, description, kind, required, for_dm: _ } = *parameter;
    let option = match kind {
        Kind::Npc => parts::words(name, description, NPC_MAX).set_autocomplete(true),
        Kind::Words(most) => parts::words(name, description, most),
        Kind::Suggested(_, most) => parts::words(name, description, most).set_autocomplete(true),
        Kind::OneOf(words) => parts::one_of(name, description, WORD_MAX, words.iter().copied()),
        Kind::Count(most) => parts::count(name, description, most),
        Kind::Flag => parts::flag(name, description),
        Kind::Person => parts::user(name, description),
    };
    if required { option.required(true) } else { option }
}

pub fn run(guild: &mut Guild, call: &Call, command: &Command) -> Result<Answer, Refusal> {
    let sub = command.sub(&call.path);
    let sub = sub.ok_or("this command no longer exists (reload Discord)")?;
    let used = used(call, sub);
    if !sub.may(&used) {
        return Err(guild.only_dms().into());
    }
    let answered = sub.carry_out(guild, &used)?;
    shown(guild, answered)
}

/// A use in the form all interfaces share.
pub fn used(call: &Call, sub: &Subcommand) -> Used {
    let values = sub.parameters.iter().filter_map(|it| {
        let value = match call.value(it.name)? {
            CommandDataOptionValue::String(text) => Value::Words(text.trim().to_owned()),
            CommandDataOptionValue::Integer(number) => Value::Number(*number),
            CommandDataOptionValue::Boolean(flag) => Value::Flag(*flag),
            CommandDataOptionValue::User(user) => Value::Person(SpeakerId(user.get())),
            _ => return None,
        };
        Some((it.name, value))
    });
    Used::new(call.speaker(), values.collect())
}

/// Converts an answer for Discord; refreshes the panel after changes.
pub fn shown(guild: &mut Guild, answered: Answered) -> Result<Answer, Refusal> {
    guild.refresh_panel_soon();
    Ok(match answered {
        Answered::Now(said) => Answer::Now(reply(guild, said)?),
        Answered::Soon(work) => {
            let next = work.map(|next| {
                Box::new(move |guild: &mut Guild| {
                    let answered = next(guild)?;
                    shown(guild, answered)
                }) as Next
            });
            Answer::Soon(next.boxed())
        }
        Answered::Ask(question) => ask::ask(guild, question),
    })
}

fn reply(guild: &Guild, said: Said) -> Result<Reply, Refusal> {
    let Said { title, text, status, public } = said;
    let text = match (marked(&text), status) {
        (text, Some(status)) if text.is_empty() => {
            let session = guild.session()?;
            let (voice, panel) = (session.voice_channel, session.text_channel);
            let place = format!("In <#{voice}>, panel in <#{panel}>.");
            format!("{place}\n{}", session.render(Some(&status)).text())
        }
        (text, _) => text,
    };
    let reply = if public { Reply::public(text) } else { Reply::private(text) };
    Ok(match title {
        Some(title) => reply.titled(title),
        None => reply,
    })
}
