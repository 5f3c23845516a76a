//! Every slash command: those of this room, and those of every face.
//!
//! Entry items: [`ALL`], [`Command`]. **Never**: checks the caller.

use serenity::all::CreateCommand;

use super::{
    answer::{Answer, Refusal},
    choices::known,
    command::{Call, Offer, Own, Who},
    help, privacy, roll, session, setup, shared, tools,
};
use crate::{
    commands::{self, CAMPAIGN, CHARACTER, ENTITY, MUSIC, NPC, SAY, SCENE, TIER, XCARD},
    discord::guild::Guild,
};

/// A slash command.
pub enum Command {
    /// One that no other face has as it is here.
    Own(Own),
    /// One that every face has.
    Shared(&'static commands::Command),
}

/// Every command, in the order of `/help`.
pub static ALL: &[Command] = &[
    Command::Own(setup::COMMAND),
    Command::Own(session::COMMAND),
    Command::Shared(&NPC),
    Command::Shared(&SAY),
    Command::Shared(&commands::ASK),
    Command::Shared(&CHARACTER),
    Command::Shared(&SCENE),
    Command::Shared(&MUSIC),
    Command::Shared(&ENTITY),
    Command::Shared(&CAMPAIGN),
    Command::Shared(&TIER),
    Command::Own(tools::COMMAND),
    Command::Own(roll::COMMAND),
    Command::Own(privacy::COMMAND),
    Command::Shared(&XCARD),
    Command::Own(help::COMMAND),
];

/// Every command as `/help` lists it.
pub fn offers() -> Vec<Offer> {
    let offer = |command: &Command| {
        let described = serde_json::to_value(command.register()).unwrap_or_default();
        let description = described["description"].as_str().unwrap_or_default().to_owned();
        Offer { name: command.name(), description, who: command.who("") }
    };
    ALL.iter().map(offer).collect()
}

impl Command {
    /// Its name, as registered and without the slash.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Own(own) => own.name,
            Self::Shared(shared) => shared.name,
        }
    }

    /// Its declaration to Discord.
    pub fn register(&self) -> CreateCommand {
        match self {
            Self::Own(own) => (own.register)(),
            Self::Shared(shared) => shared::register(shared),
        }
    }

    /// The people who may use its subcommand of this name; without a name, any of it.
    pub fn who(&self, path: &str) -> Who {
        let for_all = match self {
            Self::Own(own) => return (own.who)(path),
            Self::Shared(shared) => match shared.sub(path) {
                Some(sub) => sub.for_all,
                None => path.is_empty() && shared.subs.iter().any(|sub| sub.for_all),
            },
        };
        if for_all { Who::Everyone } else { Who::Dm }
    }

    /// Does what a use of it wants.
    ///
    /// # Errors
    /// It refuses.
    pub fn run(&self, guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
        match self {
            Self::Own(own) => (own.run)(guild, call),
            Self::Shared(shared) => shared::run(guild, call, shared),
        }
    }

    /// Values offered while an option is typed.
    pub fn complete(&self, guild: &Guild, option: &str) -> Vec<String> {
        match self {
            Self::Own(own) => (own.complete)(guild, option),
            Self::Shared(shared) => {
                shared.parameter(option).map(|it| known(guild, it.kind)).unwrap_or_default()
            }
        }
    }
}
