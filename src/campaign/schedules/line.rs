//! A line of an NPC at a running session. Entry function: [`say`].

use tokio::sync::{mpsc::Sender, oneshot};

use super::{evenings::Evening, starts::NotStarted};
use crate::session::{Caller, Command, SpeakerId, Status};

/// Words of an NPC.
pub struct PlannedLine<'a> {
    /// Its full name.
    pub npc: &'a str,
    pub text: &'a str,
    /// The game master who planned it.
    pub speaker: SpeakerId,
    /// A program planned it: NPCs that hear it remember that.
    pub outside: bool,
}

/// Makes the NPC say the line, unless it is muted or an X-card silences the table. Returns once the
/// table has handled the order.
pub async fn say(evening: &Evening, line: PlannedLine<'_>) -> Result<(), NotStarted> {
    let commands = evening.table.commands.upgrade().ok_or(NotStarted::NoSession)?;
    let halts = evening.table.halts.count();
    let status = status(&commands).await?;
    if status.card.is_some() {
        return Err(NotStarted::Card);
    }
    let PlannedLine { npc, text, speaker, outside } = line;
    let seat = status.seats.iter().find(|seat| seat.name == npc);
    let seat = seat.ok_or_else(|| NotStarted::Absent(npc.to_owned()))?;
    if seat.muted {
        return Err(NotStarted::Muted(npc.to_owned()));
    }
    let (seat, text) = (seat.id, text.to_owned());
    let order = match outside {
        true => Command::Recite { caller: Caller::new(speaker), seat, text, outside },
        false => Command::Puppet { speaker, seat, text },
    };
    let unhalted = Command::Unhalted { halts, order: Box::new(order) };
    commands.send(unhalted).await.map_err(|_| NotStarted::NoSession)?;
    // The table answers in order: it has handled the line by then.
    self::status(&commands).await?;
    // An X-card dropped the line, or silenced it at once.
    if evening.table.halts.count() == halts { Ok(()) } else { Err(NotStarted::Card) }
}

async fn status(commands: &Sender<Command>) -> Result<Status, NotStarted> {
    let (ask, answer) = oneshot::channel();
    commands.send(Command::Status(ask)).await.map_err(|_| NotStarted::NoSession)?;
    answer.await.map_err(|_| NotStarted::NoSession)
}
