//! Commands shared by several faces. Entry items: [`ALL`], [`Face`], [`Answer`].
//!
//! A face offers them, parses their use into a [`Call`] and shows the answer. **Never**: knows
//! Discord or a terminal, or waits.

mod answer;
mod ask;
mod call;
mod campaign;
mod character;
mod cost;
mod counting;
mod declared;
mod entity;
mod face;
mod import;
mod music;
mod npc;
mod orders;
mod planning;
mod privacy;
mod runs;
mod say;
mod scene;
mod schedule;
mod session;
mod stored;
mod text;
mod tier;
mod tools;
mod typed;
mod why;
mod workflow;
mod world;
mod worlds;
mod xcard;

#[cfg(test)]
pub mod stand_in;

pub use answer::{Answer, NextStep, Reply};
pub use call::{Call, GivenFile, Value};
pub use counting::Counting;
pub use declared::{Command, Kind, NPC_MAX, Parameter, Subcommand, Suggested};
pub use face::{AtTable, Face, Lasting, RecapSoon, StatusSoon};
pub use npc::{hear_voice, seat_line};
pub use orders::{mute_all, pause, resume, resume_all, skip};
pub use planning::Planning;
pub use runs::{RunsWorkflows, WorkflowsHere};
pub use stored::{FaceWords, HeardState, StoredWords};
pub use text::{Piece, Refusal, Text};
pub use typed::{Finders, read, usage};
pub use worlds::{Campaigns, Chosen, OrderSoon, WorldSoon, Worlds};
pub use xcard::halt;

pub use ask::COMMAND as ASK;
pub use campaign::COMMAND as CAMPAIGN;
pub use character::COMMAND as CHARACTER;
pub use cost::COMMAND as COST;
pub use entity::{COMMAND as ENTITY, remove as remove_entity};
pub use import::previewed as import_previewed;
pub use music::{COMMAND as MUSIC, stop as stop_music};
pub use npc::COMMAND as NPC;
pub use privacy::{COMMAND as PRIVACY, HEARD, NOT_HEARD, also_sent, delete_own, deleted, question};
pub use say::COMMAND as SAY;
pub use scene::COMMAND as SCENE;
pub use schedule::COMMAND as SCHEDULE;
pub use session::{
    COMMAND as SESSION, DESCRIPTION as OF_SESSION, RECAP as SESSION_RECAP, STATUS as SESSION_STATUS,
};
pub use tier::COMMAND as TIER;
pub use tools::{COMMAND as TOOLS, not_allowed as never_allowed};
pub use why::COMMAND as WHY;
pub use workflow::COMMAND as WORKFLOW;
pub use xcard::COMMAND as XCARD;

/// Every command that more than one face has.
pub static ALL: [&Command; 16] = [
    &SESSION, &NPC, &SAY, &ASK, &CHARACTER, &SCENE, &MUSIC, &SCHEDULE, &ENTITY, &CAMPAIGN, &TIER,
    &WORKFLOW, &TOOLS, &COST, &PRIVACY, &XCARD,
];
