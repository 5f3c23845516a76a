//! `/npc mute|speak|direct|pin`: the game master's orders to NPCs. **Never**: repeats a note.

use crate::{
    commands::{
        answer::{Answer, Reply},
        call::Call,
        face::{Face, seat},
        text::{Refusal, Text},
    },
    session::Command as TableCommand,
};

/// Most turns of a note.
pub const TURNS_MAX: u32 = 100;

/// Mutes or unmutes the NPC called `name`; `None`: all of them.
pub fn mute(face: &mut dyn Face, name: Option<&str>, muted: bool) -> Result<Answer, Refusal> {
    let (seat, who) = match name {
        Some(name) => {
            let (seat, npc) = seat(face, name)?;
            (Some(seat), npc.name.clone())
        }
        None => (None, "Everyone".to_owned()),
    };
    face.tell(TableCommand::Mute { seat, muted })?;
    let state = if muted { "is muted" } else { "may speak again" };
    Ok(Reply::private(format!("{who} {state}.")).into())
}

/// Speaks the game master's words in an NPC's voice.
pub fn speak(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let (seat, npc) = seat(face, call.words("name")?)?;
    let text = call.words("text")?.to_owned();
    let speaker = face.sit_down(call.speaker.clone())?;
    face.tell(TableCommand::Puppet { speaker, seat, text })?;
    Ok(Reply::private(format!("{} says it.", npc.name)).into())
}

/// Gives an NPC a secret note, or removes it.
pub fn direct(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let (seat, npc) = seat(face, call.words("name")?)?;
    let (name, note) = (&npc.name, call.text("note").unwrap_or_default());
    let turns = call.count("turns", TURNS_MAX)?;
    let said = match (note, turns) {
        ("", _) => format!("{name} has no note."),
        (_, Some(1)) => format!("{name} acts on it in the next turn."),
        (_, Some(turns)) => format!("{name} acts on it for {turns} turns."),
        (_, None) => format!("{name} acts on it until you give another note, or none."),
    };
    face.tell(TableCommand::Direct { seat, note: note.to_owned(), turns })?;
    Ok(Reply::private(said).into())
}

/// Routes a player's or everyone's words to the NPC called `name`; `None`: ends that.
pub fn pin(face: &mut dyn Face, call: &Call, name: Option<&str>) -> Result<Answer, Refusal> {
    let player = call.person("player");
    let people = face.table()?.people;
    let whose = match player {
        Some(player) => Text::from("All words of ").person(player),
        None => "All words".into(),
    };
    let (seat, mut said) = match name {
        Some(name) => {
            let (seat, npc) = seat(face, name)?;
            (Some(seat), whose.plain(format!(" go to {} unless they name another NPC.", npc.name)))
        }
        None => (None, whose.plain(" go to the NPC they name or talk with.")),
    };
    if let Some(player) = player.filter(|it| !people.contains(it)) {
        said = said.plain(" ").person(player).plain(" is not at the table.");
    }
    face.tell(TableCommand::Pin { seat, player })?;
    Ok(Reply::private(said).into())
}
