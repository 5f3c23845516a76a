//! Converts messages to the service's form: a prompt, then alternating users and assistants made of
//! blocks, with every call answered first thing in the next message.
//!
//! Entry functions: [`write()`], [`lacks_thoughts`], [`mark`]; [`thoughts`] and [`with_thoughts`]
//! attach an answer to its calls until they are answered. Omits or repairs what the service would
//! refuse (empty text, odd ids). **Never**: changes a word.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::{
    domain::{Message, Said, ToolCall},
    provider::remote::{self, NO_RESULT},
};

/// Fills in where a conversation would begin or end with the assistant, which is refused.
const NOTHING: &str = "[go on]";

pub struct Conversation {
    /// Blocks of the prompt, the last of them marked for the cache.
    pub system: Vec<Value>,
    /// Alternating users and assistants, a user first.
    pub messages: Vec<Value>,
    /// Names of called tools, each once.
    pub called: Vec<String>,
}

/// `goes_back`: sends calls of this turn back inside their original answers.
pub fn write(messages: &[Message], goes_back: bool) -> Conversation {
    let mut writer = Writer::default();
    let turn = turn(messages);
    for (at, message) in messages.iter().enumerate() {
        if Some(at) == turn {
            writer.mark_last();
        }
        match message {
            Message::System(text) => writer.system.extend(text_block(text)),
            Message::User(Said { text, .. }) | Message::Summary { text, .. } => {
                writer.push("user", text_block(text));
            }
            Message::Assistant { text, calls, .. } if calls.is_empty() => {
                writer.push("assistant", text_block(text));
            }
            Message::Assistant { text, calls, .. } => {
                let is_now = goes_back && turn.is_some_and(|turn| turn < at);
                let answer = is_now.then(|| thoughts(calls)).flatten();
                let after = messages.get(at + 1..).unwrap_or_default();
                writer.calls(Called { text, calls, answer, after });
            }
            // Written with the message that called it; results without a call are dropped.
            Message::Tool { .. } => {}
        }
    }
    writer.finish()
}

/// True if calls that await an answer have no thoughts, which a thinking budget requires.
pub fn lacks_thoughts(messages: &[Message]) -> bool {
    let now = turn(messages).and_then(|turn| messages.get(turn..)).unwrap_or_default();
    now.iter().any(|message| match message {
        Message::Assistant { calls, .. } => !calls.is_empty() && thoughts(calls).is_none(),
        _ => false,
    })
}

/// Marks the end of a part that stays the same from request to request.
pub fn mark(block: &mut Value) {
    if let Value::Object(members) = block {
        members.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
}

/// Blocks of the answer that contained `calls`, if it had thoughts.
pub fn thoughts(calls: &[ToolCall]) -> Option<&Vec<Value>> {
    calls.first()?.extra.get(ToolCall::OF_TURN)?.get(super::NAME)?.as_array()
}

pub fn with_thoughts(calls: &mut [ToolCall], answer: Vec<Value>) {
    if let Some(first) = calls.first_mut() {
        first.extra.insert(ToolCall::OF_TURN.to_owned(), json!({ (super::NAME): answer }));
    }
}

/// Index of the turn's first message: the last from a user, or the last summary.
fn turn(messages: &[Message]) -> Option<usize> {
    messages.iter().rposition(|it| matches!(it, Message::User(_) | Message::Summary { .. }))
}

/// `None` for empty text, which is refused.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// Replaces characters that ids and names must not have.
fn plain(text: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let plain: String = text.chars().take(64).map(fits).collect();
    if plain.is_empty() { "_".to_owned() } else { plain }
}

struct Called<'m> {
    text: &'m str,
    calls: &'m [ToolCall],
    /// Blocks of the original answer, to be sent back unchanged.
    answer: Option<&'m Vec<Value>>,
    after: &'m [Message],
}

#[derive(Default)]
struct Writer {
    system: Vec<Value>,
    /// Role and blocks; adjacent roles differ.
    messages: Vec<(&'static str, Vec<Value>)>,
    ids: HashSet<String>,
    called: Vec<String>,
}

impl Writer {
    fn push(&mut self, role: &'static str, block: Option<Value>) {
        let Some(block) = block else { return };
        if self.messages.is_empty() && role != "user" {
            self.messages.push(("user", text_block(NOTHING).into_iter().collect()));
        }
        match self.messages.last_mut().filter(|(last, _)| *last == role) {
            Some((_, blocks)) => blocks.push(block),
            None => self.messages.push((role, vec![block])),
        }
    }

    fn calls(&mut self, called: Called) {
        let Called { text, calls, answer, after } = called;
        let ids: Vec<String> = match answer {
            Some(answer) => {
                answer.iter().for_each(|block| self.push("assistant", Some(block.clone())));
                calls.iter().map(|call| call.id.0.clone()).collect()
            }
            None => {
                self.push("assistant", text_block(text));
                calls.iter().map(|call| self.call(call)).collect()
            }
        };
        self.ids.extend(ids.iter().cloned());
        for call in calls {
            let name = plain(&call.name);
            if !self.called.contains(&name) {
                self.called.push(name);
            }
        }
        for (id, given) in ids.iter().zip(remote::results(calls, after)) {
            let mut result = json!({"type": "tool_result", "tool_use_id": id,
                "content": given.unwrap_or(NO_RESULT)});
            if given.is_none() {
                result["is_error"] = json!(true);
            }
            self.push("user", Some(result));
        }
    }

    /// Adds a call under a unique id.
    fn call(&mut self, call: &ToolCall) -> String {
        let mut id = plain(&call.id.0);
        while !self.ids.insert(id.clone()) {
            id.push('_');
        }
        let input: Map<String, Value> = remote::arguments(call).unwrap_or_default();
        let block = json!({"type": "tool_use", "id": id, "name": plain(&call.name),
            "input": input});
        self.push("assistant", Some(block));
        id
    }

    fn mark_last(&mut self) {
        if let Some((_, blocks)) = self.messages.last_mut()
            && let Some(block) = blocks.last_mut()
        {
            mark(block);
        }
    }

    fn finish(mut self) -> Conversation {
        self.system.last_mut().into_iter().for_each(mark);
        if self.messages.last().is_none_or(|(role, _)| *role != "user") {
            self.push("user", text_block(NOTHING));
        }
        let message = |(role, blocks)| json!({"role": role, "content": Value::Array(blocks)});
        let messages = self.messages.into_iter().map(message).collect();
        Conversation { system: self.system, messages, called: self.called }
    }
}
