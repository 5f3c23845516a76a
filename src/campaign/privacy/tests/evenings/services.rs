//! Services of an evening: they repeat and remember their input.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::words::{Word, answered_in, said_in};
use crate::{
    domain::{CallId, Message, ToolCall},
    engine::tests::props::{Hum, ms},
    provider::{ChatEvent, ChatModel, ChatRequest, Error, OneShot, Pcm, SpeakRequest},
    session::Halts,
    tools::{
        ApprovalRequest, Attachment, CallContext, CallError, CallOutput, Decision, Declared,
        Definition, Effects, Handler,
    },
};

/// Everything sent to a service, in order, and forbidden finds.
#[derive(Default)]
pub struct Wire {
    sent: Mutex<Vec<Sent>>,
    /// Words that people have said.
    pub words: AtomicUsize,
    /// Places of words that are deleted.
    pub found: Mutex<Vec<String>>,
}

struct Sent {
    to: &'static str,
    /// Distinguishes its turn from others.
    turn: Option<String>,
    text: String,
}

impl Wire {
    fn send(&self, to: &'static str, turn: Option<String>, text: String) {
        self.sent.lock().unwrap().push(Sent { to, turn, text });
    }

    /// Messages so far.
    pub fn count(&self) -> usize {
        self.sent.lock().unwrap().len()
    }

    /// Messages since number `from` that hold one of `words`, said or answered. A turn that had
    /// begun keeps its words.
    pub fn since(&self, from: usize, words: &BTreeSet<Word>) -> Vec<String> {
        let sent = self.sent.lock().unwrap();
        let (before, after) = sent.split_at(from.min(sent.len()));
        let begun: HashSet<&str> = before.iter().filter_map(|it| it.turn.as_deref()).collect();
        let is_new = |it: &&Sent| it.turn.as_deref().is_none_or(|turn| !begun.contains(turn));
        let mut found = Vec::new();
        for Sent { to, text, .. } in after.iter().filter(is_new) {
            let all = said_in(text).into_iter().chain(answered_in(text));
            let held = all.filter(|it| words.contains(it));
            found.extend(held.map(|word| format!("{} was sent to {to}: {text}", word.said())));
        }
        found
    }

    /// Requests so far that were summaries.
    pub fn summaries(&self) -> usize {
        self.sent.lock().unwrap().iter().filter(|it| it.text.contains(SUMMARY)).count()
    }

    /// Calls so far of this tool.
    pub fn calls(&self, tool: &str) -> usize {
        self.sent.lock().unwrap().iter().filter(|it| it.to == tool).count()
    }
}

const VOICE: &str = "the voice";
const SUMMARY: &str = "You sum up";

/// A chat model that repeats the words of the last message, in calls of tools too.
pub struct Echo {
    pub wire: Arc<Wire>,
    pub window: Option<u32>,
}

impl ChatModel for Echo {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn window(&self) -> Option<u32> {
        self.window
    }

    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        let turn = turn_of(&request.messages);
        self.wire.send("the model", turn, format!("{:?}", request.messages));
        let (wait, event) = echo(&request);
        stream::once(async move {
            sleep(wait).await;
            Ok(event)
        })
        .boxed()
    }
}

/// The message of a turn, or of one with a late result: the arguments of its call.
fn turn_of(messages: &[Message]) -> Option<String> {
    let at = messages.iter().rposition(|it| matches!(it, Message::User(_)))?;
    let Some((Message::User(said), since)) = messages[at..].split_first() else { return None };
    if !said_in(&said.text).is_empty() {
        return Some(said.text.clone());
    }
    since.iter().find_map(|message| match message {
        Message::Assistant { calls, .. } => calls.first().map(|call| call.arguments.clone()),
        _ => None,
    })
}

/// A model's answer to a request, and its delay.
fn echo(request: &ChatRequest) -> (Duration, ChatEvent) {
    let is_summary =
        matches!(request.messages.first(), Some(Message::System(asked)) if asked.contains(SUMMARY));
    match request.messages.last() {
        Some(Message::User(told)) if is_summary => {
            let words: Vec<String> = said_in(&told.text).into_iter().map(Word::said).collect();
            let text = format!("They spoke of {}.", words.join(" and "));
            (ms(1_500), ChatEvent::Text(text))
        }
        // The words said to the NPC are last, after the overheard ones.
        Some(Message::User(said)) => match said_in(&said.text).last() {
            Some(word) => to_word(*word, request),
            None => (ms(100), ChatEvent::Text("Well met.".to_owned())),
        },
        Some(Message::Tool { content, .. }) => (ms(200), answer(&said_in(content))),
        _ => (ms(100), ChatEvent::Text("Well met.".to_owned())),
    }
}

fn to_word(word: Word, request: &ChatRequest) -> (Duration, ChatEvent) {
    let wait = ms(50 + u64::try_from(word.0 * 137 % 1_200).unwrap());
    let tool = match word.0 % 4 {
        0 => None,
        number => request.tools.get(number - 1),
    };
    let event = tool.map_or_else(
        || answer(&[word]),
        |tool| {
            ChatEvent::ToolCall(ToolCall {
                id: CallId(format!("call-{}", word.0)),
                name: tool.name.to_string(),
                arguments: json!({ "about": word.said() }).to_string(),
                extra: Map::new(),
            })
        },
    );
    (wait, event)
}

fn answer(words: &[Word]) -> ChatEvent {
    let words: Vec<String> = words.iter().map(|word| word.answered()).collect();
    let round = " and turns".repeat(12);
    ChatEvent::Text(format!("Well, {} turns{round} by the old mill.", words.join(" and ")))
}

/// A voice that hums for a short while.
pub struct Voice {
    pub wire: Arc<Wire>,
    pub hum: Hum,
}

impl OneShot for Voice {
    fn name(&self) -> &str {
        "hum"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        self.wire.send(VOICE, None, request.text.clone());
        self.hum.speak(request)
    }
}

/// A tool that takes its time and repeats its arguments.
struct Repeats {
    wire: Arc<Wire>,
    name: &'static str,
    takes: Duration,
}

impl Handler for Repeats {
    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            self.wire.send(self.name, None, Value::Object(arguments.clone()).to_string());
            sleep(self.takes).await;
            Ok(CallOutput::json(json!({ "found": arguments.get("about") })))
        }
        .boxed()
    }
}

/// `near` answers within a turn, `far` after it, and `asks` waits for the game master.
pub fn tools(wire: &Arc<Wire>) -> Vec<Definition> {
    let late = Declared { follow_up: Some(true), ..declared(6_000) };
    let asks = Declared { approval: Some(true), ..declared(300) };
    [("near", 300, declared(300)), ("far", 6_000, late), ("asks", 300, asks)]
        .map(|(name, takes, declared)| Definition {
            name: name.to_owned(),
            description: String::new(),
            input: json!({ "type": "object" }),
            output: None,
            declared,
            handler: Arc::new(Repeats { wire: Arc::clone(wire), name, takes: ms(takes) }),
        })
        .into()
}

fn declared(takes: u64) -> Declared {
    Declared { estimated: Some(ms(takes)), max: Some(ms(2 * takes)), ..Declared::default() }
}

/// The face: a game master who decides late.
pub struct Face {
    pub halts: Arc<Halts>,
    pub asked: AtomicU64,
}

impl Effects for Face {
    fn show(&self, _: &str) {}

    fn attach(&self, _: &str, _: &Attachment) -> bool {
        true
    }

    fn halts(&self) -> u64 {
        self.halts.count()
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        None
    }

    fn approve(&self, _: ApprovalRequest) -> BoxFuture<'static, Decision> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        async move {
            sleep(ms(1_000 + asked * 1_700 % 6_000)).await;
            match asked % 3 {
                2 => Decision::Deny("not now".to_owned()),
                _ => Decision::Approve,
            }
        }
        .boxed()
    }
}
