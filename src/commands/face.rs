//! A face that commands are used through: a Discord server, a terminal.
//!
//! Entry type: [`Face`]. **Never**: decides what a command does.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{stored::StoredWords, text::Refusal, worlds::Worlds};
use crate::{
    campaign::{Dice, Engines},
    domain::{EngineKind, Npc},
    logic::music::Library,
    session::{Command as TableCommand, SeatId, Seated, Speaker, SpeakerId, Status},
};

/// Status of a table, once all earlier orders are carried out.
pub type StatusSoon = BoxFuture<'static, Result<Status, Refusal>>;

/// Text of a recap, once it is written.
pub type RecapSoon = BoxFuture<'static, Result<String, Refusal>>;

/// A table as commands see it.
pub struct AtTable {
    /// Its NPCs.
    pub seats: Arc<[Seated]>,
    /// The people at it.
    pub people: Vec<SpeakerId>,
    /// The engines of its NPCs.
    pub engines: Arc<dyn Engines>,
    /// The tracks it may play.
    pub music: Arc<Library>,
}

/// A change that outlives the table where the face keeps it.
pub enum Lasting {
    /// NPCs call a player by this name; empty: by their own.
    Character(SpeakerId, String),
    /// A player is heard, or not.
    Received(SpeakerId, bool),
    /// Music is so loud, in percent.
    Volume(u8),
    /// A tool that was allowed for good asks again.
    Revoke(String),
}

/// Everything that commands reach through a face.
pub trait Face: Worlds + StoredWords {
    /// The table that runs.
    ///
    /// # Errors
    /// No session runs.
    fn table(&self) -> Result<AtTable, Refusal>;

    /// Dice that people throw themselves.
    fn dice(&self) -> Dice;

    /// The configured NPCs, with or without a table.
    fn cast(&self) -> Vec<Arc<Npc>>;

    /// Tells the table something; orders keep their sequence.
    ///
    /// # Errors
    /// No session runs, or its table does not take it.
    fn tell(&mut self, order: TableCommand) -> Result<(), Refusal>;

    /// Status of the table after all earlier orders.
    ///
    /// # Errors
    /// No session runs; the future's: the table does not say.
    fn status(&mut self) -> Result<StatusSoon, Refusal>;

    /// Has the caller of a command sit at the table, unless they do.
    ///
    /// # Errors
    /// No session runs, its table does not take it, or the caller is not to be heard.
    fn sit_down(&mut self, speaker: Speaker) -> Result<SpeakerId, Refusal>;

    /// Changes the engine of the NPC of this name, and notifies players where their voices go.
    ///
    /// # Errors
    /// No session runs, or the NPC cannot have that engine.
    fn change_engine(&mut self, npc: &str, engine: EngineKind) -> Result<(), Refusal>;

    /// Makes a change, and keeps it.
    ///
    /// # Errors
    /// Nothing is there to revoke, or the change cannot be kept.
    fn keep(&mut self, change: Lasting) -> Result<(), Refusal>;

    /// A recap of the session so far, with the game master's secrets or without. The default refuses: such a
    /// face has its own command for it.
    ///
    /// # Errors
    /// The session is not saved; the future's: it cannot be read or written.
    fn recap(&self, _for_dm: bool) -> Result<RecapSoon, Refusal> {
        Err("no recap here (use the command of this place)".into())
    }

    /// Tools that were allowed for good, a line each, and whether that still holds.
    ///
    /// # Errors
    /// They cannot be read.
    fn permits(&self) -> Result<Vec<String>, Refusal>;
}

/// The NPC at the table that `name` means, and its seat.
///
/// # Errors
/// No session runs, or the name matches no NPC or several; lists the known names.
pub fn seat(face: &dyn Face, name: &str) -> Result<(SeatId, Arc<Npc>), Refusal> {
    let seats = face.table()?.seats;
    let Seated { seat, npc } = Seated::find(&seats, name)?;
    Ok((*seat, Arc::clone(npc)))
}
