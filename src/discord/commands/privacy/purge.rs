//! Deletes what a person has said: as they have confirmed, or as a game master has.
//!
//! Entry functions: [`confirm`], [`delete_own`], [`purge`]. **Never**: deletes without having asked.

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton};

use crate::{
    commands::{self, Answer as Answered, StoredWords, deleted, question},
    discord::{
        commands::{
            answer::{Answer, Refusal},
            records::{forgotten, wanted, within},
        },
        guild::Guild,
        ui::{
            action::{Action, ButtonPress},
            reply::Reply,
        },
    },
    session::{Speaker, SpeakerId},
};

/// Asks the game master `asker` whether the lines of `user` are to be deleted, once it is known what goes
/// with them.
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

/// The button that deletes what `user` has said on this server.
///
/// # Errors
/// It is somebody else's to press.
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

/// The button that deletes what `user` has said on this server.
///
/// # Errors
/// It is a game master's to press.
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
