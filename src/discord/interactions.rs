//! Routes interactions to commands and actions, and their answers back.
//!
//! Entry function: [`take`]. **Never**: trusts Discord's check of permissions.

use std::sync::Arc;

use serenity::all::{
    ActionRowComponent, AutocompleteChoice, ChannelId, CommandInteraction, ComponentInteraction,
    ComponentInteractionDataKind, CreateAutocompleteResponse, CreateInteractionResponse,
    Interaction, Member, ModalInteraction, User,
};

use super::{
    actions,
    commands::{self, Answer, Call, Command, Refusal, Who},
    guild::{Guild, Job},
    responder::{Interacted, Responder},
    ui::{
        action::{Action, ButtonPress},
        names::cleaned,
        reply::Reply,
    },
};
use crate::panics::{Panicked, caught, caught_now};

pub fn take(guild: &mut Guild, interaction: Interaction) {
    match interaction {
        Interaction::Command(used) => command(guild, used),
        Interaction::Autocomplete(used) => complete(guild, used),
        Interaction::Component(used) => pressed(guild, used),
        Interaction::Modal(used) => filled_in(guild, used),
        _ => {}
    }
}

fn call(guild: &Guild, used: &CommandInteraction) -> Call {
    let member = used.member.as_deref();
    let may = member.and_then(|it| it.permissions).unwrap_or_default();
    Call::of(used, member.is_some_and(|it| guild.is_dm(it, may)), commands::offers)
}

fn responder(guild: &Guild, interaction: Interacted) -> Responder {
    Responder::new(Arc::clone(&guild.shared.http), interaction)
}

fn command(guild: &mut Guild, used: CommandInteraction) {
    let call = call(guild, &used);
    let done = guarded(guild, |guild| run(guild, &used.data.name, &call));
    let responder = responder(guild, Interacted::Command(Box::new(used)));
    answer(guild, responder, done);
}

fn run(guild: &mut Guild, name: &str, call: &Call) -> Result<Answer, Refusal> {
    guild.check_settings()?;
    let command = commands::ALL.iter().find(|it| it.name() == name);
    let command = command.ok_or("this command no longer exists (reload Discord)")?;
    check_user(guild, command, call)?;
    command.run(guild, call)
}

fn check_user(guild: &Guild, command: &Command, call: &Call) -> Result<(), Refusal> {
    match command.who(&call.path) {
        Who::Dm if !call.is_dm => Err(guild.only_dms().into()),
        Who::Manager if !call.may.manage_guild() => {
            Err("only members who may manage the server can do this".into())
        }
        Who::Everyone | Who::Dm | Who::Manager => Ok(()),
    }
}

fn pressed(guild: &mut Guild, used: ComponentInteraction) {
    let values = match &used.data.kind {
        ComponentInteractionDataKind::StringSelect { values } => values.clone(),
        ComponentInteractionDataKind::RoleSelect { values } => {
            values.iter().map(ToString::to_string).collect()
        }
        ComponentInteractionDataKind::ChannelSelect { values } => {
            values.iter().map(ToString::to_string).collect()
        }
        _ => Vec::new(),
    };
    let by = Presser { user: &used.user, member: used.member.as_ref(), channel: used.channel_id };
    let press = by.press(guild, values);
    let done = guarded(guild, |guild| act(guild, &used.data.custom_id, &press));
    let responder = responder(guild, Interacted::Component(Box::new(used)));
    answer(guild, responder, done);
}

fn filled_in(guild: &mut Guild, used: ModalInteraction) {
    let inputs = used.data.components.iter().flat_map(|row| &row.components);
    let values = inputs.filter_map(|input| match input {
        ActionRowComponent::InputText(input) => Some(input.value.clone().unwrap_or_default()),
        _ => None,
    });
    let by = Presser { user: &used.user, member: used.member.as_ref(), channel: used.channel_id };
    let press = by.press(guild, values.collect());
    let done = guarded(guild, |guild| act(guild, &used.data.custom_id, &press));
    let responder = responder(guild, Interacted::Modal(Box::new(used)));
    answer(guild, responder, done);
}

fn act(guild: &mut Guild, id: &str, press: &ButtonPress) -> Result<Answer, Refusal> {
    guild.check_settings()?;
    let action = Action::read(id).ok_or("this button no longer works")?;
    actions::act(guild, press, action)
}

/// The user who pressed a button, with their member and the channel.
struct Presser<'a> {
    user: &'a User,
    member: Option<&'a Member>,
    channel: ChannelId,
}

impl Presser<'_> {
    fn press(&self, guild: &Guild, values: Vec<String>) -> ButtonPress {
        let may = self.member.and_then(|it| it.permissions).unwrap_or_default();
        let name = self.member.map_or(self.user.name.as_str(), |it| it.display_name());
        ButtonPress {
            user: self.user.id,
            name: cleaned(name),
            is_dm: self.member.is_some_and(|it| guild.is_dm(it, may)),
            may,
            channel: self.channel,
            values,
        }
    }
}

/// Runs `work`; a panic is logged and becomes a refusal.
fn guarded<T>(
    guild: &mut Guild,
    work: impl FnOnce(&mut Guild) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    caught_now(|| work(guild)).unwrap_or_else(|fault| {
        _ = guild.failed(&fault);
        Err(Refusal(went_wrong(&fault)))
    })
}

fn went_wrong(fault: &Panicked) -> String {
    format!("That went wrong: {fault} (try again; report it if it happens again)")
}

/// Awaits `work`; after a panic, answers the user and returns the job that reports it to the guild.
async fn finished<T>(
    work: impl Future<Output = T> + Send,
    responder: &Responder,
    is_deferred: bool,
) -> Result<T, Job> {
    let fault = match caught(work).await {
        Ok(done) => return Ok(done),
        Err(fault) => fault,
    };
    let sorry = Reply::private(went_wrong(&fault));
    match is_deferred {
        true => responder.follow(&sorry).await,
        false => responder.answer(&sorry).await,
    }
    Err(Box::new(move |guild: &mut Guild| _ = guild.failed(&fault)))
}

/// Sends the answer, now or when ready, and stores changed settings.
fn answer(guild: &mut Guild, responder: Responder, answered: Result<Answer, Refusal>) {
    let now = match answered {
        Ok(Answer::Later { public, work }) => {
            return guild.spawn(async move {
                responder.defer(public).await;
                let then = match finished(work, &responder, true).await {
                    Ok(then) => then,
                    Err(failed) => return failed,
                };
                Box::new(move |guild: &mut Guild| {
                    let done = guarded(guild, |guild| Ok(then(guild)));
                    let reply = done.unwrap_or_else(|Refusal(why)| Reply::private(why));
                    let kept = guild.kept();
                    guild.send(async move { responder.follow(&reply.noting(kept.await)).await });
                }) as Job
            });
        }
        Ok(Answer::Soon(work)) => {
            return guild.spawn(async move {
                let next = match finished(work, &responder, false).await {
                    Ok(next) => next,
                    Err(failed) => return failed,
                };
                Box::new(move |guild: &mut Guild| {
                    let answered = guarded(guild, next);
                    answer(guild, responder, answered);
                }) as Job
            });
        }
        Ok(Answer::Now(reply)) => reply,
        Ok(Answer::Replace(reply)) => {
            let kept = guild.kept();
            return guild.send(async move { responder.replace(&reply.noting(kept.await)).await });
        }
        Ok(Answer::Form(form)) => {
            return guild.send(async move {
                responder.respond(CreateInteractionResponse::Modal(form)).await;
            });
        }
        Err(Refusal(why)) => Reply::private(why),
    };
    let kept = guild.kept();
    guild.send(async move { responder.answer(&now.noting(kept.await)).await });
}

fn complete(guild: &mut Guild, used: CommandInteraction) {
    let call = call(guild, &used);
    // Choices may contain secrets of the game master.
    let found = commands::ALL
        .iter()
        .find(|it| it.name() == used.data.name && check_user(guild, it, &call).is_ok());
    let known = match (found, commands::typed(&used)) {
        (Some(command), Some((option, text))) => {
            commands::choices(command.complete(guild, &option), &text)
        }
        _ => Vec::new(),
    };
    let choices = known.into_iter().map(|it| AutocompleteChoice::new(it.clone(), it));
    let response = CreateAutocompleteResponse::new().set_choices(choices.collect());
    let responder = responder(guild, Interacted::Command(Box::new(used)));
    guild.send(async move {
        responder.respond(CreateInteractionResponse::Autocomplete(response)).await;
    });
}
