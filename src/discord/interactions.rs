//! Interactions to commands and buttons, and their answers back.
//!
//! **Never**: believes that Discord has checked who may do what.

use std::sync::Arc;

use serenity::all::{
    ActionRowComponent, AutocompleteChoice, ChannelId, CommandInteraction, ComponentInteraction,
    ComponentInteractionDataKind, CreateAutocompleteResponse, CreateInteractionResponse,
    Interaction, Member, ModalInteraction, Permissions, User,
};

use super::{
    access,
    buttons::ButtonPress,
    commands::{self, Answer, Call, Command, Refusal, Who},
    guild::task::{Guild, Job},
    ui::reply::{Asked, Reply, Sender},
};

impl Guild {
    /// Somebody wants something.
    pub fn interaction(&mut self, interaction: Interaction) {
        match interaction {
            Interaction::Command(used) => self.command(used),
            Interaction::Autocomplete(used) => self.complete(used),
            Interaction::Component(used) => self.pressed(used),
            Interaction::Modal(used) => self.filled_in(used),
            _ => {}
        }
    }

    /// Whether `member` is a game master here.
    pub fn is_dm(&self, member: &Member, may: Permissions) -> bool {
        access::is_dm(&self.shared.options, &self.settings, member, may)
    }

    fn call(&self, used: &CommandInteraction) -> Call {
        let member = used.member.as_deref();
        let may = member.and_then(|it| it.permissions).unwrap_or_default();
        Call::of(used, member.is_some_and(|it| self.is_dm(it, may)))
    }

    fn command(&mut self, used: CommandInteraction) {
        let call = self.call(&used);
        let name = used.data.name.clone();
        let sender = self.sender(Asked::Command(Box::new(used)));
        let answer = self.run_command(&name, &call);
        self.answer(sender, answer);
    }

    fn run_command(&mut self, name: &str, call: &Call) -> Result<Answer, Refusal> {
        if let Some(why) = &self.broken {
            return Err(format!("I do nothing here until this is put right: {why}").into());
        }
        let command = commands::ALL
            .iter()
            .find(|it| it.name == name)
            .ok_or("this command is gone (reload Discord)")?;
        self.check_user(command, call)?;
        (command.run)(self, call)
    }

    /// Whether whoever uses `command` may.
    fn check_user(&self, command: &Command, call: &Call) -> Result<(), Refusal> {
        match (command.who)(&call.path) {
            Who::Dm if !call.is_dm => Err(self.only_dms().into()),
            Who::Manager if !call.may.manage_guild() => {
                Err("only those who may manage the server can do this".into())
            }
            _ => Ok(()),
        }
    }

    fn pressed(&mut self, used: ComponentInteraction) {
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
        let by = (&used.user, used.member.as_ref());
        let press = self.press_by(by, used.channel_id, &used.data.custom_id, values);
        let answer = self.press(&press);
        self.answer(self.sender(Asked::Component(Box::new(used))), answer);
    }

    fn filled_in(&mut self, used: ModalInteraction) {
        let inputs = used.data.components.iter().flat_map(|row| &row.components);
        let values = inputs.filter_map(|input| match input {
            ActionRowComponent::InputText(input) => Some(input.value.clone().unwrap_or_default()),
            _ => None,
        });
        let by = (&used.user, used.member.as_ref());
        let press = self.press_by(by, used.channel_id, &used.data.custom_id, values.collect());
        let answer = self.press(&press);
        self.answer(self.sender(Asked::Modal(Box::new(used))), answer);
    }

    fn press_by(
        &self,
        (user, member): (&User, Option<&Member>),
        channel: ChannelId,
        id: &str,
        values: Vec<String>,
    ) -> ButtonPress {
        let may = member.and_then(|it| it.permissions).unwrap_or_default();
        ButtonPress {
            user: user.id,
            name: member.map_or(user.name.as_str(), |it| it.display_name()).to_owned(),
            is_dm: member.is_some_and(|it| self.is_dm(it, may)),
            may,
            channel,
            id: id.to_owned(),
            values,
        }
    }

    /// Who game masters are, for those who are none.
    pub fn only_dms(&self) -> String {
        match self.settings.dm_role.or(self.shared.options.dm_role) {
            Some(role) => format!("only game masters can do this (those with <@&{role}>)"),
            None => "only game masters can do this: those who may manage the server, until \
                     /setup names a role"
                .to_owned(),
        }
    }

    /// A way to answer.
    pub fn sender(&self, asked: Asked) -> Sender {
        Sender::new(Arc::clone(&self.shared.http), asked)
    }

    /// Sends what is answered, now or when it is there, and what was set is kept.
    pub fn answer(&mut self, sender: Sender, answer: Result<Answer, Refusal>) {
        let now = match answer {
            Ok(Answer::Later { public, work }) => {
                return self.spawn(async move {
                    sender.defer(public).await;
                    let then = work.await;
                    Box::new(move |guild: &mut Self| {
                        let (reply, kept) = (then(guild), guild.kept());
                        guild.send(async move { sender.follow(&reply.noting(kept.await)).await });
                    }) as Job
                });
            }
            Ok(Answer::Soon(work)) => {
                return self.spawn(async move {
                    let next = work.await;
                    Box::new(move |guild: &mut Self| {
                        let answer = next(guild);
                        guild.answer(sender, answer);
                    }) as Job
                });
            }
            Ok(Answer::Now(reply)) => reply,
            Ok(Answer::Replace(reply)) => {
                let kept = self.kept();
                return self.send(async move { sender.replace(&reply.noting(kept.await)).await });
            }
            Ok(Answer::Form(form)) => {
                return self.send(async move {
                    sender.respond(CreateInteractionResponse::Modal(form)).await;
                });
            }
            Err(Refusal(why)) => Reply::private(why),
        };
        let kept = self.kept();
        self.send(async move { sender.answer(&now.noting(kept.await)).await });
    }

    fn complete(&mut self, used: CommandInteraction) {
        let call = self.call(&used);
        // What can be chosen may be a secret of the game master.
        let found = commands::ALL
            .iter()
            .find(|it| it.name == used.data.name && self.check_user(it, &call).is_ok());
        let known = match (found, commands::typed(&used)) {
            (Some(command), Some((option, text))) => {
                commands::choices((command.complete)(self, &option), &text)
            }
            _ => Vec::new(),
        };
        let choices = known.into_iter().map(|it| AutocompleteChoice::new(it.clone(), it));
        let response = CreateAutocompleteResponse::new().set_choices(choices.collect());
        let sender = self.sender(Asked::Command(Box::new(used)));
        self.send(async move {
            sender.respond(CreateInteractionResponse::Autocomplete(response)).await;
        });
    }
}
