//! `/character`: who a player is in the game.
//!
//! Entry item: [`COMMAND`]. **Never**: lets a player name somebody else's character.

use std::sync::Arc;

use serenity::all::CreateCommand;

use super::{
    answer::{Answer, Refusal},
    command::{Call, Command, Who},
    parts,
};
use crate::{
    discord::{
        guild::Guild,
        ui::{
            names::{cleaned, escaped},
            reply::Reply,
        },
    },
    domain::Npc,
    logic::words::fold,
    session::{Command as TableCommand, SpeakerId},
};

/// `/character`.
pub const COMMAND: Command =
    Command { name: "character", register, who: |_| Who::Everyone, run, complete };

/// Longest name, in characters.
const LONGEST: u16 = 64;

fn register() -> CreateCommand {
    let name = parts::words("name", "Name of the character (default: your own name)", LONGEST);
    let set = parts::sub("set", "Set the name that NPCs call you by")
        .add_sub_option(name.set_autocomplete(true))
        .add_sub_option(parts::user(
            "player",
            "Player whose character you set (game masters only)",
        ));
    parts::command("character", "Choose who you play").add_option(set)
}

fn complete(guild: &Guild, option: &str) -> Vec<String> {
    match option {
        "name" => {
            let campaign = Arc::clone(&guild.shared.handles.settings.load().campaign);
            campaign.players.iter().map(|player| player.character.clone()).collect()
        }
        _ => Vec::new(),
    }
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let player = call.user("player").unwrap_or(call.user);
    if player != call.user && !call.is_dm {
        return Err(guild.only_dms().into());
    }
    let name = call.text("name").map(cleaned).unwrap_or_default();
    check(&name, &guild.cast())?;
    guild.change_settings(|it| it.characters.insert(player.get(), name.clone()));
    let whom = if player == call.user { "you".to_owned() } else { format!("<@{player}>") };
    let done = match name.as_str() {
        "" => format!("The NPCs call {whom} by the display name on this server."),
        name => format!("The NPCs call {whom} **{}**.", escaped(name)),
    };
    if let Ok(session) = guild.session() {
        let speaker = SpeakerId(player.get());
        session.tell(TableCommand::Character { speaker, name: Some(name) })?;
    }
    Ok(Reply::private(done).into())
}

/// Whether a player's character may be called `name`.
fn check(name: &str, cast: &[Arc<Npc>]) -> Result<(), Refusal> {
    if name.chars().count() > usize::from(LONGEST) {
        return Err(format!("'{name}' is too long (up to {LONGEST} characters)").into());
    }
    let wanted = fold(name);
    let mut names = cast.iter().flat_map(|npc| std::iter::once(&npc.name).chain(&npc.aliases));
    if names.any(|known| fold(known) == wanted) {
        return Err(format!("'{name}' is an NPC (take another name)").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_no_npc() {
        let aliases = vec!["the Barkeep".to_owned()];
        let cast = [Arc::new(Npc { aliases, ..Npc::plain("Bartok") })];
        assert!(check("Thorin", &cast).is_ok());
        assert!(check("", &cast).is_ok());
        for taken in ["bartok", "The Barkeep!"] {
            let Refusal(why) = check(taken, &cast).unwrap_err();
            assert_eq!(why, format!("'{taken}' is an NPC (take another name)"));
        }
        assert!(check(&"x".repeat(65), &cast).unwrap_err().0.contains("too long"));
    }
}
