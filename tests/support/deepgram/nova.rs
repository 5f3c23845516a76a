//! `/v1/listen`: words as they come; pauses end utterances only where `endpointing` says so.

use std::{collections::VecDeque, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Asked, Fault, Heard, Line, QUIET,
    query::{TERMS_MAX, takes_terms},
    sound::{SECONDS, Segment, Sound},
};

/// Sound between two interims, in seconds.
const INTERIM: f64 = 0.4;
/// Delay until new terms hold.
const CONFIGURING: Duration = Duration::from_millis(30);

/// State of one socket.
struct Hearing<'a> {
    line: &'a mut Line,
    asked: Asked,
    sound: Sound,
    /// The rest of the utterance, and the segment that is said.
    utterance: VecDeque<String>,
    segment: Option<Segment>,
    /// Time of the last `Finalize`.
    settled: Option<Instant>,
    /// Position at which the unsettled part begins, in seconds.
    from: f64,
    /// Position of the last interim, in seconds.
    told: f64,
    /// Seconds of silence at the end.
    silence: f64,
    /// Time from which new terms hold, and these.
    pending: Option<(Instant, Value)>,
}

/// Serves one socket; how it ended.
pub async fn serve(line: &mut Line, asked: Asked) -> String {
    let mut hearing = Hearing {
        line,
        asked,
        sound: Sound::default(),
        utterance: VecDeque::new(),
        segment: None,
        settled: None,
        from: 0.0,
        told: 0.0,
        silence: 0.0,
        pending: None,
    };
    let mut quiet = Instant::now() + QUIET;
    loop {
        if let Some(ended) = hearing.line.failed().await {
            return ended;
        }
        let until = hearing.pending.as_ref().map_or(quiet, |(at, _)| quiet.min(*at));
        match hearing.line.next(until).await {
            Heard::Sound(_) if hearing.is_gone() => return "cut".to_owned(),
            Heard::Sound(samples) => {
                quiet = Instant::now() + QUIET;
                hearing.hear(&samples).await;
            }
            Heard::Order(order) => match order["type"].as_str().unwrap_or_default() {
                "KeepAlive" => quiet = Instant::now() + QUIET,
                "Finalize" => {
                    hearing.settle(true).await;
                    hearing.settled = Some(Instant::now());
                }
                "Configure" => hearing.configure(&order).await,
                "CloseStream" => {
                    hearing.settle(false).await;
                    return hearing.farewell().await;
                }
                _ => hearing.nonsense().await,
            },
            Heard::Nonsense => hearing.nonsense().await,
            Heard::Gone(how) => return how,
            Heard::Quiet
                if hearing.pending.as_ref().is_some_and(|(at, _)| *at <= Instant::now()) =>
            {
                let (_, terms) = hearing.pending.take().expect("it is pending");
                let message =
                    json!({"type": "ConfigureSuccess", "request_id": "r-1", "keyterms": terms});
                hearing.line.say(message).await;
            }
            Heard::Quiet => {
                let reason = "NET-0001: no audio was received in time";
                return hearing.line.close(1011, reason).await;
            }
        }
    }
}

impl Hearing<'_> {
    /// True if it is to be gone now that speech begins again.
    fn is_gone(&self) -> bool {
        self.settled.is_some() && self.is_next() && matches!(self.line.socket.fault, Fault::Gone)
    }

    /// True if another utterance begins with the next voice: nothing has been said for a second.
    fn is_next(&self) -> bool {
        self.settled.is_none_or(|at| at.elapsed() > Duration::from_secs(1))
    }

    async fn hear(&mut self, samples: &[i16]) {
        for voice in self.sound.push(samples) {
            self.sound.at += SECONDS;
            if voice {
                if self.segment.is_none() && self.utterance.is_empty() && self.is_next() {
                    self.utterance = self.line.utterance();
                }
                let (segment, utterance) = (&mut self.segment, &mut self.utterance);
                let segment = segment.get_or_insert_with(|| Segment::next(utterance));
                segment.voice += SECONDS;
                self.silence = 0.0;
            } else {
                self.silence += SECONDS;
            }
            let is_due = self.sound.at >= self.told + INTERIM;
            if is_due && self.asked.value("interim_results") == Some("true") {
                self.told = self.sound.at;
                let text = self.segment.as_ref().map(Segment::so_far).unwrap_or_default();
                self.results(&text, [false; 3]).await;
            }
            let ends = self.asked.value("endpointing").unwrap_or("10");
            if self.segment.is_some()
                && ends.parse::<f64>().is_ok_and(|ms| self.silence * 1e3 >= ms)
            {
                let text = self.segment.take().map(|it| it.whole()).unwrap_or_default();
                self.results(&text, [true, true, false]).await;
                self.from = self.sound.at;
            }
        }
    }

    /// All there is, settled.
    async fn settle(&mut self, is_asked_for: bool) {
        let text = self.segment.take().map(|it| it.whole()).unwrap_or_default();
        self.results(&text, [true, is_asked_for, is_asked_for]).await;
        (self.from, self.told) = (self.sound.at, self.sound.at);
    }

    /// `flags`: `is_final`, `speech_final`, `from_finalize`.
    async fn results(&mut self, text: &str, flags: [bool; 3]) {
        let [is_final, speech_final, from_finalize] = flags;
        let words: Vec<Value> = text
            .split_whitespace()
            .map(|word| {
                json!({"word": word.to_lowercase(), "punctuated_word": word, "start": self.from,
                    "end": self.sound.at, "confidence": 0.9})
            })
            .collect();
        let duration = self.sound.at - self.from;
        let info = json!({"name": "general", "version": "1", "arch": "nova-3"});
        let message = json!({
            "type": "Results", "channel_index": [0, 1], "start": self.from, "duration": duration,
            "is_final": is_final, "speech_final": speech_final, "from_finalize": from_finalize,
            "channel": {"alternatives": [
                {"transcript": text, "confidence": 0.9, "languages": ["en"], "words": words}]},
            "metadata": {"request_id": "r-1", "model_uuid": "m-1", "model_info": info},
        });
        self.line.say(message).await;
    }

    async fn configure(&mut self, order: &Value) {
        let terms = &order["keyterms"];
        let code = match () {
            () if !takes_terms(&self.asked) => "CONFIGURE_KEYTERMS_NOT_SUPPORTED",
            () if self.pending.is_some() => "CONFIGURE_ALREADY_PENDING",
            () if terms.as_array().is_some_and(|terms| terms.len() > TERMS_MAX) => {
                "CONFIGURE_KEYTERM_LIMIT_EXCEEDED"
            }
            () if terms.is_array() => {
                self.pending = Some((Instant::now() + CONFIGURING, terms.clone()));
                return;
            }
            () => return self.nonsense().await,
        };
        let failure = json!({"type": "ConfigureFailure", "request_id": "r-1", "code": code,
            "description": "refused"});
        self.line.say(failure).await;
    }

    async fn nonsense(&mut self) {
        let error = json!({"type": "Error", "variant": "SchemaError",
            "description": "a message was not understood", "message": "what?"});
        self.line.say(error).await;
    }

    async fn farewell(self) -> String {
        let message = json!({"type": "Metadata", "request_id": "r-1", "transaction_key": "deprecated",
            "sha256": "0", "created": "2026-11-21T00:00:00Z", "duration": self.sound.at,
            "channels": 1});
        self.line.say(message).await;
        self.line.close(1000, "").await;
        "in good order".to_owned()
    }
}
