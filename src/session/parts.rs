//! What a table is made of.
//!
//! Entry types: [`TableSetup`], what differs from table to table, and [`TableParts`], what the
//! configuration makes of it. **Never**: done anything with here.

use std::sync::Arc;

use super::{
    Continuation, Memory, Options, Seat,
    effects::Halts,
    events::TableEvents,
    music::MusicPlayer,
    playback::{Pace, VoiceOut},
    status::Backlog,
};
use crate::{
    domain::{Campaign, SessionId},
    engine::Budget,
    logic::tier::Keywords,
    provider::{SpeechToText, TurnJudge},
    tools::{Effects, ToolHost, builtin::Music},
};

/// Where everything goes that comes out of a table.
pub struct Outlets {
    /// Where speech goes.
    pub out: Box<dyn VoiceOut>,
    /// How fast it goes there.
    pub pace: Pace,
    /// Music beside speech; its frames are pulled where speech is taken.
    pub music: MusicPlayer,
    /// What tools may do to the table.
    pub effects: Arc<dyn Effects>,
    /// The table's X-cards, which it counts.
    pub halts: Arc<Halts>,
    /// Where lines and notices go.
    pub events: TableEvents,
}

/// What differs from table to table.
pub struct TableSetup {
    /// The play session, for logs, memory and tools.
    pub session: SessionId,
    /// The recogniser, ready to be used.
    pub stt: Arc<dyn SpeechToText>,
    /// Judges how pauses sound; without it, the words count of tables that want it.
    pub judge: Option<Arc<dyn TurnJudge>>,
    /// Where its speech goes, and what it tells.
    pub outlets: Outlets,
    /// The tools, as this session sees them.
    pub host: ToolHost,
    /// Lines that are still to be written down.
    pub backlog: Backlog,
    /// Seed of dice and variety.
    pub seed: u64,
}

/// What the configuration makes of a table.
pub struct TableParts {
    /// What can be set.
    pub options: Options,
    /// The NPCs, in the order of the cast.
    pub seats: Vec<Seat>,
    /// The people, places and scenes that NPCs may speak of.
    pub campaign: Arc<Campaign>,
    /// The tracks that scenes may name.
    pub music: Music,
    /// What raises a turn's tier.
    pub keywords: Keywords,
    /// Phrases that name a rule, which raise it too.
    pub rules: Arc<[String]>,
    /// What everything of the session is paid from.
    pub budget: Budget,
    /// Where the NPCs remember; `None`: they have their conversations alone.
    pub memory: Option<Memory>,
    /// How the table stood when it was closed; `None`: it begins where the campaign does.
    pub continuation: Option<Continuation>,
}
