//! What outlives a table: transcripts, recaps, facts, privacy, the world, settings, money.
//!
//! Concrete services that every face (Discord, the command line) calls alike. **Never**: knows a face,
//! or reads the configuration; `app` hands over what is needed of it.

mod call_log;
mod clock;
mod dates;
mod facts;
mod guilds;
mod indexer;
mod kept;
mod keys;
mod played;
mod privacy;
mod recap;
mod tables;
mod transcript;
mod world;

pub use crate::provider::{ServiceInfo, Services};
pub use call_log::CallLog;
pub use clock::{now, wall_clock};
pub use dates::{date, time};
pub use facts::{
    Fact, FactId, FactStatus, Verdict, WaitingFacts, WantedFacts, consolidate, decide, fact, facts,
    settle, waiting,
};
pub use guilds::{AddedServer, Consent, GuildSettings, GuildStore};
pub use indexer::Indexer;
pub use kept::{KeptError, KeptSession};
pub use keys::key_of;
pub use played::PlayedCampaign;
pub use privacy::{ForgetFrom, ForgetRequest, forget, forget_kept, names, own_lines};
pub use recap::{Writer, recap};
pub use tables::Tables;
pub use transcript::{Transcript, TranscriptOptions, TranscriptWriter};
pub use world::{
    CAMPAIGN_FILE, IMPORT, ImportError, Plan, WorldAnswer, WorldOf, WorldOrder, carry_out,
    entities_of_no_file, plan,
};
