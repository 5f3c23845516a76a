//! Nouns shared by all modules.
//!
//! Entry types: [`Npc`], [`Campaign`], [`Message`], [`Tier`], [`Rule`]. **Never**: async, IO,
//! clocks, logging.

mod access;
mod campaign;
mod chat;
mod file_stem;
mod hash;
mod ids;
mod json;
mod money;
mod npc;
pub mod redact;
mod said;
mod scope;
mod tier;
mod visible;

pub use access::{AccessRole, TOKEN_PREFIX};
pub use campaign::{Campaign, Entity, EntityKind, Player, Rule, Scene};
pub use chat::{Calling, DATA_NOTE, Message, ToolCall, ToolSpec, TurnFacts, is_framed, unframed};
pub use file_stem::file_stem;
pub use hash::{Fnv, fnv1a, hex};
pub use ids::{CallId, PersonId, SessionId, Timestamp, TurnId};
pub use json::{json_depth, json_values};
pub use money::{Claim, Cost, Granted, HEARING, Limit, Money};
pub use npc::{
    AddressMode, CascadeModels, EngineKind, LineTool, LineWhen, Npc, Policy, Pronunciation, S2s,
    ScriptedLine, ToolChoice, Voice, bare_name,
};
pub use redact::Secret;
pub use said::{Person, Said};
pub use scope::{CampaignKey, Owner, Scope};
pub use tier::Tier;
pub use visible::{is_hidden, one_line, revealed, revealed_name, visible};
