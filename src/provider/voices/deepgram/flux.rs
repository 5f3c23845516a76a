//! A turn of Flux (`/v2/speak`): every sentence is one of the service's turns.
//!
//! Entry type: [`Flux`].

use std::sync::Arc;

use tokio_tungstenite::tungstenite::Message;

use super::{
    orders::{order, respelled, sound, speak},
    said::Said,
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

/// Answer to an interruption for which nothing sounds.
const NOTHING_SOUNDS: &str = "NO_ACTIVE_SPEECH";
/// Answers to one that is ignored.
const IGNORED: [&str; 3] =
    ["NO_AUDIO_GENERATED", "INTERRUPT_IN_PROGRESS", "INVALID_INTERRUPT_OFFSET"];

pub struct Flux {
    peer: Arc<Peer>,
    pronunciation: Arc<[Pronunciation]>,
    /// Sentences that are not spoken.
    unspoken: usize,
    samples: SplitSamples,
    is_cancelled: bool,
}

impl Flux {
    pub fn new(peer: Arc<Peer>, pronunciation: Arc<[Pronunciation]>) -> Self {
        let samples = SplitSamples::default();
        Self { peer, pronunciation, unspoken: 0, samples, is_cancelled: false }
    }

    fn sound(&mut self, bytes: &[u8]) -> Vec<LineEvent> {
        if self.is_cancelled || self.unspoken == 0 {
            return Vec::new();
        }
        vec![sound(self.samples.push(bytes))]
    }

    /// The end of the first sentence. A cancelled turn has ended before it was interrupted, which is
    /// answered next.
    fn whole(&mut self) -> Vec<LineEvent> {
        if self.is_cancelled || self.unspoken == 0 {
            return Vec::new();
        }
        self.unspoken -= 1;
        self.samples = SplitSamples::default();
        let free = (self.unspoken == 0).then_some(LineEvent::Free);
        [LineEvent::Done].into_iter().chain(free).collect()
    }
}

impl TurnMessages for Flux {
    fn say(&mut self, sentence: &Sentence) -> Vec<Message> {
        self.unspoken += 1;
        vec![speak(&respelled(&sentence.text, &self.pronunciation)), order("Flush")]
    }

    fn finish(&mut self) -> Vec<Message> {
        Vec::new()
    }

    /// Without the time that was played, which is not known here and counts from the start of the
    /// socket.
    fn cancel(&mut self) -> Option<Vec<Message>> {
        self.is_cancelled = true;
        // It cancels the sentence that sounds; one behind it would still be spoken.
        (self.unspoken == 1).then(|| vec![order("Interrupt")])
    }

    fn read(&mut self, message: &Message) -> Result<Vec<LineEvent>, Error> {
        let said = match message {
            Message::Binary(bytes) => return Ok(self.sound(bytes)),
            Message::Text(text) => Said::read(text),
            _ => return Ok(Vec::new()),
        };
        match said {
            Said::Whole => return Ok(self.whole()),
            Said::Interrupted if self.is_cancelled => return Ok(vec![LineEvent::Free]),
            Said::Warning(code) if self.is_cancelled && code == NOTHING_SOUNDS => {
                return Ok(vec![LineEvent::Free]);
            }
            Said::Warning(code) if self.is_cancelled && IGNORED.contains(&code.as_str()) => {
                let what = format!("it does not stop speaking: {code}");
                return Err(self.peer.error(Kind::Protocol, &what, "try again"));
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

    fn line() -> Flux {
        Flux::new(Arc::new(Peer::of_voices("http://127.0.0.1:9", None)), Arc::from([]))
    }

    fn say(line: &mut Flux) -> Vec<Message> {
        let attempts = Attempts::default();
        line.say(&Sentence { text: "Aye.".to_owned(), foreign: None, attempts })
    }

    fn read(line: &mut Flux, kind: &str) -> Vec<LineEvent> {
        line.read(&Message::text(format!(r#"{{"type":"{kind}"}}"#))).unwrap()
    }

    fn hear(line: &mut Flux) -> usize {
        line.read(&Message::binary(vec![1_u8, 0])).unwrap().len()
    }

    fn warn(line: &mut Flux, code: &str) -> Result<Vec<LineEvent>, Error> {
        line.read(&Message::text(format!(r#"{{"type":"Warning","code":"{code}"}}"#)))
    }

    #[test]
    fn sentence_ends_with_its_metadata() {
        let mut line = line();
        assert_eq!(say(&mut line).len(), 2);
        say(&mut line);
        assert_eq!(read(&mut line, "SpeechStarted"), []);
        assert_eq!(hear(&mut line), 1);
        assert_eq!(read(&mut line, "Flushed"), []);
        assert_eq!(hear(&mut line), 1);
        assert_eq!(read(&mut line, "SpeechMetadata"), [LineEvent::Done]);
        assert_eq!(warn(&mut line, "NO_SYNTHESIZABLE_TEXT").unwrap(), []);
        assert_eq!(read(&mut line, "SpeechMetadata"), [LineEvent::Done, LineEvent::Free]);
        assert_eq!(read(&mut line, "SpeechMetadata"), []);
    }

    #[test]
    fn interrupted_turn_is_silent_until_confirmed() {
        let mut line = line();
        say(&mut line);
        assert_eq!(hear(&mut line), 1);
        let order = line.cancel().unwrap().remove(0);
        assert_eq!(order.to_text().unwrap(), r#"{"type":"Interrupt"}"#);
        assert_eq!(hear(&mut line), 0);
        assert_eq!(read(&mut line, "SpeechMetadata"), [], "it may have ended just before");
        assert_eq!(read(&mut line, "SpeechInterrupted"), [LineEvent::Free]);
    }

    #[test]
    fn what_cannot_be_interrupted_is_closed() {
        let mut two = line();
        say(&mut two);
        say(&mut two);
        assert_eq!(two.cancel(), None);
        let mut early = line();
        say(&mut early);
        assert!(early.cancel().is_some());
        assert_eq!(warn(&mut early, "NO_AUDIO_GENERATED").unwrap_err().kind(), Kind::Protocol);
        assert_eq!(warn(&mut early, "NO_ACTIVE_SPEECH").unwrap(), [LineEvent::Free]);
    }
}
