//! A turn of Aura (`/v1/speak`): every sentence is flushed, and ends when the service confirms that.
//!
//! Entry type: [`Aura`].

use std::{collections::VecDeque, sync::Arc};

use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::{
    orders::{order, respelled, sound, speak},
    said::Said,
    spent::Spent,
};
use crate::{
    audio::SplitSamples,
    domain::Pronunciation,
    provider::{
        Error, Kind, Sentence,
        deepgram::Peer,
        voices::socket::{LineEvent, TurnMessages},
    },
};

pub struct Aura {
    peer: Arc<Peer>,
    pronunciation: Arc<[Pronunciation]>,
    spent: Arc<Spent>,
    /// Of its socket.
    address: String,
    /// Sentences that are not spoken: true if one has words.
    unspoken: VecDeque<bool>,
    samples: SplitSamples,
    /// Sound of the turn has come: nothing of an earlier one follows.
    has_begun: bool,
    is_cancelled: bool,
    /// The socket has taken more within a minute than it may.
    is_over: bool,
}

impl Aura {
    pub fn new(
        peer: Arc<Peer>,
        pronunciation: Arc<[Pronunciation]>,
        spent: Arc<Spent>,
        address: String,
    ) -> Self {
        Self {
            peer,
            pronunciation,
            spent,
            address,
            unspoken: VecDeque::new(),
            samples: SplitSamples::default(),
            has_begun: false,
            is_cancelled: false,
            is_over: false,
        }
    }

    fn sound(&mut self, bytes: &[u8]) -> Vec<LineEvent> {
        if self.is_cancelled || self.unspoken.is_empty() {
            return Vec::new();
        }
        self.has_begun = true;
        vec![sound(self.samples.push(bytes))]
    }

    /// The end of the first sentence; nothing if it is that of a cancelled turn, which may come
    /// late: then the turn has words and no sound yet.
    fn flushed(&mut self) -> Vec<LineEvent> {
        let is_silent = self.unspoken.front().is_some_and(|has_words| !has_words);
        if !self.has_begun && !is_silent {
            return Vec::new();
        }
        self.unspoken.pop_front();
        self.samples = SplitSamples::default();
        let free = self.unspoken.is_empty().then_some(LineEvent::Free);
        [LineEvent::Done].into_iter().chain(free).collect()
    }
}

impl TurnMessages for Aura {
    fn say(&mut self, sentence: &Sentence) -> Vec<Message> {
        let text = respelled(&sentence.text, &self.pronunciation);
        self.unspoken.push_back(text.chars().any(char::is_alphanumeric));
        let has_room = self.spent.take(&self.address, text.chars().count(), Instant::now());
        self.is_over |= !has_room;
        vec![speak(&text), order("Flush")]
    }

    fn finish(&mut self) -> Vec<Message> {
        Vec::new()
    }

    fn cancel(&mut self) -> Option<Vec<Message>> {
        self.is_cancelled = true;
        Some(vec![order("Clear")])
    }

    fn read(&mut self, message: &Message) -> Result<Vec<LineEvent>, Error> {
        let said = match message {
            Message::Binary(bytes) => return Ok(self.sound(bytes)),
            Message::Text(text) => Said::read(text),
            _ => return Ok(Vec::new()),
        };
        match said {
            Said::Flushed if !self.is_cancelled => return Ok(self.flushed()),
            Said::Cleared if self.is_cancelled => return Ok(vec![LineEvent::Free]),
            Said::Warning(_) if self.is_over => {
                let what = "too many sentences a minute over one socket";
                let kind = Kind::RateLimited { retry_after: None };
                return Err(self.peer.error(kind, what, "wait a moment, or use a flux voice"));
            }
            other => other.settle(&self.peer)?,
        }
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Attempts;

    fn line() -> Aura {
        let peer = Arc::new(Peer::of_voices("http://127.0.0.1:9", None));
        Aura::new(peer, Arc::from([]), Arc::default(), String::new())
    }

    fn say(line: &mut Aura, text: &str) -> Vec<Message> {
        let attempts = Attempts::default();
        line.say(&Sentence { text: text.to_owned(), foreign: None, attempts })
    }

    fn read(line: &mut Aura, message: &str) -> Vec<LineEvent> {
        line.read(&Message::text(message)).unwrap()
    }

    fn hear(line: &mut Aura) -> usize {
        line.read(&Message::binary(vec![1_u8, 0])).unwrap().len()
    }

    const FLUSHED: &str = r#"{"type":"Flushed","sequence_id":0}"#;
    const CLEARED: &str = r#"{"type":"Cleared","sequence_id":1}"#;

    #[test]
    fn flushed_sentences_end_one_by_one() {
        let mut line = line();
        let messages = say(&mut line, "Aye.").into_iter().chain(say(&mut line, "No."));
        let messages: Vec<String> = messages.map(|it| it.to_text().unwrap().to_owned()).collect();
        let flush = r#"{"type":"Flush"}"#;
        let spoken = [r#"{"type":"Speak","text":"Aye."}"#, r#"{"type":"Speak","text":"No."}"#];
        assert_eq!(messages, [spoken[0], flush, spoken[1], flush]);
        assert_eq!(hear(&mut line), 1);
        assert_eq!(read(&mut line, FLUSHED), [LineEvent::Done]);
        assert_eq!(hear(&mut line), 1);
        assert_eq!(read(&mut line, FLUSHED), [LineEvent::Done, LineEvent::Free]);
        assert_eq!(hear(&mut line), 0, "nothing is spoken");
        say(&mut line, "…");
        assert_eq!(read(&mut line, FLUSHED), [LineEvent::Done, LineEvent::Free]);
    }

    #[test]
    fn cancelled_turn_is_silent_until_cleared() {
        let mut line = line();
        say(&mut line, "Aye.");
        assert_eq!(hear(&mut line), 1);
        let order = line.cancel().unwrap().remove(0);
        assert_eq!(order.to_text().unwrap(), r#"{"type":"Clear"}"#);
        assert_eq!(hear(&mut line), 0);
        assert_eq!(read(&mut line, FLUSHED), []);
        assert_eq!(read(&mut line, CLEARED), [LineEvent::Free]);
    }

    #[test]
    fn soundless_sentence_leaves_the_next_its_sound() {
        let mut line = line();
        for text in ["Aye.", "東京.", "No."] {
            say(&mut line, text);
        }
        assert_eq!(hear(&mut line), 1);
        assert_eq!(read(&mut line, FLUSHED), [LineEvent::Done]);
        assert_eq!(read(&mut line, FLUSHED), [LineEvent::Done], "the service has no sound for it");
        assert_eq!(hear(&mut line), 1);
        assert_eq!(read(&mut line, FLUSHED), [LineEvent::Done, LineEvent::Free]);
    }

    #[test]
    fn late_end_of_another_turn_ends_nothing() {
        let mut line = line();
        say(&mut line, "Aye.");
        assert_eq!(read(&mut line, CLEARED), []);
        assert_eq!(read(&mut line, FLUSHED), []);
        assert_eq!(hear(&mut line), 1);
        assert_eq!(read(&mut line, FLUSHED), [LineEvent::Done, LineEvent::Free]);
    }
}
