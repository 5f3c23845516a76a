//! Reasons why a call of a program outside has no result, each with the fix. Entry type:
//! [`OutsideError`].

use super::ongoing::PROGRAM_MAX;
use crate::{campaign::guilds::GuildError, logic::cast::NpcError, memory};

/// Longest text to say or to ask, in bytes: four minutes of speech.
pub const TEXT_MAX: usize = 4 << 10;

#[derive(Debug, thiserror::Error)]
pub enum OutsideError {
    #[error("no table is running ({0})")]
    NoTable(&'static str),
    #[error("unknown table '{table}' (running: {known}; leave it out for the newest)")]
    UnknownTable { table: String, known: String },
    #[error(transparent)]
    Npc(#[from] NpcError),
    #[error("no NPC is present (name one; npc.list shows all)")]
    NobodyPresent,
    #[error("the text is empty (write what is to be said)")]
    NoText,
    #[error("the text has {0} bytes (up to {max}; split it)", max = TEXT_MAX)]
    LongText(usize),
    #[error("too many questions (ask up to 30 a minute)")]
    TooOften,
    #[error("too many calls (call up to 30 tools a minute)")]
    ManyCalls,
    #[error("too many lines and workflows go on (up to {PROGRAM_MAX}; wait until one ends)")]
    ManyOngoing,
    #[error("no table is running ({0}; or leave 'wait' out: the speech is then returned as sound)")]
    NoTableToGoOn(&'static str),
    #[error("the speech is longer than five minutes (split the text)")]
    LongSound,
    #[error("the play session has ended meanwhile (try again without 'table')")]
    Ended,
    #[error("listening is off (set web.mcp.listen: true, and tell the players)")]
    ListenOff,
    /// The error of the service may name addresses and files.
    #[error("{0} cannot speak: the voice failed (the log of glyphoxa says why)")]
    Voice(String),
    #[error(
        "{0} cannot speak: a spending cap is reached, or spending cannot be recorded (the log of \
         glyphoxa says which)"
    )]
    Spent(String),
    /// The ledger cannot record the cost.
    #[error("cannot record what is spent: {0}")]
    Ledger(#[from] memory::Error),
    #[error("cannot read the server's settings: {0}")]
    Settings(#[from] GuildError),
}
