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
    // The service would take it for the start of a command, and fail for most.
    respell(text, pronunciation).replace("\\{", "{")
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
        assert_eq!(respelled(r"Zoë, \{pause:500ms\}", &[entry]), r"zo ee, {pause:500ms\}");
    }
}
