//! Records of a person: given to them, and deleted when they or the game master say so.
//!
//! Entry functions: [`export`], [`confirm`], [`delete_own`], [`purge`]. **Never**: shows a person's lines to
//! somebody else, or deletes without having asked.

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton};

use crate::{
    campaign::{Deletion, ForgetFrom, NamesOf, now},
    discord::{
        commands::{
            answer::{Answer, Refusal},
            command::Call,
        },
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
/// Longest text of a reply, in characters: Discord takes 2,000.
const TEXT_MAX: usize = 1_900;

/// Gives `user` what is written down of them.
pub fn export(guild: &Guild, user: u64) -> Answer {
    let settings = guild.settings();
    let kept = [
        settings.characters.get(&user).map(|name| format!("Your character here: {name}")),
        settings.opted_out.contains(&user).then(|| "You opted out here.".to_owned()),
        settings.agreed.contains(&user).then(|| "You agreed to be heard here.".to_owned()),
    ];
    let kept: Vec<String> = kept.into_iter().flatten().collect();
    let lines = guild
        .shared
        .handles
        .privacy
        .clone()
        .own_lines(Owner::Guild(guild.id.get()), user.to_string());
    Answer::later(async move {
        match lines.await {
            Err(why) => Reply::private(format!("I can't read what is stored about you: {why}")),
            Ok(lines) if lines.len() > FILE_MAX => Reply::private(
                "the file is too large for Discord (ask the bot's owner for it: glyphoxa session \
                 export)",
            ),
            Ok(lines) => {
                let file = format!("{lines}\n{}\n", kept.join("\n"));
                Reply::private("Data stored about you. Only you see this.")
                    .with_file("what-you-said.txt", file.into_bytes())
            }
        }
    })
}

/// Asks whether a person's lines are to be deleted, once it is known what goes with them; of a game
/// master those of `purged`.
pub fn confirm(guild: &Guild, call: &Call, purged: Option<u64>) -> Answer {
    let user = call.user.get();
    let name = purged.is_none().then_some(&call.name);
    let what = wanted(guild, purged.unwrap_or(user), name, user);
    let names = guild.shared.handles.privacy.clone().names(what);
    Answer::later(async move {
        match names.await {
            Err(why) => Reply::private(format!("I can't read what is stored: {why}")),
            Ok(names) => question(user, purged, &names),
        }
    })
}

fn question(user: u64, purged: Option<u64>, names: &NamesOf) -> Reply {
    let (whose, action, label) = match purged {
        None => ("you have".to_owned(), Action::DeleteOwn(user), "Delete what I said"),
        Some(other) => (format!("<@{other}> has"), Action::Purge(other), "Delete their lines"),
    };
    let mut text = format!(
        "This deletes every line that {whose} said on this server, everything derived from these \
         lines, and what NPCs remember of them. You can't undo this. The transcript keeps the \
         NPCs' answers, and the places of the lines without a name. Messages in Discord channels \
         stay, and so do lines from other servers."
    );
    let listed = |names: &[String]| {
        names
            .iter()
            .map(|name| format!("`{}`", name.replace('`', "'")))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !names.own.is_empty() {
        let own = listed(&names.own);
        text.push_str(&format!(
            "\n\nAn earlier version of me stored NPCs' conversations and tool calls by name \
             only: everything under {own} is deleted too."
        ));
    }
    if !names.shared.is_empty() {
        let shared = listed(&names.shared);
        text.push_str(&format!(
            "\n\nSomeone else was called {shared} here too: what an earlier version of me stored \
             under that name stays. (This version tells the two of you apart.)"
        ));
    }
    let text: String = text.chars().take(TEXT_MAX).collect();
    let button = CreateButton::new(action.id()).label(label).style(ButtonStyle::Danger);
    Reply::private(text).with_rows(vec![CreateActionRow::Buttons(vec![button])])
}

/// Request of `asker` to forget `user`, known as `name` here.
fn wanted(guild: &Guild, user: u64, name: Option<&String>, asker: u64) -> Deletion {
    let character = guild.settings().characters.get(&user);
    let from = ForgetFrom { owner: Owner::Guild(guild.id.get()), session: None };
    Deletion {
        names: name.into_iter().chain(character).cloned().collect(),
        asker: asker.to_string(),
        ..Deletion::of(user.to_string(), from, now())
    }
}

/// The button that deletes what `user` has said on this server.
///
/// # Errors
/// It is somebody else's to press.
pub fn delete_own(guild: &mut Guild, press: &ButtonPress, user: u64) -> Result<Answer, Refusal> {
    if user != press.user.get() {
        return Err(
            "only the player who asked can delete these lines (for yours, use /privacy delete)"
                .into(),
        );
    }
    Ok(delete(guild, user, Some(&press.name), user))
}

/// The button that deletes what `user` has said on this server.
///
/// # Errors
/// It is a game master's to press.
pub fn purge(guild: &mut Guild, press: &ButtonPress, user: u64) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    Ok(delete(guild, user, None, press.user.get()))
}

/// Deletes what `user`, who is called `name` here, has said, for `asker`.
fn delete(guild: &mut Guild, user: u64, name: Option<&String>, asker: u64) -> Answer {
    let what = wanted(guild, user, name, asker);
    guild.change_settings(|settings| settings.characters.remove(&user));
    guild.withdraw_calls_of(user);
    let deleted = guild.shared.handles.privacy.clone().forget(what);
    Answer::later(async move {
        Reply::private(match deleted.await {
            Ok(lines) => format!(
                "Deleted: {lines} {}, the answers, and everything derived from them. New lines are \
                 written down again (/privacy optout prevents that).",
                if lines == 1 { "line" } else { "lines" }
            ),
            Err(why) => format!(
                "I couldn't delete everything yet: {why}. I keep trying, even after a restart, and \
                 send you a message when it's done."
            ),
        })
    })
}
