//! Orders to the whole table, which a face offers as buttons or words.
//!
//! Entry functions: [`skip`], [`pause`], [`resume`], [`resume_all`], [`mute_all`].

use super::{
    answer::{Answer, Reply, with_status},
    call::Call,
    face::Face,
    npc,
    text::Refusal,
};
use crate::session::{Command as TableCommand, State};

/// Notice once NPCs answer again.
const RESUMED: &str = "The NPCs answer again.";
/// Refusal for a player who tries to end a pause.
const PAUSED: &str = "the table is paused (only the game master may resume it)";

/// Drops the current speech, and continues with the next speaker.
pub fn skip(face: &mut dyn Face) -> Result<Answer, Refusal> {
    tell(face, TableCommand::Skip, "Moving on to the next speaker.")
}

/// Stops all answers until [`resume`].
pub fn pause(face: &mut dyn Face) -> Result<Answer, Refusal> {
    tell(face, TableCommand::Pause(true), "Paused: the NPCs stay silent until you resume.")
}

/// Ends an X-card; for the game master, a [`pause`] too. The answer may still be a refusal.
pub fn resume_all(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    face.tell(TableCommand::EndCard(call.speaker.id))?;
    if call.speaker.is_dm {
        return resume(face);
    }
    with_status(face, |_, status| match (status.card, status.state) {
        (Some(way_out), _) => Err(way_out.into()),
        (None, State::Paused) => Err(PAUSED.into()),
        (None, _) => Ok(Reply::private(RESUMED)),
    })
}

/// Allows answers again.
pub fn resume(face: &mut dyn Face) -> Result<Answer, Refusal> {
    tell(face, TableCommand::Pause(false), RESUMED)
}

pub fn mute_all(face: &mut dyn Face) -> Result<Answer, Refusal> {
    npc::mute(face, None, true)
}

fn tell(face: &mut dyn Face, order: TableCommand, said: &str) -> Result<Answer, Refusal> {
    face.tell(order)?;
    Ok(Reply::private(said).into())
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            declared::Subcommand,
            stand_in::{Recorded, status},
        },
        *,
    };
    use crate::session::{Speaker, SpeakerId, Status};

    /// The answer to "/resume" at a table with this `status`, and its orders.
    fn resumed(is_dm: bool, status: Status) -> (String, Vec<String>) {
        let speaker = Speaker { id: SpeakerId(11), name: "Max".to_owned(), is_dm };
        let sub = Subcommand::new("resume", "", &[], resume_all);
        let mut table = Recorded::showing(status);
        let told = table.carries_out(&sub, &Call::new(speaker, Vec::new()));
        (told, table.orders)
    }

    #[test]
    fn player_is_told_what_resume_did_not_end() {
        let free = status(Vec::new());
        let carded = Status { card: Some("the way out"), ..free.clone() };
        let paused = Status { state: State::Paused, ..free.clone() };
        for (status, said) in [(free, RESUMED), (carded, "the way out"), (paused.clone(), PAUSED)] {
            let (told, orders) = resumed(false, status);
            assert!(told.contains(said), "{told}");
            assert_eq!(orders, ["EndCard(SpeakerId(11))"], "a pause is the game master's");
        }
        let (told, orders) = resumed(true, paused);
        assert!(told.contains(RESUMED), "{told}");
        assert_eq!(orders, ["EndCard(SpeakerId(11))", "Pause(false)"]);
    }
}
