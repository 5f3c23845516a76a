//! Assembles fragments of tool calls, however a server uses `index` and `id`.
//!
//! Entry type: [`Assembler`]. A fragment starts a new call if it has a name and either its slot is
//! new, or its slot is named and the fragment has another id, or has none while the slot's
//! arguments are complete JSON. Otherwise it continues its slot. **Never**: repairs arguments; the
//! tool host checks them.

use std::{
    collections::{HashMap, HashSet},
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::{Map, Value};

use super::wire::CallDelta;
use crate::{
    domain::{CallId, ToolCall},
    provider::bounds::{ARGUMENTS, Bound, CALLS},
};

#[derive(Debug, Default)]
pub struct Assembler {
    calls: Vec<Slot>,
    by_index: HashMap<u64, usize>,
}

#[derive(Debug, Default)]
struct Slot {
    id: Option<String>,
    name: String,
    arguments: String,
    extent: Extent,
    extra: Map<String, Value>,
}

/// Scans for the end of the first JSON value; looks at each byte once.
#[derive(Debug, Default)]
struct Extent {
    read: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Index of the end of an object or array.
    end: Option<usize>,
    /// True if the text is JSON and nothing follows.
    is_whole: bool,
}

/// Longest number, word or string that may be arguments, in bytes.
const LONGEST_SCALAR: usize = 64;

impl Extent {
    /// Scans the new part of `text`; true if all of it is one JSON value.
    fn is_whole(&mut self, text: &str) -> bool {
        let start = text.trim_start();
        if !start.starts_with(['{', '[']) {
            return start.len() <= LONGEST_SCALAR && serde_json::from_str::<Value>(start).is_ok();
        }
        for (at, byte) in text.bytes().enumerate().skip(self.read) {
            self.take(at, byte);
            if self.end == Some(at) {
                self.is_whole = serde_json::from_str::<Value>(&text[..=at]).is_ok();
            }
        }
        self.read = text.len();
        self.is_whole
    }

    fn take(&mut self, at: usize, byte: u8) {
        if self.end.is_some() {
            self.is_whole &= byte.is_ascii_whitespace();
        } else if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
        } else {
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => return,
            }
            self.end = (self.depth == 0 && byte != b'"').then_some(at);
        }
    }
}

impl Assembler {
    /// Adds a fragment; fails if calls are too many or too long.
    pub fn push(&mut self, delta: CallDelta) -> Result<(), Bound> {
        let known = match delta.index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.calls.len().checked_sub(1),
        };
        let slot = known.and_then(|at| self.calls.get_mut(at));
        let starts = !delta.name.is_empty() && slot.is_none_or(|slot| slot.is_over(&delta));
        let at = if starts || self.calls.is_empty() {
            CALLS.check(self.calls.len() + 1)?;
            self.calls.push(Slot::default());
            self.calls.len() - 1
        } else {
            // An unknown index without a name continues the current call.
            known.unwrap_or(self.calls.len() - 1)
        };
        if let Some(index) = delta.index {
            self.by_index.insert(index, at);
        }
        if let Some(slot) = self.calls.get_mut(at) {
            slot.take(delta)?;
        }
        Ok(())
    }

    pub fn finish(self) -> Vec<ToolCall> {
        let mut used = HashSet::new();
        let named = self.calls.into_iter().filter(|slot| !slot.name.is_empty());
        named
            .map(|slot| {
                let id = slot.id.filter(|id| used.insert(id.clone())).unwrap_or_else(made_up_id);
                // Some servers write "no arguments" as empty text.
                let arguments =
                    if slot.arguments.trim().is_empty() { "{}".into() } else { slot.arguments };
                ToolCall { id: CallId(id), name: slot.name, arguments, extra: slot.extra }
            })
            .collect()
    }
}

impl Slot {
    /// True if a named fragment for this slot starts the next call.
    fn is_over(&mut self, delta: &CallDelta) -> bool {
        !self.name.is_empty()
            && match &delta.id {
                Some(id) => self.id.as_ref() != Some(id),
                None => self.extent.is_whole(&self.arguments),
            }
    }

    fn take(&mut self, delta: CallDelta) -> Result<(), Bound> {
        ARGUMENTS.check(self.arguments.len() + delta.arguments.len())?;
        if self.id.is_none() {
            self.id = delta.id;
        }
        if self.name.is_empty() {
            self.name = delta.name;
        }
        self.arguments.push_str(&delta.arguments);
        self.extra.extend(delta.extra);
        Ok(())
    }
}

/// Nine letters and digits, as the strictest servers want; unique in this process.
fn made_up_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("call{:05}", NEXT.fetch_add(1, Ordering::Relaxed) % 100_000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::provider::openai::wire::Chunk;

    fn assembled(fragments: &[Value]) -> Vec<ToolCall> {
        let mut calls = Assembler::default();
        for fragment in fragments {
            let chunk = json!({"choices": [{"delta": {"tool_calls": [fragment]}}]});
            Chunk::read(&chunk).calls.into_iter().for_each(|delta| calls.push(delta).unwrap());
        }
        calls.finish()
    }

    fn pairs(calls: &[ToolCall]) -> Vec<(&str, &str)> {
        calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }

    /// Index, id, name and arguments of a fragment; "" is a missing index or id.
    type Fragment = (&'static str, &'static str, &'static str, &'static str);

    const A: &str = r#"{"a":1}"#;
    const B: &str = r#"{"b":2}"#;
    const DIALECTS: [(&str, &[Fragment]); 11] = [
        (
            "in order",
            &[
                ("0", "x", "roll", ""),
                ("0", "", "", r#"{"a":"#),
                ("0", "", "", "1}"),
                ("1", "y", "look", ""),
                ("1", "", "", B),
            ],
        ),
        (
            "interleaved",
            &[
                ("0", "x", "roll", ""),
                ("1", "y", "look", r#"{"b""#),
                ("0", "", "", A),
                ("1", "", "", ":2}"),
            ],
        ),
        ("index always 0, whole", &[("0", "x", "roll", A), ("0", "y", "look", B)]),
        ("no index, whole", &[("", "x", "roll", A), ("", "y", "look", B)]),
        (
            "no index, fragments",
            &[
                ("", "x", "roll", r#"{"a""#),
                ("", "", "", ":1}"),
                ("", "y", "look", ""),
                ("", "", "", B),
            ],
        ),
        ("no id", &[("0", "", "roll", A), ("1", "", "look", B)]),
        ("no id, index always 0", &[("0", "", "roll", A), ("0", "", "look", B)]),
        (
            "new id on each fragment",
            &[
                ("0", "x1", "roll", r#"{"a""#),
                ("0", "x2", "", ":1}"),
                ("1", "y1", "look", r#"{"b""#),
                ("1", "y2", "", ":2}"),
            ],
        ),
        (
            "name repeated",
            &[("0", "x", "roll", r#"{"a""#), ("0", "x", "roll", ":1}"), ("1", "y", "look", B)],
        ),
        (
            "late id",
            &[("0", "", "roll", ""), ("0", "x", "", A), ("1", "", "look", B), ("1", "y", "", "")],
        ),
        (
            "changing index",
            &[("0", "x", "roll", r#"{"a""#), ("5", "", "", ":1}"), ("1", "y", "look", B)],
        ),
    ];

    fn fragment((index, id, name, arguments): &Fragment) -> Value {
        let mut call = json!({"type": "function", "id": id,
            "function": {"name": name, "arguments": arguments}});
        if let Ok(index) = index.parse::<u64>() {
            call["index"] = json!(index);
        }
        call
    }

    #[test]
    fn every_dialect_gives_the_same_two_calls() {
        for (dialect, fragments) in DIALECTS {
            let calls = assembled(&fragments.iter().map(fragment).collect::<Vec<_>>());
            assert_eq!(pairs(&calls), [("roll", A), ("look", B)], "{dialect}");
            let ids: HashSet<_> = calls.iter().map(|call| &call.id).collect();
            assert_eq!(ids.len(), 2, "{dialect}: ids {ids:?}");
            assert!(calls.iter().all(|call| !call.id.0.is_empty()), "{dialect}");
        }
    }

    #[test]
    fn arguments_may_be_an_object() {
        let call = json!({"function": {"name": "roll", "arguments": {"a": 1}}});
        assert_eq!(pairs(&assembled(&[call])), [("roll", A)]);
    }

    #[test]
    fn duplicate_call_ids_are_made_unique() {
        let whole = |id: &str| json!({"id": id, "function": {"name": "roll", "arguments": "{}"}});
        assert_eq!(assembled(&[whole("x"), whole("y")])[0].id.0, "x");
        let same = assembled(&[
            json!({"index":0,"id":"x","function":{"name":"roll","arguments":"{}"}}),
            json!({"index":1,"id":"x","function":{"name":"look","arguments":"{}"}}),
        ]);
        assert_eq!(same[0].id.0, "x");
        assert_ne!(same[1].id.0, "x");
    }

    #[test]
    fn unknown_members_are_kept() {
        let signature = json!({"google": {"thought_signature": "c2ln"}});
        let calls = assembled(&[json!({
            "index": 0, "id": "x", "type": "function", "extra_content": signature,
            "function": {"name": "roll", "arguments": "{}"}
        })]);
        assert_eq!(calls[0].extra, Map::from_iter([("extra_content".to_owned(), signature)]));
    }

    #[test]
    fn arguments_are_not_repaired() {
        let merged =
            json!({"index":0,"id":"x","function":{"name":"roll","arguments":"{\"a\":1}{\"a\":2}"}});
        assert_eq!(pairs(&assembled(&[merged])), [("roll", r#"{"a":1}{"a":2}"#)]);
        let none = json!({"index":0,"id":"x","function":{"name":"roll"}});
        assert_eq!(pairs(&assembled(&[none])), [("roll", "{}")]);
        assert!(assembled(&[json!({"index":0,"function":{"arguments":"{}"}})]).is_empty());
    }

    fn delta(name: &str, arguments: String) -> CallDelta {
        CallDelta { index: Some(0), name: name.into(), arguments, ..CallDelta::default() }
    }

    #[test]
    fn calls_over_their_bounds_end_the_answer() {
        let mut calls = Assembler::default();
        for _ in 0..64 {
            assert_eq!(calls.push(delta("roll", "{}".into())), Ok(()));
        }
        assert_eq!(calls.push(delta("roll", "{}".into())), Err(CALLS));
        let mut calls = Assembler::default();
        assert_eq!(calls.push(delta("roll", " ".repeat(256 << 10))), Ok(()));
        assert_eq!(calls.push(delta("", " ".into())), Err(ARGUMENTS));
        assert_eq!(calls.finish()[0].arguments, "{}");
    }

    #[test]
    fn named_fragments_read_each_byte_once() {
        for fragments in [500, 1_000] {
            let mut calls = Assembler::default();
            calls.push(delta("roll", "[".into())).unwrap();
            let mut looked_at = 0;
            for _ in 0..fragments {
                let before = calls.calls[0].extent.read;
                calls.push(delta("roll", "1,2,3,".into())).unwrap();
                looked_at += calls.calls[0].extent.read - before;
            }
            assert!(looked_at <= 1 + 6 * fragments, "{looked_at} for {fragments}");
        }
    }

    proptest! {
        #[test]
        fn extent_agrees_with_json(pieces in prop::collection::vec(
            prop::sample::select(vec!["{", "}", "[", "]", "\"", "\\", ",", ":", "1", " ", "a"]), 0..12)
        ) {
            let (mut extent, mut text) = (Extent::default(), String::new());
            for piece in pieces {
                text.push_str(piece);
                let whole = serde_json::from_str::<Value>(&text).is_ok();
                prop_assert_eq!(extent.is_whole(&text), whole, "{}", text);
            }
        }

        #[test]
        fn any_fragments_stay_within_bounds(fragments in prop::collection::vec(
            (prop::option::of(0_u64..3), prop::option::of("[xy]"), "[r]?", "[{}\"1 ]{0,4}"), 0..80)
        ) {
            let mut calls = Assembler::default();
            for (index, id, name, arguments) in fragments {
                let delta = CallDelta { index, id, name, arguments, ..CallDelta::default() };
                if calls.push(delta).is_err() { break; }
            }
            let calls = calls.finish();
            let ids: HashSet<_> = calls.iter().map(|call| &call.id).collect();
            prop_assert!(calls.len() <= 64 && ids.len() == calls.len());
        }

        #[test]
        fn any_cut_of_arguments_comes_back_whole(
            texts in prop::collection::vec(".{0,20}", 1..4), step in 1_usize..5,
        ) {
            let mut fragments = Vec::new();
            let mut expected = Vec::new();
            for (index, text) in texts.iter().enumerate() {
                let arguments = json!({"text": text}).to_string();
                let chars: Vec<char> = arguments.chars().collect();
                fragments.push(json!({"index": index, "id": format!("c{index}"),
                    "function": {"name": "say", "arguments": ""}}));
                for piece in chars.chunks(step) {
                    let piece: String = piece.iter().collect();
                    fragments.push(json!({"index": index, "function": {"arguments": piece}}));
                }
                expected.push(arguments);
            }
            let got: Vec<String> =
                assembled(&fragments).into_iter().map(|call| call.arguments).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
