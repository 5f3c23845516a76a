//! The body of a voice service's answer -> 16-bit mono samples, by its content type.
//!
//! Entry type: [`Sound`]. Reads raw PCM and WAV, plain or base64 in an event stream
//! (`speech.audio.delta`, `speech.audio.done`, `[DONE]`). Ignores unknown events.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::pcm::{NotPcm, Reader};
use crate::{
    audio::SampleRate,
    provider::{
        Bound,
        remote::{Decoder, Frame, ServiceError},
    },
};

pub const EVENT_STREAM: &str = "text/event-stream";

#[derive(Debug, PartialEq)]
pub enum Unread {
    /// It is of this other format.
    NotPcm(String),
    /// The service reports an error in its place.
    Said(ServiceError),
    /// It ended before its end.
    Short,
    Over(Bound),
}

impl From<NotPcm> for Unread {
    fn from(what: NotPcm) -> Self {
        Self::NotPcm(what.to_string())
    }
}

pub struct Sound {
    /// Rate of samples without a header.
    raw_rate: SampleRate,
    pcm: Reader,
    /// `None`: the body is the sound itself.
    events: Option<Decoder>,
    /// The event stream says that no sound follows.
    is_over: bool,
}

impl Sound {
    /// Sound of this content type. `raw_rate`: if neither the type nor a header names one.
    pub fn of(content_type: &str, raw_rate: SampleRate) -> Self {
        let raw_rate = rate_in(content_type).unwrap_or(raw_rate);
        let events = content_type.starts_with(EVENT_STREAM).then(Decoder::default);
        Self { raw_rate, pcm: Reader::new(raw_rate), events, is_over: false }
    }

    /// Known from the first samples on.
    pub fn rate(&self) -> Option<SampleRate> {
        self.pcm.rate()
    }

    /// True if no sound follows, whatever the body still holds.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the complete samples of the next piece of the body.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<i16>, Unread> {
        match &mut self.events {
            Some(events) => {
                let frames = events.push(bytes);
                self.take(frames)
            }
            None => Ok(self.pcm.push(bytes)?),
        }
    }

    /// Ends the body. Fails if it is incomplete.
    pub fn finish(&mut self) -> Result<Vec<i16>, Unread> {
        let frames = self.events.as_mut().map(Decoder::finish).unwrap_or_default();
        let samples = self.take(frames)?;
        let is_short = match &self.events {
            Some(_) => !self.is_over,
            None => self.pcm.is_short(),
        };
        if is_short { Err(Unread::Short) } else { Ok(samples) }
    }

    fn take(&mut self, frames: Vec<Frame>) -> Result<Vec<i16>, Unread> {
        let mut samples = Vec::new();
        for frame in frames {
            match frame {
                Frame::Json(event) => self.read(&event, &mut samples)?,
                Frame::Done => self.is_over = true,
                Frame::Unreadable => {}
                Frame::Over(bound) => return Err(Unread::Over(bound)),
            }
        }
        Ok(samples)
    }

    fn read(&mut self, event: &Value, samples: &mut Vec<i16>) -> Result<(), Unread> {
        if let Some(said) = ServiceError::read(event) {
            return Err(Unread::Said(said));
        }
        match event.get("type").and_then(Value::as_str) {
            Some("speech.audio.delta") => {
                let encoded = event.get("audio").or_else(|| event.get("delta"));
                let encoded = encoded.and_then(Value::as_str).unwrap_or_default();
                let bytes = BASE64_STANDARD.decode(encoded);
                let bytes = bytes.map_err(|_| Unread::NotPcm("broken base64".to_owned()))?;
                // Some servers send each piece as a WAV of its own.
                if bytes.starts_with(b"RIFF") {
                    self.pcm = Reader::new(self.raw_rate);
                }
                samples.extend(self.pcm.push(&bytes)?);
            }
            Some("speech.audio.done") => self.is_over = true,
            _ => {}
        }
        Ok(())
    }
}

/// The rate in a content type such as "audio/L16;rate=16000". Its samples are little-endian:
/// servers ignore RFC 2586 there.
fn rate_in(content_type: &str) -> Option<SampleRate> {
    let mut parameters = content_type.split(';').skip(1);
    let rate = parameters.find_map(|it| it.trim().strip_prefix("rate="))?;
    SampleRate::new(rate.trim_matches('"').parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::audio::{Clip, write_wav};

    const SAMPLES: [i16; 5] = [7, -8, 900, i16::MIN, i16::MAX];

    fn raw(samples: &[i16]) -> Vec<u8> {
        samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
    }

    fn wav(samples: &[i16]) -> Vec<u8> {
        write_wav(&Clip { samples: samples.to_vec(), rate: SampleRate::HZ_48000 })
    }

    fn delta(member: &str, sound: &[u8]) -> String {
        let event = json!({"type": "speech.audio.delta", member: BASE64_STANDARD.encode(sound)});
        format!("event: speech.audio.delta\ndata: {event}\n\n")
    }

    /// Samples and rate of a body in pieces of `step` bytes.
    fn read(kind: &str, body: &[u8], step: usize) -> Result<(Vec<i16>, u32), Unread> {
        let mut sound = Sound::of(kind, SampleRate::HZ_24000);
        let mut samples = Vec::new();
        for piece in body.chunks(step) {
            samples.extend(sound.push(piece)?);
        }
        samples.extend(sound.finish()?);
        Ok((samples, sound.rate().map_or(0, SampleRate::hz)))
    }

    #[test]
    fn rate_comes_from_the_header_or_the_type() {
        for (kind, hz) in [
            ("audio/pcm", 24_000),
            ("", 24_000),
            ("audio/L16;rate=16000;channels=1", 16_000),
            ("audio/pcm; rate=\"44100\"", 44_100),
            ("audio/L16; rate=0", 24_000),
        ] {
            assert_eq!(read(kind, &raw(&SAMPLES), 3), Ok((SAMPLES.to_vec(), hz)), "{kind}");
            assert_eq!(read(kind, &wav(&SAMPLES), 3), Ok((SAMPLES.to_vec(), 48_000)), "{kind}");
        }
    }

    #[test]
    fn sound_in_events_is_read() {
        let done = "data: {\"type\": \"speech.audio.done\", \"usage\": {\"input_tokens\": 3}}\n\n";
        let (first, rest) = SAMPLES.split_at(2);
        let halves = delta("audio", &raw(first)) + &delta("delta", &raw(rest));
        let wavs = delta("audio", &wav(first)) + &delta("audio", &wav(rest));
        let unknown = "data: {\"type\": \"speech.audio.info\", \"mood\": 1}\n\n";
        for (events, hz) in [
            (halves.clone() + done, 24_000),
            (halves.clone() + "data: [DONE]\n\n", 24_000),
            (format!("{unknown}{halves}{done}data: [DONE]"), 24_000),
            (wavs + done, 48_000),
        ] {
            for step in [1, 50, 10_000] {
                let told = read("text/event-stream; charset=utf-8", events.as_bytes(), step);
                assert_eq!(told, Ok((SAMPLES.to_vec(), hz)), "{events}");
            }
        }
        assert_eq!(read(EVENT_STREAM, halves.as_bytes(), 9), Err(Unread::Short));
        let failed = halves + "data: {\"type\": \"error\", \"error\": \"no memory\"}\n\n";
        assert!(matches!(read(EVENT_STREAM, failed.as_bytes(), 9), Err(Unread::Said(_))));
        let broken = "data: {\"type\": \"speech.audio.delta\", \"audio\": \"?\"}\n\n";
        assert!(matches!(read(EVENT_STREAM, broken.as_bytes(), 9), Err(Unread::NotPcm(_))));
    }

    #[test]
    fn body_that_breaks_its_promise_is_short() {
        let whole = wav(&SAMPLES);
        assert_eq!(read("audio/wav", &whole[..whole.len() - 2], 9), Err(Unread::Short));
        let mut endless = whole.clone();
        endless[40..44].fill(0xff);
        assert!(read("audio/wav", &endless[..whole.len() - 2], 9).is_ok());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200), step in 1_usize..20,
            kind in prop::sample::select(vec!["audio/pcm", EVENT_STREAM]),
        ) {
            let _ = read(kind, &bytes, step);
        }
    }
}
