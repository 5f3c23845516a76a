//! The messages of one turn.
//!
//! Entry type: [`Turn`]. Its sentences are inputs of one context while the service surely keeps it,
//! and of the next one after a pause. Sound of the next context that comes early is held until the
//! sentences before it are spoken. Names of contexts are never reused, so late messages of a
//! cancelled one are skipped. **Never**: sends a text without words, which the service refuses.

use std::{
    collections::VecDeque,
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::{
    context::Context,
    failure::{Told, said},
};
use crate::{
    domain::Pronunciation,
    provider::{
        Error, Kind, Sentence, respell,
        voices::socket::{LineEvent, Peer, TurnMessages},
    },
};

/// Most sound held for sentences that wait for earlier ones.
const HELD: Duration = Duration::from_secs(60);

pub struct Turn {
    peer: Arc<Peer>,
    /// Contexts of the service so far.
    named: Arc<AtomicU64>,
    /// Members of each message.
    request: Map<String, Value>,
    pronunciation: Arc<[Pronunciation]>,
    /// The first one speaks; only the last one may be without a sentence.
    contexts: VecDeque<Context>,
}

impl Turn {
    pub fn new(
        peer: Arc<Peer>,
        named: Arc<AtomicU64>,
        request: Map<String, Value>,
        pronunciation: Arc<[Pronunciation]>,
    ) -> Self {
        Self { peer, named, request, pronunciation, contexts: VecDeque::new() }
    }

    /// The context of the next input.
    fn context(&mut self, now: Instant) -> Option<&mut Context> {
        let is_alive = self.contexts.back().is_some_and(|it| it.is_alive(now));
        if !is_alive {
            let number = self.named.fetch_add(1, Ordering::Relaxed);
            self.contexts.push_back(Context::new(format!("turn-{number}"), now));
        }
        self.contexts.back_mut()
    }

    fn input(&self, context: &str, text: &str, continues: bool) -> Message {
        let mut message = self.request.clone();
        message.insert("context_id".to_owned(), json!(context));
        message.insert("transcript".to_owned(), json!(text));
        message.insert("continue".to_owned(), json!(continues));
        Message::text(Value::Object(message).to_string())
    }

    /// Takes a message to the context at `at`.
    fn take(&mut self, at: usize, message: &Value) -> Result<(), Error> {
        let Some(context) = self.contexts.get_mut(at) else { return Ok(()) };
        match message.get("type").and_then(Value::as_str).unwrap_or_default() {
            // It has nothing more to say.
            "error" if context.is_spoken() => {}
            "error" => return Err(said(&self.peer, &Told::read(message))),
            "chunk" => {
                let data = message.get("data").and_then(Value::as_str).unwrap_or_default();
                let sound = STANDARD.decode(data).map_err(|_| self.peer.not_sound())?;
                context.sound(&sound);
            }
            "timestamps" => context.words(message.get("word_timestamps").unwrap_or(&Value::Null)),
            "flush_done" => context.flushed(),
            "done" | "phoneme_timestamps" => {}
            _ => self.peer.notes("a message of another type"),
        }
        if message.get("done").and_then(Value::as_bool) == Some(true) {
            context.done();
        }
        if at > 0 && context.held() > HELD {
            let what = "it sends more sound than a sentence can take";
            return Err(self.peer.error(Kind::Protocol, what, "try again, or check base_url"));
        }
        Ok(())
    }

    /// Events up to the first sentence that is not spoken.
    fn ready(&mut self) -> Vec<LineEvent> {
        let mut events = Vec::new();
        while let Some(first) = self.contexts.front_mut() {
            events.append(&mut first.take());
            if !first.is_spoken() || self.contexts.len() == 1 {
                break;
            }
            self.contexts.pop_front();
        }
        events
    }
}

impl TurnMessages for Turn {
    fn say(&mut self, sentence: &Sentence) -> Vec<Message> {
        let text = respell(&sentence.text, &self.pronunciation);
        let now = Instant::now();
        let Some(context) = self.context(now) else { return Vec::new() };
        context.add(&text, now);
        let id = context.id.clone();
        if !text.contains(char::is_alphanumeric) {
            return Vec::new();
        }
        // The service joins texts as they are.
        vec![self.input(&id, &format!("{} ", text.trim()), true)]
    }

    /// A context that may have expired ends by itself.
    fn finish(&mut self) -> Vec<Message> {
        let alive = self.contexts.back_mut().filter(|it| it.is_alive(Instant::now()));
        let Some(context) = alive else { return Vec::new() };
        context.end();
        let id = context.id.clone();
        vec![self.input(&id, "", false)]
    }

    fn cancel(&mut self) -> Option<Vec<Message>> {
        let unspoken = mem::take(&mut self.contexts).into_iter().filter(|it| !it.is_spoken());
        let order = |it: Context| json!({"context_id": it.id, "cancel": true}).to_string();
        Some(unspoken.map(|it| Message::text(order(it))).collect())
    }

    /// Late messages name their context, so they cannot be taken for another turn's. Whether the
    /// service confirms that a context is cancelled is not known.
    fn is_free(&self) -> bool {
        self.contexts.iter().all(Context::is_spoken)
    }

    fn read(&mut self, message: &Message) -> Result<Vec<LineEvent>, Error> {
        let Some(message) = self.peer.read(message)? else { return Ok(Vec::new()) };
        let whose = message.get("context_id").and_then(Value::as_str);
        match whose.map(|id| self.contexts.iter().position(|it| it.id == id)) {
            Some(Some(at)) => self.take(at, &message)?,
            Some(None) => {}
            None if message.get("type") != Some(&json!("error")) => {
                self.peer.notes("a message without a context");
            }
            None if self.is_free() => {}
            None => return Err(said(&self.peer, &Told::read(&message))),
        }
        Ok(self.ready())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{
        Attempts,
        voices::{
            cartesia::{MODEL, NAME},
            socket::Options,
        },
    };

    fn turn() -> Turn {
        let peer = Arc::new(Peer::new(NAME, &Options::of_tests("http://127.0.0.1:9", MODEL)));
        let request = Map::from_iter([("model_id".to_owned(), json!("sonic-3.6"))]);
        let (word, respelling) = ("Bartok".to_owned(), "bar tock".to_owned());
        Turn::new(peer, Arc::default(), request, Arc::from([Pronunciation { word, respelling }]))
    }

    fn say(turn: &mut Turn, text: &str) -> Vec<Value> {
        let attempts = Attempts::default();
        json(turn.say(&Sentence { text: text.to_owned(), foreign: None, attempts }))
    }

    fn json(messages: Vec<Message>) -> Vec<Value> {
        let text = messages.iter().map(|it| it.to_text().unwrap());
        text.map(|it| serde_json::from_str(it).unwrap()).collect()
    }

    fn read(turn: &mut Turn, value: &Value) -> Vec<LineEvent> {
        turn.read(&Message::text(value.to_string())).unwrap()
    }

    fn chunk(context: &str) -> Value {
        json!({"type": "chunk", "context_id": context, "done": false, "data": STANDARD.encode([1, 0])})
    }

    fn flushed(context: &str) -> Value {
        json!({"type": "flush_done", "context_id": context, "done": false, "flush_done": true})
    }

    fn input(context: &str, text: &str, continues: bool) -> Value {
        let model = "sonic-3.6";
        json!({"model_id": model, "context_id": context, "transcript": text, "continue": continues})
    }

    #[tokio::test(start_paused = true)]
    async fn turn_is_one_context_while_it_lives() {
        let mut turn = turn();
        assert_eq!(say(&mut turn, "Bartok? Aye."), [input("turn-0", "bar tock? Aye. ", true)]);
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(say(&mut turn, "No."), [input("turn-0", "No. ", true)]);
        assert_eq!(say(&mut turn, "…"), [] as [Value; 0]);
        assert_eq!(json(turn.finish()), [input("turn-0", "", false)]);
        assert_eq!(read(&mut turn, &chunk("turn-0")).len(), 1);
        assert_eq!(read(&mut turn, &flushed("turn-0")), [LineEvent::Done]);
        assert!(!turn.is_free());
        assert_eq!(read(&mut turn, &flushed("turn-0")), [LineEvent::Done, LineEvent::Done]);
        assert!(turn.is_free());
        let late = json!({"type": "done", "context_id": "turn-0", "done": true});
        assert_eq!(read(&mut turn, &late), []);
    }

    #[tokio::test(start_paused = true)]
    async fn pause_begins_another_context() {
        let mut turn = turn();
        say(&mut turn, "Aye.");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(say(&mut turn, "No."), [input("turn-1", "No. ", true)]);
        assert_eq!(read(&mut turn, &chunk("turn-1")), [], "it waits for the first sentence");
        assert_eq!(read(&mut turn, &flushed("turn-1")), []);
        assert_eq!(read(&mut turn, &chunk("turn-0")).len(), 1);
        let both = read(&mut turn, &flushed("turn-0"));
        assert_eq!((both.len(), &both[0], &both[2]), (3, &LineEvent::Done, &LineEvent::Done));
        assert!(turn.is_free());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(turn.finish(), [], "it ends by itself");
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_turn_is_free_at_once() {
        let mut turn = turn();
        say(&mut turn, "Aye.");
        let cancel = json!({"context_id": "turn-0", "cancel": true});
        assert_eq!(json(turn.cancel().unwrap()), [cancel]);
        assert!(turn.is_free());
        assert_eq!(read(&mut turn, &chunk("turn-0")), []);
        let error = json!({"type": "error", "done": true, "context_id": "turn-0"});
        assert_eq!(read(&mut turn, &error), []);
    }

    #[tokio::test(start_paused = true)]
    async fn errors_end_the_turn() {
        let kind = |value: Value| {
            let mut turn = turn();
            say(&mut turn, "Aye.");
            turn.read(&Message::text(value.to_string())).unwrap_err().kind()
        };
        let error = |context: Option<&str>, code: Option<&str>, status: u16| {
            json!({"type": "error", "done": true, "context_id": context, "error_code": code,
                "status_code": status, "title": "No", "message": "no"})
        };
        let crowded = Kind::Crowded { retry_after: None };
        assert_eq!(kind(error(Some("turn-0"), Some("concurrency_limited"), 429)), crowded);
        assert_eq!(kind(error(Some("turn-0"), None, 400)), Kind::InvalidRequest);
        assert_eq!(kind(error(None, Some("quota_exceeded"), 402)), Kind::Unauthorized);
        let broken = json!({"type": "chunk", "context_id": "turn-0", "data": "no base64 !"});
        assert_eq!(kind(broken), Kind::Protocol);
        let mut turn = turn();
        say(&mut turn, "Aye.");
        let error = error(Some("turn-of-another"), None, 400);
        assert_eq!(read(&mut turn, &error), []);
        assert_eq!(read(&mut turn, &json!({"type": "mood"})), []);
        assert_eq!(turn.read(&Message::binary(b"[1]".to_vec())).unwrap(), []);
    }
}
