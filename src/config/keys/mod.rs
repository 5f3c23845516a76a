//! Tables of every key of a file; reading and JSON Schemas both use them.

pub mod app;
pub mod cluster;
mod declared;
pub mod manifest;
pub mod mcp;
pub mod models;
pub mod music;
pub mod npc;
pub mod providers;
pub mod telemetry;
pub mod web;
pub mod workflow;

use crate::yaml::Kind;

const TEXTS: Kind = Kind::List(&Kind::Filled);
const TEXT_OR_TEXTS: Kind = Kind::Either(&[Kind::Filled, TEXTS]);
/// Zero to a large sum.
const MONEY: Kind = Kind::Number { min: 0.0, max: 1_000_000.0 };
/// Milliseconds, up to ten minutes.
const WAIT: Kind = Kind::Whole { min: 1, max: 600_000 };
/// A number of repetitions.
const COUNT: Kind = Kind::Whole { min: 0, max: 1_000_000 };
