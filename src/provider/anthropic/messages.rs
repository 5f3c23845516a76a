//! Messages as the service wants them: a prompt, then users and assistants in turn, each with its
//! blocks, every call answered at the head of the next message.
//!
//! Entry functions: [`write()`], [`lacks_thoughts`], [`mark`]; [`thoughts`] and [`with_thoughts`] are how
//! an answer travels with its calls until they are answered.
//! **Never**: changes a word; what the service would refuse (empty text, odd ids) is left out or put
//! right.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::{
    domain::{Message, Said, ToolCall},
    provider::remote::{self, NO_RESULT},
};

/// Text in place of a message where a conversation would begin or end with the assistant, which is
/// refused.
const NOTHING: &str = "[go on]";

/// A conversation in the service's words.
pub struct Conversation {
    /// Blocks of the prompt, the last of them marked for the cache.
    pub system: Vec<Value>,
    /// Messages after the prompt: players and NPC take turns, the player first.
    pub messages: Vec<Value>,
    /// Names of the tools that were called, each once.
    pub called: Vec<String>,
}

/// Writes `messages`; with `goes_back`, calls of this turn go back in the answers they stood in.
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
            // Written with the message that asked; one that nobody asked for is left out.
            Message::Tool { .. } => {}
        }
    }
    writer.finish()
}

/// True if calls that are being answered go without their thoughts: a model with a budget for thinking
/// wants them.
pub fn lacks_thoughts(messages: &[Message]) -> bool {
    let now = turn(messages).and_then(|turn| messages.get(turn..)).unwrap_or_default();
    now.iter().any(|message| match message {
        Message::Assistant { calls, .. } => !calls.is_empty() && thoughts(calls).is_none(),
        _ => false,
    })
}

/// Marks where a part ends that stays the same from request to request.
pub fn mark(block: &mut Value) {
    if let Value::Object(members) = block {
        members.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
}

/// The answer that `calls` stood in, block by block, if it had thoughts.
pub fn thoughts(calls: &[ToolCall]) -> Option<&Vec<Value>> {
    calls.first()?.extra.get(ToolCall::OF_TURN)?.get(super::NAME)?.as_array()
}

/// Has `calls` bring the answer along that they stood in.
pub fn with_thoughts(calls: &mut [ToolCall], answer: Vec<Value>) {
    if let Some(first) = calls.first_mut() {
        first.extra.insert(ToolCall::OF_TURN.to_owned(), json!({ (super::NAME): answer }));
    }
}

/// Index where the turn begins: at the last words that are not the model's own.
fn turn(messages: &[Message]) -> Option<usize> {
    messages.iter().rposition(|it| matches!(it, Message::User(_) | Message::Summary { .. }))
}

/// Text, unless there is none: empty text is refused.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// An id or a name with the letters that are allowed.
fn plain(text: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let plain: String = text.chars().take(64).map(fits).collect();
    if plain.is_empty() { "_".to_owned() } else { plain }
}

/// A message with calls.
struct Called<'m> {
    /// Text before them.
    text: &'m str,
    /// Calls of one answer, in its order.
    calls: &'m [ToolCall],
    /// The answer they stood in, where it goes back unchanged.
    answer: Option<&'m Vec<Value>>,
    /// The messages after it.
    after: &'m [Message],
}

/// Messages in the making.
#[derive(Default)]
struct Writer {
    system: Vec<Value>,
    /// Role and blocks; neighbours have different roles.
    messages: Vec<(&'static str, Vec<Value>)>,
    ids: HashSet<String>,
    called: Vec<String>,
}

impl Writer {
    /// Adds a block to the message of `role`.
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

    /// Adds calls, and one result for each.
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

    /// Adds one call under an id that no other has.
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

    /// Marks what was said so far for the cache.
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
