//! Events of the Wyoming protocol, and their bytes.
//!
//! Entry types: [`Event`], [`Decoder`]. An event is a line of JSON, then as many bytes of further
//! JSON and of sound as the line says. **Never**: allocates an announced length before the bytes
//! arrive.

use serde_json::{Map, Value, json};

/// Longest line, in bytes.
const MAX_LINE: usize = 8 << 10;
/// Longest further JSON, in bytes; lists of voices are the longest.
const MAX_DATA: usize = 1 << 20;
/// Most sound in one event, in bytes: over 20 s at any rate and number of channels.
const MAX_PAYLOAD: usize = 4 << 20;
const READ: usize = 16 << 10;
/// Version of the protocol's own library that is followed.
const VERSION: &str = "1.10.2";
/// Longest quotation of a wrong length, in characters.
const MAX_QUOTE: usize = 24;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    pub kind: String,
    pub data: Map<String, Value>,
    pub payload: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("a line of more than \"{MAX_LINE}\" bytes")]
    Line,
    /// Not JSON, or not an object.
    #[error("a line that is not a JSON object")]
    NoObject,
    #[error("an event without a type")]
    NoKind,
    /// A length beyond its limit, or not a length.
    #[error("a {key} of \"{value}\"")]
    Length { key: &'static str, value: String },
    #[error("data that is not a JSON object")]
    Data,
}

impl Event {
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.to_owned(), ..Self::default() }
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    /// The text under `key`; `None`: absent, or another type.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.data.get(key).and_then(Value::as_str)
    }

    /// The bytes to send. The data follows the line, as in the protocol's own library.
    pub fn bytes(&self) -> Vec<u8> {
        let mut line = json!({ "type": self.kind, "version": VERSION });
        let data = match self.data.is_empty() {
            true => Vec::new(),
            false => json!(self.data).to_string().into_bytes(),
        };
        for (key, length) in [("data_length", data.len()), ("payload_length", self.payload.len())] {
            if length > 0 {
                line[key] = json!(length);
            }
        }
        let mut bytes = line.to_string().into_bytes();
        bytes.push(b'\n');
        bytes.extend(data);
        bytes.extend(&self.payload);
        bytes
    }
}

/// Decodes events from bytes, in whatever pieces they arrive.
#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
    begun: Option<Begun>,
}

#[derive(Debug)]
struct Begun {
    event: Event,
    data: usize,
    payload: usize,
}

impl Decoder {
    pub fn room(&mut self) -> &mut Vec<u8> {
        self.held.reserve(READ);
        &mut self.held
    }

    /// The next complete event. After an error nothing more can be decoded.
    pub fn event(&mut self) -> Result<Option<Event>, Malformed> {
        let begun = match self.begun.take() {
            Some(begun) => begun,
            None => match self.line()? {
                Some(line) => Begun::read(&line)?,
                None => return Ok(None),
            },
        };
        if self.held.len() < begun.data + begun.payload {
            self.begun = Some(begun);
            return Ok(None);
        }
        let rest = self.held.split_off(begun.data + begun.payload);
        let mut data = std::mem::replace(&mut self.held, rest);
        let payload = data.split_off(begun.data);
        let mut event = Event { payload, ..begun.event };
        if !data.is_empty() {
            match serde_json::from_slice(&data) {
                Ok(Value::Object(more)) => event.data.extend(more),
                _ => return Err(Malformed::Data),
            }
        }
        Ok(Some(event))
    }

    fn line(&mut self) -> Result<Option<Vec<u8>>, Malformed> {
        match self.held.iter().take(MAX_LINE + 1).position(|byte| *byte == b'\n') {
            Some(end) => {
                let mut line: Vec<u8> = self.held.drain(..=end).collect();
                line.pop();
                Ok(Some(line))
            }
            None if self.held.len() > MAX_LINE => Err(Malformed::Line),
            None => Ok(None),
        }
    }
}

impl Begun {
    fn read(line: &[u8]) -> Result<Self, Malformed> {
        let Ok(Value::Object(mut line)) = serde_json::from_slice(line) else {
            return Err(Malformed::NoObject);
        };
        let data = match line.remove("data") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(data)) => data,
            Some(_) => return Err(Malformed::Data),
        };
        let kind = line.get("type").and_then(Value::as_str).ok_or(Malformed::NoKind)?;
        Ok(Self {
            event: Event { kind: kind.to_owned(), data, payload: Vec::new() },
            data: length(&line, "data_length", MAX_DATA)?,
            payload: length(&line, "payload_length", MAX_PAYLOAD)?,
        })
    }
}

fn length(line: &Map<String, Value>, key: &'static str, most: usize) -> Result<usize, Malformed> {
    let value = match line.get(key) {
        None | Some(Value::Null) => return Ok(0),
        Some(value) => value,
    };
    let length = value.as_u64().and_then(|length| usize::try_from(length).ok());
    length.filter(|length| *length <= most).ok_or_else(|| Malformed::Length {
        key,
        value: value.to_string().replace('"', "'").chars().take(MAX_QUOTE).collect(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], step: usize) -> Result<Vec<Event>, Malformed> {
        let (mut decoder, mut events) = (Decoder::default(), Vec::new());
        for piece in bytes.chunks(step) {
            decoder.room().extend_from_slice(piece);
            while let Some(event) = decoder.event()? {
                events.push(event);
            }
            let most = MAX_LINE + MAX_DATA + MAX_PAYLOAD + READ;
            assert!(decoder.held.len() <= most);
        }
        Ok(events)
    }

    fn any_event() -> impl Strategy<Value = Event> {
        let data = prop::collection::hash_map("[a-z]{1,6}", "\\PC{0,12}", 0..4);
        let payload = prop::collection::vec(any::<u8>(), 0..80);
        ("[a-z-]{1,12}", data, payload).prop_map(|(kind, data, payload)| Event {
            payload,
            ..data.into_iter().fold(Event::new(&kind), |it, (key, value)| it.with(&key, value))
        })
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_events(
            events in prop::collection::vec(any_event(), 0..6), step in 1_usize..40,
        ) {
            let bytes: Vec<u8> = events.iter().flat_map(Event::bytes).collect();
            prop_assert_eq!(read(&bytes, step), Ok(events));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), step in 1_usize..9) {
            let _ = read(&bytes, step);
        }

        #[test]
        fn no_line_panics(
            key in "type|data|data_length|payload_length",
            value in "-?[0-9]{1,40}|null|\"\\PC{0,9}\"|\\[\\]|\\{\\}|[0-9]e[0-9]{1,4}",
            rest in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut bytes = format!("{{\"type\":\"x\",\"{key}\":{value}}}\n").into_bytes();
            bytes.extend(rest);
            let _ = read(&bytes, 7);
        }
    }

    #[test]
    fn header_and_body_data_are_merged() {
        let text =
            b"{\"type\": \"transcript\", \"data\": {\"text\": \"a\", \"language\": \"en\"}, \
            \"data_length\": 12, \"payload_length\": null}\n{\"text\":\"b\"}";
        let expected = Event::new("transcript").with("text", "b").with("language", "en");
        assert_eq!(read(text, 5), Ok(vec![expected]));
    }

    #[test]
    fn oversized_or_malformed_events_are_refused() {
        for (line, refused) in [
            ("{\"type\":\"x\",\"data_length\":1048577}\n", "a data_length of \"1048577\""),
            ("{\"type\":\"x\",\"payload_length\":4194305}\n", "a payload_length of \"4194305\""),
            ("{\"type\":\"x\",\"payload_length\":-1}\n", "a payload_length of \"-1\""),
            ("{\"type\":\"x\",\"data_length\":\"9\"}\n", "a data_length of \"'9'\""),
            (
                "{\"type\":\"x\",\"data_length\":99999999999999999999999999}\n",
                "a data_length of \"1e+26\"",
            ),
            ("{\"type\":7}\n", "an event without a type"),
            ("[]\n", "a line that is not a JSON object"),
            ("\n", "a line that is not a JSON object"),
            ("{\"type\":\"x\",\"data\":[]}\n", "data that is not a JSON object"),
            ("{\"type\":\"x\",\"data_length\":2}\n[]", "data that is not a JSON object"),
        ] {
            let error = read(line.as_bytes(), 3).unwrap_err();
            assert_eq!(error.to_string(), refused, "{line}");
        }
        assert_eq!(read(&[b' '; 9_000], 100), Err(Malformed::Line));
        let nested = format!("{}\n", "[".repeat(4_000));
        assert_eq!(read(nested.as_bytes(), 100), Err(Malformed::NoObject));
    }
}
