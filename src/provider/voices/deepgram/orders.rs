//! Messages to the service.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::{
    audio::SampleRate,
    domain::Pronunciation,
    provider::{Pcm, respell::respell, voices::socket::LineEvent},
};

/// An order without content ("Flush").
pub fn order(kind: &str) -> Message {
    Message::text(json!({"type": kind}).to_string())
}

/// `text` as the service should read it.
pub fn respelled(text: &str, pronunciation: &[Pronunciation]) -> String {
    // A backslash before a brace begins a command, and most commands end the socket. Removing only
    // that one would leave the other of two.
    respell(text, pronunciation).replace('\\', "")
}

pub fn speak(text: &str) -> Message {
    Message::text(json!({"type": "Speak", "text": text}).to_string())
}

/// Sound in the format that the service is asked for.
pub fn sound(samples: Vec<i16>) -> LineEvent {
    LineEvent::Sound(Pcm { samples, rate: SampleRate::HZ_24000 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_respelled_and_holds_no_command() {
        let entry = Pronunciation { word: "Zoë".into(), respelling: "zo ee".into() };
        for said in [r"Zoë, \{pause:500ms\}", r"Zoë, \\{pause:500ms}", r"Zoë, \\\{pause:500ms}"]
        {
            assert_eq!(respelled(said, std::slice::from_ref(&entry)), "zo ee, {pause:500ms}");
        }
    }
}
