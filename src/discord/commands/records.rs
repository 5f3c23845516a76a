//! What is written down of a person: given to them, and deleted when they or the game master say so.
//!
//! Entry functions: [`export`], [`confirm`], [`pressed`]. **Never**: shows a person's lines to
//! somebody else, or deletes without having asked.

use futures::FutureExt;
use serenity::all::{ButtonStyle, CreateActionRow, CreateButton};

use super::{Answer, Refusal, Then};
use crate::{
    campaign::{ForgetFrom, ForgetRequest},
    discord::{buttons::ButtonPress, guild::task::Guild, ui::reply::Reply},
    domain::Owner,
};

/// Longest file that is sent: Discord takes 10 MiB with everything around it.
const FILE_MAX: usize = 9_000_000;

/// Gives `user` what is written down of them.
pub fn export(guild: &Guild, user: u64) -> Answer {
    let settings = &guild.settings;
    let kept = [
        settings.characters.get(&user).map(|name| format!("Whom you play here: {name}")),
        settings.opted_out.contains(&user).then(|| "You opted out here.".to_owned()),
        settings.agreed.contains(&user).then(|| "You agreed to be heard here.".to_owned()),
    ];
    let kept: Vec<String> = kept.into_iter().flatten().collect();
    let lines = guild.shared.handles.privacy.clone().own_lines(user);
    let work = async move {
        let reply = match lines.await {
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
        };
        Box::new(move |_: &mut Guild| reply) as Then
    };
    Answer::Later { public: false, work: work.boxed() }
}

/// Asks whether a person's lines are to be deleted; of a game master those of `purged`.
pub fn confirm(user: u64, purged: Option<u64>) -> Reply {
    let (text, id, label) = match purged {
        None => (
            "This deletes every line you have said, wherever I have heard you, what was made of \
             them, and what NPCs remember of you. It cannot be taken back. What NPCs answered \
             stays in the transcript, and so do the places of your lines, without a name. Messages \
             in channels of Discord stay."
                .to_owned(),
            format!("privacy:delete:{user}"),
            "Delete what I said",
        ),
        Some(other) => (
            format!(
                "This deletes every line that <@{other}> has said on this server, what was made of \
                 them, and what NPCs remember of them. It cannot be taken back."
            ),
            format!("privacy:purge:{other}"),
            "Delete their lines",
        ),
    };
    let button = CreateButton::new(id).label(label).style(ButtonStyle::Danger);
    Reply::private(text).with_rows(vec![CreateActionRow::Buttons(vec![button])])
}

/// The button that deletes.
///
/// # Errors
/// It is somebody else's to press.
pub fn pressed(guild: &mut Guild, press: &ButtonPress, which: &str) -> Result<Answer, Refusal> {
    let (what, whose) = which.split_once(':').unwrap_or((which, ""));
    let whose: u64 = whose.parse().map_err(|_| "this button is of no use any more")?;
    let (own, from) = match what {
        "delete" if whose == press.user.get() => (Some(&press.name), ForgetFrom::Everywhere),
        "delete" => return Err("only they can delete what they said (/privacy delete)".into()),
        "purge" if press.is_dm => (None, ForgetFrom::Owner(Owner::Guild(guild.id.get()))),
        _ => return Err(guild.only_dms().into()),
    };
    let character = guild.settings.characters.remove(&whose);
    guild.keep();
    let names = own.cloned().into_iter().chain(character).collect();
    let deleted =
        guild.shared.handles.privacy.clone().forget(ForgetRequest { user: whose, names, from });
    let work = async move {
        let text = match deleted.await {
            Ok(lines) => format!(
                "Deleted: {lines} lines, and what was made of them. What is said from now on is \
                 written down again (/privacy optout: not heard at all)."
            ),
            Err(why) => format!("Not everything is deleted: {why}. Press again to try again."),
        };
        Box::new(move |_: &mut Guild| Reply::private(text)) as Then
    };
    Ok(Answer::Later { public: false, work: work.boxed() })
}
