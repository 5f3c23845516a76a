//! Events of a scripted answer.
//!
//! Entry type: [`Out`]; entry function: [`plan`].

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::support::voice_models::answer::{
    Answer, Ending, PIECE_MS, Part, Piece, flood, mixed, tone,
};

/// A piece of an answer on its way.
#[derive(Debug)]
pub enum Out {
    /// An event.
    Event(Value),
    /// An event of an item with so many milliseconds of sound.
    Sound(String, Value, u64),
    /// An event of an item with so many words.
    Words(String, Value, String),
    /// An item begins; whether it is spoken.
    Begins(Value, bool),
    /// An item is whole.
    Whole(Value),
    /// A call was made, by its id.
    Calls(String),
    /// A text or binary frame, as it is.
    Frame(String, bool),
    /// Repeats this output for ever.
    Forever(Box<Self>),
    /// Sends `response.done`.
    Done(&'static str, Option<&'static str>),
    /// The connection is gone.
    Cut,
    /// The session has expired.
    Expired,
}

impl Out {
    /// True if it is sound, once or again and again.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Sound(..) => true,
            Self::Forever(out) => out.is_sound(),
            _ => false,
        }
    }
}

/// Plan of one response.
struct Plan {
    response: String,
    number: usize,
    index: usize,
    outs: VecDeque<Out>,
}

/// The pieces of the answer `number` of the service, called `response`.
pub fn plan(answer: &Answer, number: usize, response: &str) -> VecDeque<Out> {
    let response = response.to_owned();
    let mut plan = Plan { response, number, index: 0, outs: VecDeque::new() };
    if answer.is_strange {
        plan.strange();
    }
    for part in &answer.parts {
        match part {
            Part::Say(text, seconds) => plan.say(text, *seconds, true),
            Part::Half(text, seconds) => plan.say(text, *seconds, false),
            Part::Call(name, arguments) => plan.call(name, arguments),
            Part::Sound => plan.endless(true),
            Part::Words => plan.endless(false),
            Part::Huge(bytes) => plan.huge(*bytes),
        }
        plan.index += 1;
    }
    if answer.is_strange {
        plan.strange();
    }
    let ending = match answer.ending {
        Ending::Whole => Some(Out::Done("completed", None)),
        Ending::Cancelled => Some(Out::Done("cancelled", Some("turn_detected"))),
        Ending::TooLong => Some(Out::Done("incomplete", Some("max_output_tokens"))),
        Ending::Failed => Some(Out::Done("failed", None)),
        Ending::Stalls => None,
        Ending::Cut => Some(Out::Cut),
        Ending::Expired => Some(Out::Expired),
    };
    plan.outs.extend(ending);
    plan.outs
}

impl Plan {
    fn item_id(&self) -> String {
        format!("item_{}_{}", self.number, self.index)
    }

    /// An event of the part that is planned now.
    fn event(&self, kind: &str, more: Value) -> Value {
        let mut event =
            json!({"type": kind, "response_id": self.response, "output_index": self.index});
        if !kind.starts_with("response.output_item.") {
            event["item_id"] = json!(self.item_id());
        }
        if !kind.starts_with("response.output_item.") && !kind.contains("function_call") {
            event["content_index"] = json!(0);
        }
        if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
            event.extend(more);
        }
        event
    }

    fn push(&mut self, kind: &str, more: Value) {
        let event = self.event(kind, more);
        self.outs.push_back(Out::Event(event));
    }

    fn begin(&mut self, item: &Value, is_spoken: bool) {
        self.push("response.output_item.added", json!({ "item": item }));
        self.outs.push_back(Out::Begins(item.clone(), is_spoken));
    }

    fn begin_message(&mut self) {
        let item = json!({"id": self.item_id(), "object": "realtime.item", "type": "message",
            "status": "in_progress", "role": "assistant", "content": []});
        self.begin(&item, true);
        let part = json!({"part": {"type": "audio", "transcript": ""}});
        self.push("response.content_part.added", part);
    }

    fn say(&mut self, text: &str, seconds: f64, is_whole: bool) {
        self.begin_message();
        for piece in mixed(self.number, text, seconds, is_whole) {
            let out = match piece {
                Piece::Words(words) => self.words(words),
                Piece::Sound => self.sound(),
            };
            self.outs.push_back(out);
        }
        if !is_whole {
            return;
        }
        let part = json!({"type": "audio", "transcript": text});
        self.push("response.output_audio.done", json!({}));
        self.push("response.output_audio_transcript.done", json!({ "transcript": text }));
        self.push("response.content_part.done", json!({ "part": part }));
        let content = json!([{"type": "output_audio", "transcript": text}]);
        let item = json!({"id": self.item_id(), "object": "realtime.item", "type": "message",
            "status": "completed", "role": "assistant", "content": content});
        self.outs.push_back(Out::Whole(item.clone()));
        self.push("response.output_item.done", json!({ "item": item }));
    }

    fn sound(&self) -> Out {
        let event = self.event("response.output_audio.delta", json!({ "delta": tone() }));
        Out::Sound(self.item_id(), event, PIECE_MS)
    }

    fn words(&self, words: &str) -> Out {
        let event = self.event("response.output_audio_transcript.delta", json!({ "delta": words }));
        Out::Words(self.item_id(), event, words.to_owned())
    }

    fn call(&mut self, name: &str, arguments: &Value) {
        let (id, text) = (format!("call_{}_{}", self.number, self.index), arguments.to_string());
        let item = |status: &str, arguments: &str| {
            json!({"id": self.item_id(), "object": "realtime.item", "type": "function_call",
                "status": status, "call_id": id, "name": name, "arguments": arguments})
        };
        let (begun, whole) = (item("in_progress", ""), item("completed", &text));
        self.begin(&begun, false);
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(64) {
            let piece: String = piece.iter().collect();
            let more = json!({"call_id": id, "delta": piece});
            let event = self.event("response.function_call_arguments.delta", more);
            self.outs.push_back(Out::Words(self.item_id(), event, piece));
        }
        let more = json!({"call_id": id, "name": name, "arguments": text});
        self.push("response.function_call_arguments.done", more);
        self.outs.push_back(Out::Calls(id));
        self.outs.push_back(Out::Whole(whole.clone()));
        self.push("response.output_item.done", json!({ "item": whole }));
    }

    fn endless(&mut self, is_sound: bool) {
        self.begin_message();
        let out = if is_sound { self.sound() } else { self.words(&flood()) };
        self.outs.push_back(Out::Forever(Box::new(out)));
    }

    fn huge(&mut self, bytes: usize) {
        let more = json!({"type": "response.remark", "text": "x".repeat(bytes)});
        self.push("response.remark", more);
    }

    /// Events that a newer version of the service may send.
    fn strange(&mut self) {
        let mood = json!({"type": "response.mood", "mood": {"of": "the service"}, "event_id": "e"});
        let item = json!({"id": "item_strange", "type": "hologram", "role": "narrator",
            "status": "shimmering", "content": [{"type": "scent", "scent": "stew"}]});
        let added = json!({"type": "conversation.item.added", "event_id": "e", "item": item});
        let limits = json!({"type": "rate_limits.updated", "event_id": "e",
            "rate_limits": [{"name": "joy", "limit": "none", "remaining": -1, "reset_seconds": null}]});
        self.outs.extend([
            Out::Frame(mood.to_string(), false),
            Out::Frame(added.to_string(), false),
            Out::Frame(limits.to_string(), false),
            Out::Frame("[]".to_owned(), false),
            Out::Frame(json!({"type": 7}).to_string(), false),
            Out::Frame(mood.to_string(), true),
        ]);
    }
}
