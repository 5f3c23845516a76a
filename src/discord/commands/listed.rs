//! Every slash command, Discord's own and shared ones; and `/help`, which lists them.
//!
//! Entry items: [`ALL`], [`Command`]. **Never**: checks the caller.

use serenity::all::CreateCommand;

use super::{
    answer::{Answer, Refusal},
    choices::known,
    command::{Call, Offer, Own, Who},
    privacy, roll, session, setup, shared, tools,
};
use crate::{
    commands::{
        self, CAMPAIGN, CHARACTER, COST, ENTITY, MUSIC, NPC, SAY, SCENE, SCHEDULE, TIER, WORKFLOW,
        XCARD,
    },
    discord::{guild::Guild, ui::reply::Reply},
};

pub enum Command {
    /// Only Discord has it in this form.
    Own(Own),
    /// Every interface has it.
    Shared(&'static commands::Command),
}

/// In the order of `/help`.
pub static ALL: &[Command] = &[
    Command::Own(setup::COMMAND),
    Command::Own(session::COMMAND),
    Command::Shared(&NPC),
    Command::Shared(&SAY),
    Command::Shared(&commands::ASK),
    Command::Shared(&CHARACTER),
    Command::Shared(&SCENE),
    Command::Shared(&MUSIC),
    Command::Shared(&SCHEDULE),
    Command::Shared(&ENTITY),
    Command::Shared(&CAMPAIGN),
    Command::Shared(&TIER),
    Command::Shared(&WORKFLOW),
    Command::Own(tools::COMMAND),
    Command::Shared(&COST),
    Command::Own(roll::COMMAND),
    Command::Own(privacy::COMMAND),
    Command::Shared(&XCARD),
    Command::Own(HELP),
];

pub fn offers() -> Vec<Offer> {
    let offer = |command: &Command| {
        let described = serde_json::to_value(command.register()).unwrap_or_default();
        let description = described["description"].as_str().unwrap_or_default().to_owned();
        Offer { name: command.name(), description, who: command.who("") }
    };
    ALL.iter().map(offer).collect()
}

impl Command {
    /// As registered, without the slash.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Own(own) => own.name,
            Self::Shared(shared) => shared.name,
        }
    }

    pub fn register(&self) -> CreateCommand {
        match self {
            Self::Own(own) => (own.register)(),
            Self::Shared(shared) => shared::register(shared),
        }
    }

    /// Users who may use the subcommand `path`; if empty, any subcommand.
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

    pub fn run(&self, guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
        match self {
            Self::Own(own) => (own.run)(guild, call),
            Self::Shared(shared) => shared::run(guild, call, shared),
        }
    }

    pub fn complete(&self, guild: &Guild, option: &str) -> Vec<String> {
        match self {
            Self::Own(own) => (own.complete)(guild, option),
            Self::Shared(shared) => {
                shared.parameter(option).map(|it| known(guild, it.kind)).unwrap_or_default()
            }
        }
    }
}

const HELP: Own = Own {
    name: "help",
    register: register_help,
    who: |_| Who::Everyone,
    run: run_help,
    complete: |_, _| Vec::new(),
};

fn register_help() -> CreateCommand {
    CreateCommand::new("help").description("Show the commands you can use here")
}

fn run_help(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let may = |offer: &Offer| match offer.who {
        Who::Everyone => true,
        Who::Dm => call.is_dm,
        Who::Manager => call.may.manage_guild(),
    };
    let mut text = String::new();
    for Offer { name, description, .. } in (call.offers)().into_iter().filter(may) {
        text.push_str(&format!("**/{name}** {description}\n"));
    }
    let names: Vec<String> = guild.cast().iter().map(|npc| npc.name.clone()).collect();
    text.push_str(&format!("\nTalk to {} by name in the voice channel.", names.join(", ")));
    Ok(Reply::private(text).titled("Commands you can use").into())
}
