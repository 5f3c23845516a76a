//! What is written down of a person: given to them, and deleted when they or the game master say so.
//!
//! Entry functions: [`export`], [`confirm`], [`delete_own`], [`purge`]. **Never**: shows a person's lines to
//! somebody else, or deletes without having asked.

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton};

use crate::{
    campaign::{ForgetFrom, ForgetRequest},
    discord::{
        commands::answer::{Answer, Refusal},
        guild::Guild,
        ui::{
            action::{Action, ButtonPress},
            reply::Reply,
        },
    },
    domain::Owner,
};

/// Longest file that is sent: Discord takes 10 MiB with everything around it.
const FILE_MAX: usize = 9_000_000;

/// Gives `user` what is written down of them.
pub fn export(guild: &Guild, user: u64) -> Answer {
    let settings = guild.settings();
    let kept = [
        settings.characters.get(&user).map(|name| format!("Whom you play here: {name}")),
        settings.opted_out.contains(&user).then(|| "You opted out here.".to_owned()),
        settings.agreed.contains(&user).then(|| "You agreed to be heard here.".to_owned()),
    ];
    let kept: Vec<String> = kept.into_iter().flatten().collect();
    let lines = guild.shared.handles.privacy.clone().own_lines(user);
    Answer::later(async move {
        match lines.await {
            Err(why) => Reply::private(format!("I cannot read it: {why}")),
            Ok(lines) if lines.len() > FILE_MAX => Reply::private(
                "it is more than Discord takes (whoever runs me can give it to you: \
                 glyphoxa session export)",
            ),
            Ok(lines) => {
                let file = format!("{lines}\n{}\n", kept.join("\n"));
                Reply::private("What is kept of you. Only you see this.")
                    .with_file("what-you-said.txt", file.into_bytes())
            }
        }
    })
}

/// Asks whether a person's lines are to be deleted; of a game master those of `purged`.
pub fn confirm(user: u64, purged: Option<u64>) -> Reply {
    let (text, action, label) = match purged {
        None => (
            "This deletes every line you have said, wherever I have heard you, what was made of \
             them, and what NPCs remember of you. It cannot be taken back. What NPCs answered \
             stays in the transcript, and so do the places of your lines, without a name. Messages \
             in channels of Discord stay."
                .to_owned(),
            Action::DeleteOwn(user),
            "Delete what I said",
        ),
        Some(other) => (
            format!(
                "This deletes every line that <@{other}> has said on this server, what was made of \
                 them, and what NPCs remember of them. It cannot be taken back."
            ),
            Action::Purge(other),
            "Delete their lines",
        ),
    };
    let button = CreateButton::new(action.id()).label(label).style(ButtonStyle::Danger);
    Reply::private(text).with_rows(vec![CreateActionRow::Buttons(vec![button])])
}

/// The button that deletes what `user` has said, wherever it was heard.
///
/// # Errors
/// It is somebody else's to press.
pub fn delete_own(guild: &mut Guild, press: &ButtonPress, user: u64) -> Result<Answer, Refusal> {
    if user != press.user.get() {
        return Err("only they can delete what they said (/privacy delete)".into());
    }
    Ok(delete(guild, user, Some(press.name.clone()), ForgetFrom::Everywhere))
}

/// The button that deletes what `user` has said on this server.
///
/// # Errors
/// It is a game master's to press.
pub fn purge(guild: &mut Guild, press: &ButtonPress, user: u64) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let from = ForgetFrom::Owner(Owner::Guild(guild.id.get()));
    Ok(delete(guild, user, None, from))
}

/// Deletes what `user`, who is called `name` here, has said.
fn delete(guild: &mut Guild, user: u64, name: Option<String>, from: ForgetFrom) -> Answer {
    let character = guild.change_settings(|settings| settings.characters.remove(&user));
    let names = name.into_iter().chain(character).collect();
    let privacy = guild.shared.handles.privacy.clone();
    let deleted = privacy.forget(ForgetRequest { user, names, from });
    Answer::later(async move {
        Reply::private(match deleted.await {
            Ok(lines) => format!(
                "Deleted: {lines} lines, and what was made of them. What is said from now on is \
                 written down again (/privacy optout: not heard at all)."
            ),
            Err(why) => format!("Not everything is deleted: {why}. Press again to try again."),
        })
    })
}
