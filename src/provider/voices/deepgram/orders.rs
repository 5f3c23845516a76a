//! Messages to the service, and the sound that it sends.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::{
    audio::SampleRate,
    domain::Pronunciation,
    provider::{Pcm, respell::respell},
};

/// An order without content ("Flush").
pub fn order(kind: &str) -> Message {
    Message::text(json!({"type": kind}).to_string())
}

/// `text` as the service should read it.
pub fn respelled(text: &str, pronunciation: &[Pronunciation]) -> String {
    // The service would take it for the start of a command, and fail for most.
    respell(text, pronunciation).replace("\\{", "{")
}

pub fn speak(text: &str) -> Message {
    Message::text(json!({"type": "Speak", "text": text}).to_string())
}

/// Decodes 16-bit samples, however they are split.
#[derive(Default)]
pub struct Samples {
    half: Option<u8>,
}

impl Samples {
    pub fn read(&mut self, bytes: &[u8]) -> Pcm {
        let mut samples = Vec::with_capacity(bytes.len() / 2 + 1);
        let mut bytes = self.half.take().into_iter().chain(bytes.iter().copied());
        while let Some(low) = bytes.next() {
            match bytes.next() {
                Some(high) => samples.push(i16::from_le_bytes([low, high])),
                None => self.half = Some(low),
            }
        }
        Pcm { samples, rate: SampleRate::HZ_24000 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_samples_are_put_together() {
        let mut samples = Samples::default();
        assert_eq!(samples.read(&[1, 0, 2]).samples, [1_i16]);
        assert_eq!(samples.read(&[1]).samples, [0x102_i16]);
        assert!(samples.read(&[]).samples.is_empty());
    }

    #[test]
    fn text_is_respelled_and_holds_no_command() {
        let entry = Pronunciation { word: "Zoë".into(), respelling: "zo ee".into() };
        assert_eq!(respelled(r"Zoë, \{pause:500ms\}", &[entry]), r"zo ee, {pause:500ms\}");
    }
}
