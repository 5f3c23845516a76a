//! `/character`: a player's name in the game.

use std::sync::Arc;

use super::{
    answer::{Answer, Reply},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand, Suggested},
    face::{Face, Lasting},
    text::{Refusal, Text},
};
use crate::{
    domain::{Npc, is_hidden},
    logic::words::fold,
    session::Command as TableCommand,
};

/// Longest name, in characters.
const LONGEST: u16 = 64;

pub static COMMAND: Command = Command {
    name: "character",
    description: "Choose who you play",
    subs: &[Subcommand::new(
        "character set",
        "Set the name that NPCs call you by",
        &[
            Parameter::new(
                "name",
                "Name of the character (default: your own name)",
                Kind::Suggested(Suggested::Characters, LONGEST),
            ),
            Parameter::new(
                "player",
                "Player whose character you set (game masters only)",
                Kind::Person,
            )
            .for_dm(),
        ],
        set,
    )
    .for_all()],
};

fn set(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let speaker = call.person("player").unwrap_or(call.speaker.id);
    let name = call.text("name").map(seen).unwrap_or_default();
    check(&name, &face.cast())?;
    face.keep(Lasting::Character(speaker, name.clone()))?;
    let (whom, own) = match speaker == call.speaker.id {
        true => (Text::from("The NPCs call you"), " by your own name."),
        false => (Text::from("The NPCs call ").person(speaker), " by their own name."),
    };
    let done = match name.as_str() {
        "" => whom.plain(own),
        name => whom.plain(" ").strong(name).plain("."),
    };
    if face.table().is_ok() {
        let name = Some(name).filter(|name| !name.is_empty());
        face.tell(TableCommand::Character { speaker, name })?;
    }
    Ok(Reply::private(done).into())
}

/// Removes invisible characters.
fn seen(name: &str) -> String {
    let seen: String = name.chars().filter(|c| !c.is_control() && !is_hidden(*c)).collect();
    seen.trim().to_owned()
}

/// Refuses names of NPCs for a player's character.
fn check(name: &str, cast: &[Arc<Npc>]) -> Result<(), Refusal> {
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
    fn character_is_no_npc() {
        let aliases = vec!["the Barkeep".to_owned()];
        let cast = [Arc::new(Npc { aliases, ..Npc::plain("Bartok") })];
        assert!(check("Thorin", &cast).is_ok());
        assert!(check("", &cast).is_ok());
        for taken in ["bartok", "The Barkeep!"] {
            let Refusal(why) = check(taken, &cast).unwrap_err();
            assert_eq!(why, format!("'{taken}' is an NPC (take another name)"));
        }
        assert_eq!(seen("\u{202e}An\u{7}na\n"), "Anna");
    }
}
