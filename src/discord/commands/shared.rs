//! Shared commands, registered, read and answered on Discord.
//!
//! Entry functions: [`register`], [`used`], [`run`].

use futures::FutureExt;
use serenity::all::{
    ButtonStyle, CommandDataOptionValue, CreateActionRow, CreateButton, CreateCommand,
    CreateCommandOption,
};

use super::{
    answer::{Answer, Next, Then},
    ask,
    attached::attached,
    command::Call,
    entity, import, parts,
    records::within,
    voice,
};
use crate::{
    commands::{
        Answer as Answered, Call as Used, Command, Kind, NPC_MAX, NextStep, Parameter, Refusal,
        Reply as Said, Subcommand, Value,
    },
    discord::{
        guild::Guild,
        ui::{action::Action, names::marked, notices, reply::Reply},
    },
    session::SpeakerId,
};

/// Longest sent file: Discord takes 10 MiB with everything around it.
const FILE_MAX: usize = 9_000_000;

pub fn register(command: &Command) -> CreateCommand {
    let created = parts::command(command.name, command.description);
    match command.sub("") {
        Some(whole) => offered(whole).map(option).fold(created, CreateCommand::add_option),
        None => command.subs.iter().map(sub).fold(created, CreateCommand::add_option),
    }
}

/// The command's subcommands, to be listed among others.
pub fn subs(command: &'static Command) -> impl Iterator<Item = CreateCommandOption> {
    command.subs.iter().map(sub)
}

fn sub(sub: &Subcommand) -> CreateCommandOption {
    let created = parts::sub(sub.name(), sub.description);
    offered(sub).map(option).fold(created, CreateCommandOption::add_sub_option)
}

/// Parameters that Discord offers; buttons replace the others.
fn offered(sub: &Subcommand) -> impl Iterator<Item = &'static Parameter> + use<> {
    sub.parameters.iter().filter(|it| !it.only_typed)
}

fn option(parameter: &Parameter) -> CreateCommandOption {
    let Parameter { name, description, kind, required, .. } = *parameter;
    let option = match kind {
        Kind::Npc => parts::words(name, description, NPC_MAX).set_autocomplete(true),
        Kind::Words(most) => parts::words(name, description, most),
        Kind::Suggested(_, most) => parts::words(name, description, most).set_autocomplete(true),
        Kind::OneOf(words, most) => parts::one_of(name, description, most, words.iter().copied()),
        Kind::Count(most) => parts::count(name, description, most),
        Kind::Flag => parts::flag(name, description),
        Kind::Person => parts::user(name, description),
        Kind::File => parts::file(name, description),
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
    let values = offered(sub).filter_map(|it| {
        let value = match call.value(it.name)? {
            CommandDataOptionValue::String(text) => Value::Words(text.trim().to_owned()),
            CommandDataOptionValue::Integer(number) => Value::Number(*number),
            CommandDataOptionValue::Boolean(flag) => Value::Flag(*flag),
            CommandDataOptionValue::User(user) => Value::Person(SpeakerId(user.get())),
            CommandDataOptionValue::Attachment(_) => Value::File(attached(call.file(it.name)?)),
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
        Answered::Later(work) => {
            let then = work.map(|then| {
                Box::new(move |guild: &mut Guild| {
                    let said = then(guild).and_then(|said| reply(guild, said));
                    said.unwrap_or_else(|Refusal(why)| Reply::private(why))
                }) as Then
            });
            Answer::Later { public: false, work: then.boxed() }
        }
        Answered::Ask(question) => ask::ask(guild, question),
    })
}

fn reply(guild: &Guild, said: Said) -> Result<Reply, Refusal> {
    let Said { title, text, status, explanation: _, public, next_step, file } = said;
    let text = match (marked(&text), status) {
        (text, Some(status)) if text.is_empty() => {
            let session = guild.session()?;
            let (voice, panel) = (session.voice_channel, session.text_channel);
            let place = format!("In <#{voice}>, panel in <#{panel}>.");
            let rendered =
                session.render(Some(&status), guild.is_listened_to(), guild.shared.node.as_deref());
            format!("{place}\n{}", rendered.text())
        }
        (text, _) => text,
    };
    let mut reply = match (public, &next_step) {
        (true, _) => Reply::public(text),
        (false, Some(NextStep::DeleteOwn(_))) => Reply::private(within(&text)),
        (false, _) => Reply::private(text),
    };
    if let Some(title) = title {
        reply = reply.titled(title);
    }
    if let Some(next_step) = next_step {
        reply = reply.with_rows(vec![row(next_step)?]);
    }
    match file {
        Some(file) if file.bytes.len() > FILE_MAX => {
            Err("the file is too large for Discord (ask the bot's owner for it: glyphoxa session \
             export)"
                .into())
        }
        Some(file) => Ok(reply.with_file(file.name, file.bytes)),
        None => Ok(reply),
    }
}

fn row(next_step: NextStep) -> Result<CreateActionRow, Refusal> {
    let button = match next_step {
        NextStep::RemoveEntity { id, .. } => return entity::row(id),
        NextStep::Import { key, has_secrets, .. } => {
            return Ok(CreateActionRow::Buttons(import::buttons(key, has_secrets)));
        }
        NextStep::HearVoice { npc, .. } => voice::button(&npc),
        NextStep::Hear(true) => notices::opt_in(),
        NextStep::Hear(false) => notices::opt_out(),
        NextStep::DeleteOwn(speaker) => CreateButton::new(Action::DeleteOwn(speaker.0).id())
            .label("Delete what I said")
            .style(ButtonStyle::Danger),
    };
    Ok(CreateActionRow::Buttons(vec![button]))
}
