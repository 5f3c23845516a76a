//! A line of an NPC at a running session. Entry function: [`say`].

use tokio::sync::oneshot;

use super::{evenings::Evening, starts::NotStarted};
use crate::session::{Command, SpeakerId};

/// Words of an NPC.
pub struct Line<'a> {
    /// Its full name.
    pub npc: &'a str,
    pub text: &'a str,
    /// The game master who planned it.
    pub speaker: SpeakerId,
}

/// Has the NPC say the line, unless it is muted or an X-card silences the table.
pub async fn say(evening: &Evening, line: Line<'_>) -> Result<(), NotStarted> {
    let commands = evening.table.commands.upgrade().ok_or(NotStarted::NoSession)?;
    let (ask, answer) = oneshot::channel();
    commands.send(Command::Status(ask)).await.map_err(|_| NotStarted::NoSession)?;
    let status = answer.await.map_err(|_| NotStarted::NoSession)?;
    if status.card.is_some() {
        return Err(NotStarted::Card);
    }
    let Line { npc, text, speaker } = line;
    let seat = status.seats.iter().find(|seat| seat.name == npc);
    let seat = seat.ok_or_else(|| NotStarted::Absent(npc.to_owned()))?;
    if seat.muted {
        return Err(NotStarted::Muted(npc.to_owned()));
    }
    let puppet = Command::Puppet { speaker, seat: seat.id, text: text.to_owned() };
    commands.send(puppet).await.map_err(|_| NotStarted::NoSession)
}
