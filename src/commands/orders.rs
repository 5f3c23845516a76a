//! Orders to the whole table that a face offers as buttons or as words of its own.
//!
//! Entry functions: [`skip`], [`pause`], [`resume`], [`resume_all`], [`mute_all`].

use super::{
    answer::{Answer, Reply},
    call::Call,
    face::Face,
    npc,
    text::Refusal,
};
use crate::session::Command as TableCommand;

/// Drops what is being said, and goes on with the next speaker.
///
/// # Errors
/// No session runs.
pub fn skip(face: &mut dyn Face) -> Result<Answer, Refusal> {
    tell(face, TableCommand::Skip, "Moving on to the next speaker.")
}

/// Has no NPC answer until [`resume`].
///
/// # Errors
/// No session runs.
pub fn pause(face: &mut dyn Face) -> Result<Answer, Refusal> {
    tell(face, TableCommand::Pause(true), "Paused: the NPCs stay silent until you resume.")
}

/// Has NPCs answer again that an X-card or [`pause`] keeps silent.
///
/// # Errors
/// No session runs.
pub fn resume_all(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    face.tell(TableCommand::EndCard(call.speaker.id))?;
    resume(face)
}

/// Has NPCs answer again.
///
/// # Errors
/// No session runs.
pub fn resume(face: &mut dyn Face) -> Result<Answer, Refusal> {
    tell(face, TableCommand::Pause(false), "The NPCs answer again.")
}

/// Mutes every NPC.
///
/// # Errors
/// No session runs.
pub fn mute_all(face: &mut dyn Face) -> Result<Answer, Refusal> {
    npc::mute(face, None, true)
}

fn tell(face: &mut dyn Face, order: TableCommand, said: &str) -> Result<Answer, Refusal> {
    face.tell(order)?;
    Ok(Reply::private(said).into())
}
