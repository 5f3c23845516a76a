//! Commands that more than one face has: each exists once, with its words, what it does and what it
//! answers.
//!
//! Entry items: [`ALL`], [`Face`], [`Answer`]. A face offers them as it can, reads their use into a [`Call`]
//! and shows the answer. **Never**: knows Discord or a terminal, or waits.

mod answer;
mod ask;
mod call;
mod character;
mod declared;
mod face;
mod music;
mod npc;
mod orders;
mod privacy;
mod say;
mod scene;
mod session;
mod text;
mod tier;
mod tools;
mod typed;
mod xcard;

#[cfg(test)]
pub mod stand_in;

pub use answer::{Answer, Reply};
pub use call::{Call, Value};
pub use declared::{Command, Kind, NPC_MAX, Parameter, Subcommand, Suggested, WORD_MAX};
pub use face::{AtTable, Face, Lasting, RecapSoon, StatusSoon};
pub use npc::seat_line;
pub use orders::{mute_all, pause, resume, resume_all, skip};
pub use text::{Piece, Refusal, Text};
pub use typed::{read, usage};
pub use xcard::halt;

pub use ask::COMMAND as ASK;
pub use character::COMMAND as CHARACTER;
pub use music::{COMMAND as MUSIC, stop as stop_music};
pub use npc::COMMAND as NPC;
pub use privacy::{COMMAND as PRIVACY, HEARD, NOT_HEARD};
pub use say::COMMAND as SAY;
pub use scene::COMMAND as SCENE;
pub use session::{
    COMMAND as SESSION, DESCRIPTION as OF_SESSION, RECAP as SESSION_RECAP, STATUS as SESSION_STATUS,
};
pub use tier::COMMAND as TIER;
pub use tools::{COMMAND as TOOLS, not_allowed as never_allowed};
pub use xcard::COMMAND as XCARD;

/// Every command that more than one face has.
pub static ALL: [&Command; 11] =
    [&SESSION, &NPC, &SAY, &ASK, &CHARACTER, &SCENE, &MUSIC, &TIER, &TOOLS, &PRIVACY, &XCARD];
