//! Parts of a table.
//!
//! Entry types: [`TableSetup`] differs from table to table, [`TableParts`] comes from the
//! configuration.

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
    provider::{Chain, SpeechToText, TurnJudge},
    tools::{Effects, ToolHost, builtin::Music},
    traces::Traces,
};

pub struct Outlets {
    pub out: Box<dyn VoiceOut>,
    pub pace: Pace,
    /// Music beside speech; its frames are pulled where speech is taken.
    pub music: MusicPlayer,
    pub effects: Arc<dyn Effects>,
    pub halts: Arc<Halts>,
    pub events: TableEvents,
}

pub struct TableSetup {
    pub session: SessionId,
    /// In order of preference.
    pub stt: Chain<dyn SpeechToText>,
    /// Sound model for pauses; `None`: words decide.
    pub judge: Option<Arc<dyn TurnJudge>>,
    pub outlets: Outlets,
    pub host: ToolHost,
    pub backlog: Backlog,
    /// True for a local table, where a person who is alone may end an X-card.
    pub is_here: bool,
    /// The first answer must not wait for a voice, because people listen or speak to the table. If
    /// false, free voices are loaded with the first answers.
    pub is_heard: bool,
    pub seed: u64,
}

pub struct TableParts {
    pub options: Options,
    pub seats: Vec<Seat>,
    pub campaign: Arc<Campaign>,
    pub music: Music,
    pub keywords: Keywords,
    pub rules: Arc<[RuleName]>,
    pub budget: Budget,
    /// `None`: NPCs only remember their conversations.
    pub memory: Option<Memory>,
    /// State at the end of the last session; `None`: the campaign's start.
    pub continuation: Option<Continuation>,
    pub traces: Traces,
}
