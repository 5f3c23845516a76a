//! Reads the events of a stream: text as it comes, whole calls and thoughts at the end.
//!
//! Entry type: [`Reading`]. Blocks are identified by index; unknown ones are ignored. **Never**:
//! passes on a thought as text; a call whose block has not ended.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value, json};

use super::messages;
use crate::{
    domain::{CallId, ToolCall, json_values},
    provider::{
        ChatEvent, Counted, CutOff, Larger, Usage,
        bounds::{ANSWER, ARGUMENTS, CALLS, TURN_TEXT},
        remote::{Broken, Life, Reader, ServiceError},
    },
};

/// Most block starts in an answer; a restarted block counts again.
const MAX_BLOCKS: usize = 4_096;
/// Most values in the arguments of a call that is sent back with thoughts.
const MAX_VALUES: usize = 10_000;

const KINDS: [&str; 4] = ["text", "thinking", "redacted_thinking", "tool_use"];

#[derive(Default)]
pub struct Reading {
    blocks: BTreeMap<u64, Block>,
    begun: usize,
    calls: usize,
    usage: Counted<Tokens>,
    /// A count included the input tokens; without them nothing is booked.
    has_input: bool,
    size: usize,
    /// Bytes.
    text: usize,
    /// The last text ended within a word or sentence.
    open_text: bool,
    received: bool,
    over: bool,
    cut_off: Option<CutOff>,
}

struct Block {
    /// Members of its start event; thoughts are sent back with all of them.
    members: Map<String, Value>,
    /// Text, thought or arguments so far.
    text: String,
    whole: bool,
}

/// Disjoint counts, as the service reports them.
#[derive(Clone, Copy)]
struct Tokens {
    input: u64,
    read: u64,
    written: u64,
    output: u64,
}

impl Reader for Reading {
    const WANTED: &'static str = "message of Anthropic's";

    fn take(&mut self, document: &Value, out: &mut VecDeque<ChatEvent>) -> Result<Life, Broken> {
        if let Some(said) = ServiceError::read(document) {
            return Err(Broken::Said(said));
        }
        match word(document, "type") {
            "message_start" => self.count(document.get("message"), out),
            "content_block_start" => self.start(document, out)?,
            "content_block_delta" => self.delta(document, out)?,
            "content_block_stop" => {
                if let Some(block) = index(document).and_then(|at| self.blocks.get_mut(&at)) {
                    block.whole = true;
                }
            }
            "message_delta" => self.end(document.get("delta"), document, out),
            "message_stop" => self.over = true,
            "message" => self.take_whole(document, out)?,
            // Pings, and unknown events.
            _ => return Ok(Life::Connection),
        }
        Ok(Life::Answer)
    }

    fn has_received(&self) -> bool {
        self.received
    }

    fn is_finished(&self) -> bool {
        self.over
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn complete(&mut self, out: &mut VecDeque<ChatEvent>) {
        out.extend(self.cut_off.map(ChatEvent::CutOff));
        let whole: Vec<&Block> = self.blocks.values().filter(|block| block.whole).collect();
        let mut calls: Vec<ToolCall> = whole.iter().filter_map(|block| block.call()).collect();
        if whole.iter().any(|block| block.is_thought()) {
            let answer = whole.iter().filter_map(|block| block.to_send_back()).collect();
            messages::with_thoughts(&mut calls, answer);
        }
        out.extend(calls.into_iter().map(ChatEvent::ToolCall));
    }
}

impl Reading {
    fn start(&mut self, document: &Value, out: &mut VecDeque<ChatEvent>) -> Result<(), Broken> {
        let Some(Value::Object(members)) = document.get("content_block") else { return Ok(()) };
        let Some(at) = index(document) else { return Ok(()) };
        self.begun += 1;
        if self.begun > MAX_BLOCKS {
            return Err(ANSWER.into());
        }
        self.blocks.remove(&at);
        let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
        if !KINDS.contains(&kind) {
            return Ok(());
        }
        self.keep(members.values().map(weight).sum())?;
        let block = Block { members: members.clone(), text: String::new(), whole: false };
        let begun = match block.kind() {
            kind @ ("text" | "thinking") => {
                members.get(kind).and_then(Value::as_str).unwrap_or_default().to_owned()
            }
            "tool_use" => {
                self.received = true;
                self.calls += 1;
                CALLS.check(self.calls)?;
                String::new()
            }
            _ => String::new(),
        };
        let is_text = block.kind() == "text";
        self.blocks.insert(at, block);
        if is_text && self.open_text {
            // Text of another block starts a new word.
            self.give("\n", out);
        }
        self.append(at, &begun, out)
    }

    fn delta(&mut self, document: &Value, out: &mut VecDeque<ChatEvent>) -> Result<(), Broken> {
        let (Some(at), Some(delta)) = (index(document), document.get("delta")) else {
            return Ok(());
        };
        // A delta that does not match its block is dropped.
        let kind = self.blocks.get(&at).map_or("", Block::kind);
        let piece = match (word(delta, "type"), kind) {
            ("text_delta", "text") => word(delta, "text"),
            ("input_json_delta", "tool_use") => word(delta, "partial_json"),
            ("thinking_delta", "thinking") => word(delta, "thinking"),
            ("signature_delta", "thinking") => {
                let signature = word(delta, "signature");
                self.keep(signature.len())?;
                if let Some(block) = self.blocks.get_mut(&at) {
                    block.members.insert("signature".into(), json!(signature));
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.keep(piece.len())?;
        self.append(at, piece, out)
    }

    fn append(
        &mut self,
        at: u64,
        piece: &str,
        out: &mut VecDeque<ChatEvent>,
    ) -> Result<(), Broken> {
        let Some(block) = self.blocks.get_mut(&at) else { return Ok(()) };
        block.text.push_str(piece);
        match block.kind() {
            "text" => {
                self.text += piece.len();
                TURN_TEXT.check(self.text)?;
                self.give(piece, out);
            }
            "tool_use" => ARGUMENTS.check(block.text.len())?,
            "thinking" if !piece.is_empty() => out.push_back(ChatEvent::Hidden(piece.len())),
            _ => {}
        }
        Ok(())
    }

    fn give(&mut self, text: &str, out: &mut VecDeque<ChatEvent>) {
        if let Some(last) = text.chars().last() {
            self.received = true;
            self.open_text = !last.is_whitespace();
            out.push_back(ChatEvent::Text(text.to_owned()));
        }
    }

    fn end(&mut self, delta: Option<&Value>, counts: &Value, out: &mut VecDeque<ChatEvent>) {
        match delta.map_or("", |delta| word(delta, "stop_reason")) {
            "max_tokens" | "model_context_window_exceeded" => self.cut_off = Some(CutOff::Length),
            "refusal" => self.cut_off = Some(CutOff::Filter),
            _ => {}
        }
        self.count(Some(counts), out);
    }

    fn count(&mut self, holder: Option<&Value>, out: &mut VecDeque<ChatEvent>) {
        let Some(usage) = holder.and_then(|holder| holder.get("usage")?.as_object()) else {
            return;
        };
        let count = |key: &str| usage.get(key).and_then(Value::as_u64);
        self.has_input |= count("input_tokens").is_some();
        let so_far = self.usage.merge(Tokens {
            input: count("input_tokens").unwrap_or_default(),
            read: count("cache_read_input_tokens").unwrap_or_default(),
            written: count("cache_creation_input_tokens").unwrap_or_default(),
            output: count("output_tokens").unwrap_or_default(),
        });
        if self.has_input {
            out.push_back(ChatEvent::Usage(so_far.billed()));
        }
    }

    /// Reads a whole message from a server that does not stream.
    fn take_whole(
        &mut self,
        document: &Value,
        out: &mut VecDeque<ChatEvent>,
    ) -> Result<(), Broken> {
        let blocks = document.get("content").and_then(Value::as_array);
        for (at, block) in blocks.into_iter().flatten().enumerate() {
            self.start(&json!({"index": at, "content_block": block}), out)?;
        }
        self.blocks.values_mut().for_each(|block| block.whole = true);
        self.end(Some(document), document, out);
        self.over = true;
        Ok(())
    }

    fn keep(&mut self, bytes: usize) -> Result<(), Broken> {
        self.size += bytes;
        Ok(ANSWER.check(self.size)?)
    }
}

impl Block {
    fn kind(&self) -> &str {
        self.members.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    fn is_thought(&self) -> bool {
        matches!(self.kind(), "thinking" | "redacted_thinking")
    }

    fn member(&self, name: &str) -> &str {
        self.members.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn call(&self) -> Option<ToolCall> {
        let is_call = self.kind() == "tool_use" && !self.member("name").is_empty();
        is_call.then(|| ToolCall {
            id: CallId(self.member("id").to_owned()),
            name: self.member("name").to_owned(),
            arguments: self.arguments(),
            extra: Map::new(),
        })
    }

    /// The streamed arguments, or those of the start event.
    fn arguments(&self) -> String {
        if !self.text.trim().is_empty() {
            return self.text.clone();
        }
        let begun = self.members.get("input").filter(|input| input.is_object());
        begun.map_or_else(|| "{}".to_owned(), Value::to_string)
    }

    /// The block to send back with the call; `None`: the service does not want it.
    fn to_send_back(&self) -> Option<Value> {
        match self.kind() {
            "text" if self.text.trim().is_empty() => None,
            "text" => Some(json!({"type": "text", "text": self.text})),
            // The service refuses thoughts without a signature.
            "thinking" if self.member("signature").is_empty() => None,
            "thinking" => {
                let mut members = self.members.clone();
                members.insert("thinking".into(), json!(self.text));
                Some(Value::Object(members))
            }
            "redacted_thinking" => Some(Value::Object(self.members.clone())),
            "tool_use" => {
                let arguments = self.arguments();
                let is_bounded = json_values(arguments.as_bytes()) <= MAX_VALUES;
                let input = is_bounded.then(|| serde_json::from_str(&arguments).ok()).flatten();
                let input: Map<String, Value> = input.unwrap_or_default();
                Some(json!({"type": "tool_use", "id": self.member("id"),
                    "name": self.member("name"), "input": input}))
            }
            _ => None,
        }
    }
}

impl Larger for Tokens {
    fn larger(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            read: self.read.max(other.read),
            written: self.written.max(other.written),
            output: self.output.max(other.output),
        }
    }
}

impl Tokens {
    /// The service's input count excludes tokens read from or written to the cache.
    const fn billed(self) -> Usage {
        Usage {
            input_tokens: self.input.saturating_add(self.read).saturating_add(self.written),
            cached_tokens: self.read,
            written_tokens: self.written,
            output_tokens: self.output,
        }
    }
}

/// Approximate bytes in memory.
fn weight(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(name, it)| name.len() + weight(it)).sum(),
        _ => 0,
    };
    size_of::<Value>() + inside
}

fn index(document: &Value) -> Option<u64> {
    document.get("index").and_then(Value::as_u64)
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
