//! Stored definitions of one address's tools (pins): enough to recognize them and show changes.
//! Bounded; tools beyond the bounds stay unknown.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{domain::one_line, tools::tool::fingerprint};

/// Most known tools of one address.
pub const NAMES: usize = 4_000;
/// Most stored bytes of one address.
pub const BYTES: usize = 4 * 1024 * 1024;
/// Larger definitions are shortened, in bytes.
const WHOLE: usize = 4 * 1024;
/// Largest member kept of a shortened definition, in bytes.
const PART: usize = 1_024;
/// Characters kept of a longer description.
const WORDS: usize = 1_000;
/// Largest member kept of a shortened `_meta`, in bytes: members that declare behaviour are short.
const SAID: usize = 64;
/// Most such members.
const SAID_MOST: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    hash: String,
    /// The definition as JSON, with large parts replaced by size and hash.
    shown: String,
}

impl Pin {
    pub fn of(definition: &Value) -> Self {
        let whole = definition.to_string();
        let shown = if whole.len() > WHOLE { shortened(definition).to_string() } else { whole };
        Self { hash: fingerprint(definition), shown }
    }

    /// The stored part of the definition, for display.
    pub fn shown(&self) -> Value {
        serde_json::from_str(&self.shown).unwrap_or_default()
    }

    fn bytes(&self) -> usize {
        let quoted = self.shown.bytes().filter(|it| matches!(it, b'"' | b'\\')).count();
        self.hash.len() + self.shown.len() + quoted
    }
}

/// A definition with large parts replaced by their hash.
fn shortened(definition: &Value) -> Value {
    let members = definition.as_object().into_iter().flatten();
    let short = members.map(|(key, value)| {
        let size = value.to_string().len();
        let short = match value {
            _ if size <= PART => value.clone(),
            Value::String(words) => {
                Value::from(format!("{}{}", one_line(words, WORDS), sum(value)))
            }
            Value::Object(meta) if key.starts_with("meta") => {
                let is_short = |(key, it): &(&String, &Value)| {
                    key.len() <= SAID
                        && !(it.is_object() || it.is_array())
                        && it.to_string().len() <= SAID
                };
                let said = meta.iter().filter(is_short).take(SAID_MOST);
                let said = said.map(|(key, it)| (key.clone(), it.clone()));
                said.chain([("…".to_owned(), Value::from(sum(value)))])
                    .collect::<Map<_, _>>()
                    .into()
            }
            _ => Value::from(sum(value)),
        };
        (key.clone(), short)
    });
    short.collect::<Map<_, _>>().into()
}

/// Replacement of a large part.
fn sum(value: &Value) -> String {
    let hash = fingerprint(value);
    format!("({} bytes, {})", value.to_string().len(), hash.get(..12).unwrap_or(&hash))
}

/// The address has no room for another definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is new, but {NAMES} tools, or {} MiB of definitions, of this server are stored already \
     (accept what it lists now to forget the rest)",
    BYTES >> 20
)]
pub struct Full;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PinnedSize {
    pub names: usize,
    pub bytes: usize,
}

#[derive(Default)]
pub struct PinnedTools {
    tools: BTreeMap<String, Pin>,
    bytes: usize,
    /// Definitions shared by all owners, for an owner's tools: those the operator accepted, and
    /// those stored before guilds were separated.
    everybodys: BTreeMap<String, Pin>,
    is_changed: bool,
}

impl PinnedTools {
    /// `tools`: the pins of the address.
    pub fn new(tools: BTreeMap<String, Pin>, everybodys: BTreeMap<String, Pin>) -> Self {
        let bytes = tools.iter().map(|(name, pin)| name.len() + pin.bytes()).sum();
        Self { tools, bytes, everybodys, is_changed: false }
    }

    /// The definition first seen, or approved since.
    pub fn get(&self, tool: &str) -> Option<&Pin> {
        self.tools.get(tool).or_else(|| self.everybodys.get(tool))
    }

    /// True if `definition` is shared by all owners.
    pub fn is_accepted(&self, tool: &str, definition: &Pin) -> bool {
        self.everybodys.get(tool) == Some(definition)
    }

    /// Stores a definition; fails without room for it.
    pub fn set(&mut self, tool: &str, definition: &Value) -> Result<(), Full> {
        self.put(tool, Pin::of(definition))
    }

    /// Like [`Self::set`], for a stored definition.
    pub fn put(&mut self, tool: &str, pin: Pin) -> Result<(), Full> {
        let before = self.tools.get(tool);
        if before == Some(&pin) {
            return Ok(());
        }
        let freed = before.map_or(0, |before| tool.len() + before.bytes());
        let bytes = self.bytes - freed + tool.len() + pin.bytes();
        if bytes > BYTES || (before.is_none() && self.tools.len() >= NAMES) {
            return Err(Full);
        }
        (self.bytes, self.is_changed) = (bytes, true);
        self.tools.insert(tool.to_owned(), pin);
        Ok(())
    }

    /// Drops tools not in `names`.
    pub fn keep(&mut self, names: &BTreeSet<&str>) {
        let before = self.tools.len();
        self.tools.retain(|name, _| names.contains(&**name));
        self.is_changed |= self.tools.len() < before;
        self.bytes = self.tools.iter().map(|(name, pin)| name.len() + pin.bytes()).sum();
    }

    pub fn size(&self) -> PinnedSize {
        PinnedSize { names: self.tools.len(), bytes: self.bytes }
    }

    /// True after any change.
    pub const fn is_changed(&self) -> bool {
        self.is_changed
    }

    pub fn into_tools(self) -> BTreeMap<String, Pin> {
        self.tools
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(words: &str, property: &str) -> Value {
        json!({"name": "t", "description": words, "input": {"properties": {property: {}}},
            "output": null, "meta": {"glyphoxa/effects": "none", "x": "y".repeat(5_000)},
            "metadata": {}, "read_only": true})
    }

    #[test]
    fn large_definitions_are_shortened_but_distinct() {
        let long = "x".repeat(100_000);
        let [one, other] =
            ["a", "b"].map(|end| Pin::of(&definition(&format!("{long}{end}"), &long)));
        assert!(one.bytes() < 2 * WHOLE, "{}", one.bytes());
        assert_ne!(one.hash, other.hash);
        let (one, other) = (one.shown(), other.shown());
        assert_ne!(one["description"], other["description"]);
        assert_eq!((&one["input"], &one["read_only"]), (&other["input"], &json!(true)));
        assert_eq!(one["meta"]["glyphoxa/effects"], "none");
        let small = json!({"name": "t", "description": "Short."});
        assert_eq!(Pin::of(&small).shown(), small);
    }

    #[test]
    fn pinned_tools_are_limited_by_count_and_bytes() {
        let mut known = PinnedTools::default();
        let small = json!({"name": "t"});
        for number in 0..NAMES {
            assert_eq!(known.set(&format!("t{number}"), &small), Ok(()));
        }
        assert_eq!(known.set("new", &small), Err(Full));
        assert_eq!(known.set("t1", &json!({"name": "other"})), Ok(()), "it is known");
        known.keep(&BTreeSet::from(["t1"]));
        assert_eq!((known.size().names, known.set("new", &small)), (2 - 1, Ok(())));
        let large = json!({"description": "x".repeat(WHOLE - 100)});
        let room = (0..NAMES).take_while(|n| known.set(&format!("l{n}"), &large).is_ok()).count();
        assert!((1_000..NAMES).contains(&room) && known.size().bytes <= BYTES, "{room}");
    }
}
