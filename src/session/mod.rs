//! One table: the voices of one channel in, the NPCs' voices out.
//!
//! Entry function: [`open`]; one task owns the table, a [`TableHandle`] is how others reach it.
//! **Never**: knows serenity, songbird or a web server.

mod answering;
mod clock;
mod ears;
mod effects;
mod hearing;
mod lane;
mod line;
mod options;
mod orders;
mod playback;
mod seat;
mod speakers;
mod stream;
mod table;
mod turns;

pub use ears::tier_names;
pub use line::{Outcome, ToolLine, TurnLine};
pub use options::Options;
pub use playback::{Pace, VoiceOut};
pub use seat::{Recast, Seat};
pub use speakers::{Speaker, SpeakerId};
pub use table::{Command, Kept, TableEvent, TableHandle, TableParts, VoiceInput, open};

#[cfg(test)]
mod tests;
