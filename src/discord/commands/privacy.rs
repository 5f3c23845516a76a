//! `/privacy` on a server: the shared commands, and one that deletes another player's lines.
//!
//! Entry item: [`COMMAND`]. **Never**: deletes without asking, or reveals to anyone whether another person is heard.

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton, CreateCommand};

use super::{
    answer::{Answer, Refusal},
    command::{Call, Own, Who},
    parts, shared,
};
use crate::{
    commands::{self, Answer as Answered, PRIVACY, StoredWords, deleted, question},
    discord::{
        commands::records::{forgotten, wanted, within},
        guild::Guild,
        ui::{
            action::{Action, ButtonPress},
            reply::Reply,
        },
    },
    session::{Speaker, SpeakerId},
};

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
            Ok(confirm(guild, call.user.get(), whose.get()))
        }
        _ => shared::run(guild, call, &PRIVACY),
    }
}

/// Asks the game master `asker` to confirm deleting the lines of `user`, and lists their names.
pub fn confirm(guild: &Guild, asker: u64, user: u64) -> Answer {
    let names = guild.shared.handles.privacy.clone().names(wanted(guild, user, None, asker));
    let place = guild.face_words();
    Answer::later(async move {
        match names.await {
            Err(why) => Reply::private(format!("I can't read what is stored: {why}")),
            Ok(names) => {
                let text = question(&format!("<@{user}> has"), &place, &names);
                let button = CreateButton::new(Action::Purge(user).id());
                let button = button.label("Delete their lines").style(ButtonStyle::Danger);
                let rows = vec![CreateActionRow::Buttons(vec![button])];
                Reply::private(within(&text)).with_rows(rows)
            }
        }
    })
}

pub fn delete_own(guild: &mut Guild, press: &ButtonPress, user: u64) -> Result<Answered, Refusal> {
    if user != press.user.get() {
        return Err(
            "only the player who asked can delete these lines (for yours, use /privacy delete)"
                .into(),
        );
    }
    let speaker = Speaker { id: SpeakerId(user), name: press.name.clone(), is_dm: press.is_dm };
    Ok(commands::delete_own(guild, &speaker))
}

/// The game master's button that deletes the lines of `user` on this server.
pub fn purge(guild: &mut Guild, press: &ButtonPress, user: u64) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let done = forgotten(guild, user, None, press.user.get());
    Ok(Answer::later(async move {
        Reply::private(match done.await {
            Ok(lines) => deleted(lines),
            Err(Refusal(why)) => why,
        })
    }))
}
