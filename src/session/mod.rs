//! One table: the voices of one channel in, the NPCs' voices out.
//!
//! Entry function: [`open`]; one task owns the table, a [`TableHandle`] is how others reach it.
//! **Never**: knows serenity, songbird or a web server.

mod answering;
mod clock;
mod command;
mod ears;
mod effects;
mod expected;
mod hearing;
mod lane;
mod line;
mod options;
mod orders;
mod overrides;
mod pins;
mod playback;
mod recall;
mod scene;
mod seat;
mod speakers;
mod status;
mod steering;
mod stream;
mod summaries;
mod table;
mod taking_back;
mod tally;
mod turns;

pub use command::{Command, SceneChange, TableEvent};
pub use ears::tier_names;
pub use line::{Outcome, ToolLine, TurnLine};
pub use options::Options;
pub use playback::{Pace, VoiceOut};
pub use recall::Memory;
#[cfg(feature = "measure")]
pub use recall::{Question, Recaller};
pub use seat::{Recast, Seat};
pub use speakers::{Speaker, SpeakerId};
pub use status::{Backlog, SeatStatus, State, Status};
pub use table::{Kept, TableHandle, TableParts, VoiceInput, open};
pub use tally::Quantiles;

#[cfg(test)]
pub use {
    line::{Circumstances, TierLine},
    status::{SceneStatus, Unwritten},
    tally::Latencies,
};

#[cfg(test)]
mod tests;
