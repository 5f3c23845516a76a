//! `/privacy` on a server: the shared commands, and one that deletes another player's lines.
//!
//! Entry item: [`COMMAND`]. **Never**: reveals to anyone whether another person is heard.

mod purge;

use serenity::all::CreateCommand;

pub use self::purge::{delete_own, purge};

use super::{
    answer::{Answer, Refusal},
    command::{Call, Own, Who},
    parts, shared,
};
use crate::{commands::PRIVACY, discord::guild::Guild};

pub const COMMAND: Own = Own { name: "privacy", register, who, run, complete: |_, _| Vec::new() };

fn who(sub: &str) -> Who {
    if sub == "purge" { Who::Dm } else { Who::Everyone }
}

fn register() -> CreateCommand {
    let created = parts::command("privacy", PRIVACY.description);
    shared::subs(&PRIVACY).fold(created, CreateCommand::add_option).add_option(
        parts::sub("purge", "Game masters: delete what a player said on this server")
            .add_sub_option(parts::user("user", "Player whose lines are deleted").required(true)),
    )
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    match call.path.as_str() {
        "purge" => {
            let whose = call.user("user").ok_or("no player given (use /privacy purge user)")?;
            Ok(purge::confirm(guild, call.user.get(), whose.get()))
        }
        _ => shared::run(guild, call, &PRIVACY),
    }
}
