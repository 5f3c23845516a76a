//! Scripted answers, and the events of which they are made.
//!
//! Entry type: [`Answer`]. A transcript comes before its sound, after it, or in between: by turns.

use std::{collections::VecDeque, f64::consts::TAU};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// Samples a second.
pub const RATE: u32 = 24_000;
/// Sound of one delta, in milliseconds.
const PIECE_MS: u64 = 100;
/// Bytes of one delta of words that do not end.
const FLOOD: usize = 1024;

/// How one `response.create` is answered.
#[derive(Clone, Debug)]
pub struct Answer {
    parts: Vec<Part>,
    ending: Ending,
    is_strange: bool,
    /// Whether its usage is told as it is, and not as 0.
    pub(super) is_counted: bool,
}

#[derive(Clone, Debug)]
enum Part {
    /// Words, and seconds of sound.
    Say(String, f64),
    /// The same, of which the second half never comes.
    Half(String, f64),
    Call(String, Value),
    Sound,
    Words,
    Huge(usize),
}

#[derive(Clone, Copy, Debug)]
enum Ending {
    /// `response.done` with a status and a reason.
    Done(&'static str, Option<&'static str>),
    /// Nothing more comes.
    Stalls,
    /// The connection is gone.
    Cut,
    /// The session is too old.
    Expired,
}

impl Answer {
    fn of(parts: Vec<Part>, ending: Ending) -> Self {
        Self { parts, ending, is_strange: false, is_counted: true }
    }

    fn whole(parts: Vec<Part>) -> Self {
        Self::of(parts, Ending::Done("completed", None))
    }

    /// Says `text` in so many seconds.
    pub fn say(text: &str, seconds: f64) -> Self {
        Self::whole(vec![Part::Say(text.to_owned(), seconds)])
    }

    /// Calls one tool.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::calls(&[(name, arguments)])
    }

    /// Calls several tools at once.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let call =
            |(name, arguments): &(&str, Value)| Part::Call((*name).to_owned(), arguments.clone());
        Self::whole(calls.iter().map(call).collect())
    }

    /// Says something, then calls a tool.
    pub fn say_and_call(text: &str, seconds: f64, (name, arguments): (&str, Value)) -> Self {
        let call = Part::Call(name.to_owned(), arguments);
        Self::whole(vec![Part::Say(text.to_owned(), seconds), call])
    }

    /// A call with all its arguments, of an answer that the service then cancels.
    pub fn call_then_cancelled(name: &str, arguments: Value) -> Self {
        let ending = Ending::Done("cancelled", Some("turn_detected"));
        Self { ending, ..Self::call(name, arguments) }
    }

    /// The same of an answer that became too long.
    pub fn call_then_cut_off(name: &str, arguments: Value) -> Self {
        let ending = Ending::Done("incomplete", Some("max_output_tokens"));
        Self { ending, ..Self::call(name, arguments) }
    }

    /// Fails before any sound; the session goes on.
    pub fn failed() -> Self {
        Self::of(Vec::new(), Ending::Done("failed", None))
    }

    /// Begins, and is silent for ever.
    pub fn stall() -> Self {
        Self::of(Vec::new(), Ending::Stalls)
    }

    /// The connection is gone before any sound.
    pub fn cut() -> Self {
        Self::of(Vec::new(), Ending::Cut)
    }

    /// The connection is gone in the middle of this.
    pub fn cut_in(text: &str, seconds: f64) -> Self {
        Self::of(vec![Part::Half(text.to_owned(), seconds)], Ending::Cut)
    }

    /// The session has expired: an error, then a close with 1001.
    pub fn expired() -> Self {
        Self::of(Vec::new(), Ending::Expired)
    }

    /// Sound without end.
    pub fn endless_sound() -> Self {
        Self::of(vec![Part::Sound], Ending::Stalls)
    }

    /// Words without sound and without end.
    pub fn endless_words() -> Self {
        Self::of(vec![Part::Words], Ending::Stalls)
    }

    /// So many calls of one tool.
    pub fn many_calls(count: usize, name: &str, arguments: &Value) -> Self {
        Self::calls(&vec![(name, arguments.clone()); count])
    }

    /// One event of so many bytes before what is said.
    pub fn huge(bytes: usize, text: &str, seconds: f64) -> Self {
        Self::whole(vec![Part::Huge(bytes), Part::Say(text.to_owned(), seconds)])
    }

    /// Says something between kinds of events and values that nobody knows, and a binary frame.
    pub fn strange(text: &str, seconds: f64) -> Self {
        Self { is_strange: true, ..Self::say(text, seconds) }
    }

    /// Says something, and tells counts of 0.
    pub fn uncounted(text: &str, seconds: f64) -> Self {
        Self { is_counted: false, ..Self::say(text, seconds) }
    }
}

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
    /// The same again and again.
    Forever(Box<Self>),
    /// Sends `response.done`.
    Done(&'static str, Option<&'static str>),
    /// The connection is gone.
    Cut,
    /// The session has expired.
    Expired,
}

impl Out {
    /// Whether it is sound, once or again and again.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Sound(..) => true,
            Self::Forever(out) => out.is_sound(),
            _ => false,
        }
    }
}

/// What is being planned.
struct Plan {
    response: String,
    number: usize,
    index: usize,
    outs: VecDeque<Out>,
}

impl Answer {
    /// The pieces of the answer `number` of the service, called `response`.
    pub(super) fn plan(&self, number: usize, response: &str) -> VecDeque<Out> {
        let response = response.to_owned();
        let mut plan = Plan { response, number, index: 0, outs: VecDeque::new() };
        if self.is_strange {
            plan.strange();
        }
        for part in &self.parts {
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
        if self.is_strange {
            plan.strange();
        }
        match self.ending {
            Ending::Done(status, reason) => plan.outs.push_back(Out::Done(status, reason)),
            Ending::Stalls => {}
            Ending::Cut => plan.outs.push_back(Out::Cut),
            Ending::Expired => plan.outs.push_back(Out::Expired),
        }
        plan.outs
    }
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
        let mut deltas = self.deltas(text, seconds, is_whole);
        if !is_whole {
            deltas.truncate(deltas.len() / 2);
        }
        self.outs.extend(deltas);
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

    /// Words and sound; of an answer that will be cut off they come side by side.
    fn deltas(&self, text: &str, seconds: f64, is_whole: bool) -> Vec<Out> {
        let pieces = pieces(seconds);
        let words: Vec<&str> = text.split_inclusive(' ').collect();
        let sounds = (0..pieces).map(|at| (at as f64, self.sound(at)));
        // The place of a word among the pieces of sound.
        let place = |at: usize| match self.number % 3 {
            0 if is_whole => -1.0,
            1 if is_whole => pieces as f64,
            _ => at as f64 * pieces as f64 / words.len() as f64 - 0.5,
        };
        let said = words.iter().enumerate().map(|(at, word)| (place(at), self.words(word)));
        let mut all: Vec<(f64, Out)> = said.chain(sounds).collect();
        // Stable, so words stay in their order.
        all.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        all.into_iter().map(|(_, out)| out).collect()
    }

    fn sound(&self, at: usize) -> Out {
        let event = self.event("response.output_audio.delta", json!({ "delta": tone(at) }));
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
        let out = if is_sound { self.sound(0) } else { self.words(&"word ".repeat(FLOOD / 5)) };
        self.outs.push_back(Out::Forever(Box::new(out)));
    }

    fn huge(&mut self, bytes: usize) {
        let more = json!({"type": "response.remark", "text": "x".repeat(bytes)});
        self.push("response.remark", more);
    }

    /// What a newer version of the service may say.
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

/// Pieces of sound in so many seconds, one at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "answers here last seconds"
)]
fn pieces(seconds: f64) -> usize {
    ((seconds * 1_000.0 / PIECE_MS as f64).round() as usize).max(1)
}

/// The piece `at` of a tone of 220 Hz, as base64.
#[expect(clippy::cast_possible_truncation, reason = "a sample fits")]
fn tone(at: usize) -> String {
    let length = RATE as usize * PIECE_MS as usize / 1_000;
    let samples = (at * length..(at + 1) * length).map(|at| {
        let phase = at as f64 * 220.0 / f64::from(RATE) * TAU;
        (phase.sin() * 8_000.0) as i16
    });
    STANDARD.encode(samples.flat_map(i16::to_le_bytes).collect::<Vec<u8>>())
}
