//! Tools that run in this process.
//!
//! Entry function: [`all`]. **Never**: speaks a protocol.

mod dice;
mod tables;

use std::time::Duration;

use rand::rngs::StdRng;
use serde_json::{Value, json};

pub use tables::Table;

use super::Tool;
use crate::domain::{Tier, ToolSpec};

/// Identities of the built-in tools, for checking whitelists.
pub const IDENTITIES: &[&str] = &["dice-roller.roll", "dice-roller.roll_table"];

/// The built-in tools; `rng` throws the dice, `tables` are those it may roll on.
pub fn all(rng: StdRng, tables: Vec<Table>) -> Vec<Tool> {
    dice::tools(rng, tables)
}

/// A built-in's spec: its bare name is what a model sees.
fn spec(identity: &str, description: &str, properties: Value, required: &[&str]) -> ToolSpec {
    ToolSpec {
        name: identity.split_once('.').map_or(identity, |(_, bare)| bare).to_owned(),
        identity: identity.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
    }
}

/// Declared figures of a fast built-in.
const FAST: (Duration, Duration, Tier) =
    (Duration::from_millis(5), Duration::from_millis(20), Tier::Fast);
