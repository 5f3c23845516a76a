//! Streams of Anthropic's Messages API, as scripts of the loopback service.
//!
//! Entry points: [`said`], [`Answer`], [`refusal`]. Thoughts are signed by [`sign`], so that the
//! service knows them again (`anthropic_check.rs`).
//! **Never**: `[DONE]`, which that service does not say.

use serde_json::{Value, json};

use super::chat_server::{Script, Step};

/// A streamed reply of these tokens, with usage.
pub fn said(tokens: &[&str]) -> Script {
    Answer::begun().text(tokens).ends("end_turn")
}

/// The signature that belongs to a thought.
pub fn sign(thought: &str) -> String {
    let mixed = thought.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("sig_{mixed:016x}")
}

/// A refusal in Anthropic's shape.
pub fn refusal(status: u16, message: &str) -> Script {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    Script::json(status, &error(kind, message)).header("request-id", "req_1")
}

/// An error as it comes, with a status or in the middle of a stream.
pub fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
}

/// An answer, event by event.
pub struct Answer {
    script: Script,
    blocks: usize,
}

impl Answer {
    /// An answer that has begun: of 20 tokens read, 8 came from the cache and 4 went there.
    pub fn begun() -> Self {
        let usage = json!({"input_tokens": 8, "cache_creation_input_tokens": 4,
            "cache_read_input_tokens": 8, "output_tokens": 1, "service_tier": "standard"});
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant",
            "model": "test-model", "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": usage});
        let answer = Self { script: Script::stream().header("request-id", "req_1"), blocks: 0 };
        answer.event(&json!({"type": "message_start", "message": message}))
    }

    /// One event, under its name.
    pub fn event(mut self, data: &Value) -> Self {
        let name = data["type"].as_str().unwrap_or_default();
        self.script = self.script.raw(&format!("event: {name}\ndata: {data}\n\n"));
        self
    }

    /// A block that begins so, and its deltas.
    pub fn block(mut self, begin: &Value, deltas: &[Value]) -> Self {
        let index = self.blocks;
        self.blocks += 1;
        self = self
            .event(&json!({"type": "content_block_start", "index": index, "content_block": begin}));
        for delta in deltas {
            self = self.event(&json!({"type": "content_block_delta", "index": index,
                "delta": delta}));
        }
        self.event(&json!({"type": "content_block_stop", "index": index}))
    }

    /// Text, token by token.
    pub fn text(self, tokens: &[&str]) -> Self {
        let delta = |text: &&str| json!({"type": "text_delta", "text": text});
        let deltas: Vec<Value> = tokens.iter().map(delta).collect();
        self.block(&json!({"type": "text", "text": ""}), &deltas)
    }

    /// Text whose block does not end.
    pub fn open_text(self, text: &str) -> Self {
        let index = self.blocks;
        let begin = json!({"type": "text", "text": ""});
        self.event(&json!({"type": "content_block_start", "index": index, "content_block": begin}))
            .event(&json!({"type": "content_block_delta", "index": index,
                "delta": {"type": "text_delta", "text": text}}))
    }

    /// A thought, in two pieces, with its signature; without words where they are kept back.
    pub fn thinking(self, thought: &str) -> Self {
        let middle = (0..=thought.len() / 2).rev().find(|at| thought.is_char_boundary(*at));
        let (head, tail) = thought.split_at(middle.unwrap_or_default());
        let mut deltas: Vec<Value> = [head, tail]
            .iter()
            .filter(|piece| !piece.is_empty())
            .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
            .collect();
        deltas.push(json!({"type": "signature_delta", "signature": sign(thought)}));
        self.block(&json!({"type": "thinking", "thinking": "", "signature": ""}), &deltas)
    }

    /// An encrypted thought.
    pub fn redacted(self) -> Self {
        self.block(&json!({"type": "redacted_thinking", "data": sign("redacted")}), &[])
    }

    /// A call, its arguments three letters at a time; without arguments there is no delta.
    pub fn call(self, id: &str, name: &str, arguments: &str) -> Self {
        let chars: Vec<char> = arguments.chars().collect();
        let piece = |piece: &[char]| {
            let piece: String = piece.iter().collect();
            json!({"type": "input_json_delta", "partial_json": piece})
        };
        let mut deltas: Vec<Value> = chars.chunks(3).map(piece).collect();
        if !deltas.is_empty() {
            deltas.insert(0, json!({"type": "input_json_delta", "partial_json": ""}));
        }
        self.block(&json!({"type": "tool_use", "id": id, "name": name, "input": {}}), &deltas)
    }

    /// A sign of life.
    pub fn ping(self) -> Self {
        self.event(&json!({"type": "ping"}))
    }

    /// The end, for this reason; 5 tokens were written, and the rest stays as it was counted.
    pub fn ends(self, reason: &str) -> Script {
        self.ends_after(reason, 5)
    }

    /// Like [`Self::ends`], after so many tokens.
    pub fn ends_after(self, reason: &str, tokens: u64) -> Script {
        let delta = json!({"stop_reason": reason, "stop_sequence": null});
        let usage = json!({"output_tokens": tokens});
        self.event(&json!({"type": "message_delta", "delta": delta, "usage": usage}))
            .event(&json!({"type": "message_stop"}))
            .script
    }

    /// The script so far, and then this step.
    pub fn then(self, step: Step) -> Script {
        self.script.step(step)
    }

    /// The script so far; the body ends in order.
    pub fn closes(self) -> Script {
        self.script
    }
}
