//! One table: the voices of a channel in, NPC voices out. Knows no Discord and no web server.
//!
//! Entry function: [`open`]. One task owns the table; others reach it through a [`TableHandle`].

mod answering;
mod caller;
mod casting;
mod clock;
mod command;
mod continuation;
mod effects;
mod ending;
mod events;
mod expected;
mod explanations;
mod finals;
mod finished;
mod handle;
mod hearing;
mod input;
mod judging;
mod limits;
mod line;
mod moderation;
mod music;
mod options;
mod overrides;
mod overview;
mod parts;
mod phase;
mod pipeline;
mod playback;
mod pulse;
mod recall;
mod recast;
mod recogniser;
mod recognition;
mod reports;
mod rest_of_speech;
mod retraction;
mod routing;
mod scene;
mod seat;
mod seats;
mod segment;
mod sending;
mod speakers;
mod standing;
mod statistics;
mod status;
mod steering;
mod summaries;
mod table;
mod traced;
mod turns;
mod understanding;
mod utterance;
mod wanted_dice;
mod wishing;
mod withdrawal;

pub use caller::{Caller, OrderId};
pub use clock::SoundTime;
pub use command::{Command, SceneChange};
pub use continuation::Continuation;
pub use effects::Halts;
pub use events::{
    EventReader, LiveEvent, LiveReader, TableEvent, TableEvents, TurnStage, UnderstoodLine,
    WeakTableEvents,
};
pub use expected::expected_at_first;
pub use explanations::{Explanation, Explanations};
pub use handle::{Conversations, TableHandle};
pub use input::{VoiceFrame, VoiceInput};
pub use line::{AskedId, Outcome, ToolLine, TurnLine};
pub use music::{MusicPlayer, Under};
pub use options::{Limits, Options};
pub use parts::{Outlets, TableParts, TableSetup};
pub use playback::{Pace, VoiceOut};
pub use pulse::BLOCKED_AFTER;
pub use recall::{Memory, Question, Recaller};
pub use recast::{Recast, Role};
pub use routing::tier_names;
pub use seat::Seat;
pub use seats::Seated;
pub use speakers::{Speaker, SpeakerId};
pub use statistics::Quantiles;
pub use status::{Backlog, SeatStatus, State, Status};
pub use table::open;
pub use utterance::LONGEST as LONGEST_UTTERANCE;

#[cfg(test)]
pub use {
    line::{Circumstances, MadeBy, TierLine, Timings},
    status::Unwritten,
};

#[cfg(test)]
pub mod stand_in;
#[cfg(test)]
pub mod tests;

/// A seat by its place in the cast, from 0; stable when others come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeatId(pub usize);
