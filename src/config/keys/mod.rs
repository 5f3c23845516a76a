//! The tables of every key a file may hold; reading and JSON Schemas both come from them.

pub mod app;
mod declared;
pub mod manifest;
pub mod mcp;
pub mod models;
pub mod music;
pub mod npc;
pub mod price;
pub mod providers;

use crate::yaml::Kind;

/// A list of texts.
const TEXTS: Kind = Kind::List(&Kind::Filled);
/// One text, or several.
const TEXT_OR_TEXTS: Kind = Kind::Either(&[Kind::Filled, TEXTS]);
/// Anything from nothing to a large sum.
const MONEY: Kind = Kind::Number { min: 0.0, max: 1_000_000.0 };
/// A wait in milliseconds, up to ten minutes.
const WAIT: Kind = Kind::Whole { min: 1, max: 600_000 };
/// Number of times that something may happen.
const COUNT: Kind = Kind::Whole { min: 0, max: 1_000_000 };
