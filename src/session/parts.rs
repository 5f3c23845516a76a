//! Parts of a table.
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
    logic::tier::{Keywords, RuleName},
    provider::{SpeechToText, TurnJudge},
    tools::{Effects, ToolHost, builtin::Music},
};

/// Outlets of a table.
pub struct Outlets {
    /// Outlet of speech.
    pub out: Box<dyn VoiceOut>,
    /// Pace of that outlet.
    pub pace: Pace,
    /// Music beside speech; its frames are pulled where speech is taken.
    pub music: MusicPlayer,
    /// Effects of tools on the table.
    pub effects: Arc<dyn Effects>,
    /// The table's X-cards, which it counts.
    pub halts: Arc<Halts>,
    /// Outlet of lines and notices.
    pub events: TableEvents,
}

/// Parts that differ from table to table.
pub struct TableSetup {
    /// The play session, for logs, memory and tools.
    pub session: SessionId,
    /// The recogniser, ready to be used.
    pub stt: Arc<dyn SpeechToText>,
    /// Judges how pauses sound; without it, the words count of tables that want it.
    pub judge: Option<Arc<dyn TurnJudge>>,
    /// Outlets of its speech and events.
    pub outlets: Outlets,
    /// The tools, as this session sees them.
    pub host: ToolHost,
    /// Lines that are still to be written down.
    pub backlog: Backlog,
    /// It is a table of this machine, where a person who is alone may end an X-card.
    pub is_here: bool,
    /// Seed of dice and variety.
    pub seed: u64,
}

/// Parts of a table that the configuration sets.
pub struct TableParts {
    /// Options of the table.
    pub options: Options,
    /// The NPCs, in the order of the cast.
    pub seats: Vec<Seat>,
    /// The people, places and scenes that NPCs may speak of.
    pub campaign: Arc<Campaign>,
    /// The tracks that scenes may name.
    pub music: Music,
    /// Keywords that raise a turn's tier.
    pub keywords: Keywords,
    /// Names in the rules, which raise it too.
    pub rules: Arc<[RuleName]>,
    /// Budget of the session.
    pub budget: Budget,
    /// Memory of the NPCs; `None`: they have only their conversations.
    pub memory: Option<Memory>,
    /// State of the table at its end; `None`: it begins where the campaign does.
    pub continuation: Option<Continuation>,
}
