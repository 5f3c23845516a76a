//! Nouns shared by all modules.
//!
//! Entry types: [`Npc`], [`Campaign`], [`Message`], [`Tier`], [`Rule`]. **Never**: async, IO,
//! clocks, logging.

mod campaign;
mod chat;
mod hash;
mod hex;
mod ids;
mod json;
mod money;
mod npc;
mod person;
pub mod redact;
mod rule;
mod said;
mod scope;
mod secret;
mod tier;
mod visible;

pub use campaign::{Campaign, Entity, EntityKind, Player, Scene};
pub use chat::{Calling, Message, ToolCall, ToolSpec, TurnFacts};
pub use hash::{Fnv, fnv1a};
pub use hex::hex;
pub use ids::{CallId, PersonId, SessionId, TurnId};
pub use json::json_values;
pub use money::{Claim, Granted, Limit, Money};
pub use npc::{
    AddressMode, CascadeModels, EngineKind, LineTool, LineWhen, Npc, Policy, Pronunciation, S2s,
    ScriptedLine, ToolChoice, Voice, bare_name,
};
pub use person::Person;
pub use rule::Rule;
pub use said::Said;
pub use scope::{CampaignKey, Owner, Scope};
pub use secret::Secret;
pub use tier::Tier;
pub use visible::{is_hidden, one_line, revealed, revealed_name, visible};
