//! The messages of one turn: a context of the service's multi-context socket.
//!
//! Entry type: [`Context`]. Text goes out in snake case, answers come back in camel case. A context
//! counts as open until `isFinal`; its name is never used again, and messages of others are
//! skipped. **Never**: uses two contexts of a socket at a time.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{
    alignment::Aligned,
    failure::{Told, said},
};
use crate::{
    audio::{SampleRate, SplitSamples},
    domain::Pronunciation,
    provider::{
        Error, Pcm, Sentence, respell,
        text_to_speech::written_speed,
        voices::socket::{LineEvent, Peer, TurnMessages},
    },
};

/// The service's bounds of its own speed.
const SPEEDS: (f32, f32) = (0.7, 1.2);

/// Speed at which the service speaks a voice with this factor.
pub const fn own_speed(factor: f32) -> f32 {
    let (slowest, fastest) = SPEEDS;
    factor.clamp(slowest, fastest)
}

pub struct Context {
    id: String,
    peer: Arc<Peer>,
    /// Speed of the voice at the service.
    speed: f32,
    pronunciation: Arc<[Pronunciation]>,
    sentences: Aligned,
    is_open: bool,
    /// We have closed it; sound may still come.
    is_closed: bool,
    split: SplitSamples,
}

impl Context {
    pub fn new(
        id: String,
        peer: Arc<Peer>,
        speed: f32,
        pronunciation: Arc<[Pronunciation]>,
    ) -> Self {
        let (is_open, is_closed) = (false, false);
        let sentences = Aligned::default();
        let split = SplitSamples::default();
        Self { id, peer, speed, pronunciation, sentences, is_open, is_closed, split }
    }

    /// Opens the context; settings are taken in this message only.
    fn opens(&self) -> Message {
        let mut first = json!({"text": " ", "context_id": self.id});
        if let Some(speed) = written_speed(self.speed) {
            first["voice_settings"] = json!({"speed": speed});
        }
        Message::text(first.to_string())
    }

    fn close(&mut self) -> Vec<Message> {
        if !self.is_open || self.is_closed {
            return Vec::new();
        }
        self.is_closed = true;
        vec![Message::text(json!({"context_id": self.id, "close_context": true}).to_string())]
    }
}

impl TurnMessages for Context {
    fn say(&mut self, sentence: &Sentence) -> Vec<Message> {
        let text = respell(&sentence.text, &self.pronunciation);
        self.sentences.add(&text);
        let first = (!self.is_open).then(|| self.opens());
        self.is_open = true;
        // Without the blank, words of two sentences could join.
        let text = format!("{} ", text.trim());
        let said = json!({"text": text, "context_id": self.id, "flush": true});
        first.into_iter().chain([Message::text(said.to_string())]).collect()
    }

    /// The service speaks what it has and closes the context.
    fn finish(&mut self) -> Vec<Message> {
        self.close()
    }

    fn cancel(&mut self) -> Option<Vec<Message>> {
        Some(self.close())
    }

    fn read(&mut self, message: &Message) -> Result<Vec<LineEvent>, Error> {
        let Some(json) = self.peer.read(message)? else { return Ok(Vec::new()) };
        let member = |names: [&str; 2]| names.iter().find_map(|name| json.get(name));
        if json.get("error").is_some_and(|error| !error.is_null()) {
            return Err(said(&self.peer, &Told::read(&json)));
        }
        let whose = member(["contextId", "context_id"]).and_then(Value::as_str);
        if whose.is_some_and(|whose| whose != self.id) {
            return Ok(Vec::new());
        }
        let mut events = Vec::new();
        let sound = json.get("audio").and_then(Value::as_str).filter(|sound| !sound.is_empty());
        let is_final = member(["isFinal", "is_final"]).and_then(Value::as_bool) == Some(true);
        if let Some(sound) = sound {
            let bytes = STANDARD.decode(sound).map_err(|_| self.peer.not_sound())?;
            let samples = self.split.push(&bytes);
            let pcm = Pcm { samples, rate: SampleRate::HZ_24000 };
            events = self.sentences.chunk(pcm, json.get("alignment"));
        } else if !is_final {
            self.peer.notes("a message without sound");
        }
        if is_final {
            events.extend(self.sentences.end());
            events.push(LineEvent::Free);
        }
        Ok(events)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{MODEL, NAME, Options},
        *,
    };
    use crate::provider::{Attempts, Kind};

    fn context(speed: f32) -> Context {
        let peer = Arc::new(Peer::new(NAME, &Options::of_tests("http://127.0.0.1:9", MODEL)));
        let word = |word: &str, respelling: &str| Pronunciation {
            word: word.to_owned(),
            respelling: respelling.to_owned(),
        };
        Context::new("turn-7".to_owned(), peer, speed, Arc::from([word("Bartok", "bar tock")]))
    }

    fn sentence(text: &str) -> Sentence {
        Sentence { text: text.to_owned(), foreign: None, attempts: Attempts::default() }
    }

    fn json(messages: &[Message]) -> Vec<Value> {
        let text = messages.iter().map(|it| it.to_text().unwrap());
        text.map(|it| serde_json::from_str(it).unwrap()).collect()
    }

    #[test]
    fn settings_are_sent_in_the_first_message_only() {
        let mut context = context(own_speed(1.9));
        assert_eq!(
            json(&context.say(&sentence("Bartok? Aye."))),
            [
                json!({"text": " ", "context_id": "turn-7", "voice_settings": {"speed": 1.2}}),
                json!({"text": "bar tock? Aye. ", "context_id": "turn-7", "flush": true}),
            ]
        );
        assert_eq!(
            json(&context.say(&sentence("No."))),
            [json!({"text": "No. ", "context_id": "turn-7", "flush": true})]
        );
        let closes = [json!({"context_id": "turn-7", "close_context": true})];
        assert_eq!(json(&context.finish()), closes);
        assert_eq!(context.cancel(), Some(Vec::new()), "it is closed once");
    }

    #[test]
    fn sound_of_other_contexts_is_skipped() {
        let mut context = context(1.0);
        context.say(&sentence("Aye."));
        let mut read = |value: Value, is_text: bool| {
            let message = match is_text {
                true => Message::text(value.to_string()),
                false => Message::binary(value.to_string().into_bytes()),
            };
            context.read(&message).unwrap()
        };
        let late = json!({"audio": STANDARD.encode([1, 0]), "contextId": "turn-6"});
        assert_eq!(read(late, true), []);
        assert_eq!(read(json!({"isFinal": true, "contextId": "turn-6"}), true), []);
        assert_eq!(read(json!({"mood": 1, "contextId": "turn-7"}), true), []);
        assert_eq!(read(json!([1]), false), []);
        let sound = |samples: &[i16]| {
            let samples = samples.to_vec();
            LineEvent::Sound(Pcm { samples, rate: SampleRate::HZ_24000 })
        };
        let odd = json!({"audio": STANDARD.encode([1, 0, 2]), "contextId": "turn-7"});
        assert_eq!(read(odd, false), [sound(&[1])]);
        let rest = json!({"audio": STANDARD.encode([0]), "contextId": "turn-7", "alignment": null});
        assert_eq!(read(rest, true), [sound(&[2])]);
        let last = json!({"audio": null, "isFinal": true, "contextId": "turn-7"});
        assert_eq!(read(last, true), [LineEvent::Done, LineEvent::Free]);
    }

    #[test]
    fn errors_end_the_turn() {
        let mut context = context(1.0);
        let mut kind =
            |value: Value| context.read(&Message::text(value.to_string())).unwrap_err().kind();
        let crowded = Kind::Crowded { retry_after: None };
        assert_eq!(kind(json!({"error": "max_active_conversations", "code": 1008})), crowded);
        assert_eq!(kind(json!({"error": "quota_exceeded"})), Kind::Unauthorized);
        assert_eq!(kind(json!({"audio": "no base64 !"})), Kind::Protocol);
    }
}
