//! A face of commands: a Discord server, a terminal. Entry type: [`Face`].

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{
    counting::Counting, planning::Planning, runs::RunsWorkflows, stored::StoredWords,
    text::Refusal, worlds::Worlds,
};
use crate::{
    campaign::{Dice, Engines, FoundVoice},
    domain::{EngineKind, Npc},
    logic::music::Library,
    session::{Command as TableCommand, Explanations, SeatId, Seated, Speaker, SpeakerId, Status},
};

/// Status of a table, after all earlier orders.
pub type StatusSoon = BoxFuture<'static, Result<Status, Refusal>>;

/// Text of a recap, once written.
pub type RecapSoon = BoxFuture<'static, Result<String, Refusal>>;

/// A table as commands see it.
pub struct AtTable {
    pub seats: Arc<[Seated]>,
    pub people: Vec<SpeakerId>,
    pub engines: Arc<dyn Engines>,
    /// Tracks it may play.
    pub music: Arc<Library>,
}

/// A change that outlives the table, if the face stores it.
pub enum Lasting {
    /// Character name of a player; empty: their own name.
    Character(SpeakerId, String),
    /// True if the player may be heard.
    Received(SpeakerId, bool),
    /// Volume of music, in percent.
    Volume(u8),
    /// A permanently allowed tool asks again.
    Revoke(String),
}

/// Everything that commands reach through a face.
pub trait Face: Worlds + StoredWords + RunsWorkflows + Planning + Counting {
    /// The running table. Fails if no session runs.
    fn table(&self) -> Result<AtTable, Refusal>;

    /// Dice that people roll themselves.
    fn dice(&self) -> Dice;

    /// The configured NPCs, with or without a table.
    fn cast(&self) -> Vec<Arc<Npc>>;

    /// Sends an order to the table, in sequence. Fails if the table is closed or overloaded.
    fn tell(&mut self, order: TableCommand) -> Result<(), Refusal>;

    /// Status of the table after all earlier orders.
    fn status(&mut self) -> Result<StatusSoon, Refusal>;

    /// Seats the caller of a command. Fails if they are not to be heard.
    fn sit_down(&mut self, speaker: Speaker) -> Result<SpeakerId, Refusal>;

    /// Changes this NPC's engine, and notifies players where their voices go.
    fn change_engine(&mut self, npc: &str, engine: EngineKind) -> Result<(), Refusal>;

    /// Changes this NPC's voice, and notifies players where its words go.
    fn change_voice(&mut self, npc: &str, found: &FoundVoice) -> Result<(), Refusal>;

    /// Applies and stores a change. Fails if there is nothing to revoke.
    fn keep(&mut self, change: Lasting) -> Result<(), Refusal>;

    /// A recap of the session so far. The default refuses, for faces with their own command.
    fn recap(&self, _for_dm: bool) -> Result<RecapSoon, Refusal> {
        Err("no recap here (use the command of this place)".into())
    }

    /// Explanations of the last answers. The default refuses, for faces whose tables don't keep
    /// them.
    fn explanations(&self) -> Result<Explanations, Refusal> {
        Err("answers are not explained here".into())
    }

    /// Permanently allowed tools, one per line, and whether that is still valid.
    fn permits(&self) -> Result<Vec<String>, Refusal>;
}

/// The NPC meant by `name`, and its seat. Fails if it matches no NPC or several.
pub fn seat(face: &dyn Face, name: &str) -> Result<(SeatId, Arc<Npc>), Refusal> {
    let seats = face.table()?.seats;
    let Seated { seat, npc } = Seated::find(&seats, name)?;
    Ok((*seat, Arc::clone(npc)))
}
