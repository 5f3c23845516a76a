//! `/v2/listen`: turns. Every message has its number; a sign of life ends the connection.

use std::{collections::VecDeque, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Asked, Heard, Line, QUIET,
    query::TERMS_MAX,
    sound::{SECONDS, Segment, Sound},
};

/// Sound between two updates, in seconds.
const UPDATE: f64 = 0.24;
/// Silence after which an end is likely, and after which it is one.
const EAGER: f64 = 0.3;
const END: f64 = 0.8;
/// Delay until new terms hold.
const CONFIGURING: Duration = Duration::from_millis(30);
/// Interval of checks whether ends are still held back.
const LOOK: Duration = Duration::from_millis(20);

/// State of one socket.
struct Hearing<'a> {
    line: &'a mut Line,
    asked: Asked,
    sound: Sound,
    /// Segments that are left of the turn.
    utterance: VecDeque<String>,
    /// Text of the turn before its newest segment, and that one; `None`: no turn is open.
    turn: Option<(String, Segment)>,
    index: u64,
    from: f64,
    told: f64,
    silence: f64,
    /// An early end was sent and not taken back.
    eager: bool,
    pending: Option<(Instant, Value)>,
}

/// Serves one socket; how it ended.
pub async fn serve(line: &mut Line, asked: Asked) -> String {
    let mut hearing = Hearing {
        line,
        asked,
        sound: Sound::default(),
        utterance: VecDeque::new(),
        turn: None,
        index: 0,
        from: 0.0,
        told: 0.0,
        silence: 0.0,
        eager: false,
        pending: None,
    };
    hearing.say(json!({"type": "Connected", "request_id": "r-1"})).await;
    let mut quiet = Instant::now() + QUIET;
    loop {
        if let Some(ended) = hearing.line.failed().await {
            return ended;
        }
        match hearing.line.next(quiet.min(Instant::now() + LOOK)).await {
            Heard::Sound(samples) => {
                quiet = Instant::now() + QUIET;
                hearing.hear(&samples).await;
            }
            Heard::Order(order) => match order["type"].as_str().unwrap_or_default() {
                // The real one is gone at once, without a word.
                "KeepAlive" => return "a sign of life".to_owned(),
                "Configure" => hearing.configure(&order).await,
                "ForceEndTurn" => hearing.end("manual").await,
                "CloseStream" => {
                    hearing.end("manual").await;
                    hearing.line.close(1000, "").await;
                    return "in good order".to_owned();
                }
                _ => return hearing.nonsense().await,
            },
            Heard::Nonsense => return hearing.nonsense().await,
            Heard::Gone(how) => return how,
            Heard::Quiet if quiet <= Instant::now() => {
                return hearing.line.close(1011, "NET-0001: no audio was received in time").await;
            }
            Heard::Quiet => {
                hearing.configured().await;
                hearing.end_in_time().await;
            }
        }
    }
}

impl Hearing<'_> {
    async fn hear(&mut self, samples: &[i16]) {
        for voice in self.sound.push(samples) {
            self.sound.at += SECONDS;
            if voice {
                self.voice().await;
            } else {
                self.silence += SECONDS;
                self.pause().await;
            }
            if self.turn.is_some() && !self.eager && self.sound.at >= self.told + UPDATE {
                self.told = self.sound.at;
                self.turn_info("Update").await;
            }
        }
    }

    async fn voice(&mut self) {
        self.silence = 0.0;
        if self.turn.is_none() {
            self.utterance = self.line.utterance();
            let segment = Segment::next(&mut self.utterance);
            self.turn = Some((String::new(), segment));
            (self.from, self.told) = (self.sound.at, self.sound.at);
            self.turn_info("StartOfTurn").await;
        }
        if self.eager {
            self.eager = false;
            self.turn_info("TurnResumed").await;
            if let Some((before, segment)) = &mut self.turn
                && !self.utterance.is_empty()
            {
                *before = joined(before, &segment.whole());
                *segment = Segment::next(&mut self.utterance);
            }
        }
        if let Some((_, segment)) = &mut self.turn {
            segment.voice += SECONDS;
        }
    }

    async fn pause(&mut self) {
        let is_asked_for = self.asked.value("eager_eot_threshold").is_some();
        if is_asked_for && !self.eager && self.silence >= EAGER && !self.text().is_empty() {
            // By now every word of it is heard.
            if let Some((_, segment)) = &mut self.turn {
                segment.voice = f64::INFINITY;
            }
            self.eager = true;
            self.turn_info("EagerEndOfTurn").await;
        }
        self.end_in_time().await;
    }

    /// Ends the turn when it is time, and nothing holds it back.
    async fn end_in_time(&mut self) {
        if self.turn.is_some() && self.silence >= END && !self.line.holds() {
            self.end("model").await;
        }
    }

    async fn end(&mut self, trigger: &str) {
        let Some((_, segment)) = &mut self.turn else { return };
        segment.voice = f64::INFINITY;
        let mut message = self.info("EndOfTurn");
        message["trigger"] = json!(trigger);
        self.say(message).await;
        self.turn = None;
        self.index += 1;
        self.eager = false;
    }

    fn text(&self) -> String {
        self.turn.as_ref().map(|(before, it)| joined(before, &it.so_far())).unwrap_or_default()
    }

    fn info(&self, event: &str) -> Value {
        let text = self.text();
        let words: Vec<Value> =
            text.split_whitespace().map(|word| json!({"word": word, "confidence": 0.9})).collect();
        json!({
            "type": "TurnInfo", "request_id": "r-1", "event": event, "turn_index": self.index,
            "audio_window_start": self.from, "audio_window_end": self.sound.at,
            "transcript": text, "words": words, "end_of_turn_confidence": 0.6,
        })
    }

    async fn turn_info(&mut self, event: &str) {
        self.say(self.info(event)).await;
    }

    /// Says something by its number.
    async fn say(&mut self, mut message: Value) {
        message["sequence_id"] = json!(self.line.said);
        self.line.say(message).await;
    }

    async fn configure(&mut self, order: &Value) {
        let terms = &order["keyterms"];
        let code = match () {
            () if self.pending.is_some() => "CONFIGURE_ALREADY_PENDING",
            () if terms.as_array().is_some_and(|terms| terms.len() > TERMS_MAX) => {
                "CONFIGURE_KEYTERM_LIMIT_EXCEEDED"
            }
            () => {
                self.pending = Some((Instant::now() + CONFIGURING, terms.clone()));
                return;
            }
        };
        self.say(json!({"type": "ConfigureFailure", "request_id": "r-1", "code": code,
            "description": "refused"}))
            .await;
    }

    async fn configured(&mut self) {
        if self.pending.as_ref().is_some_and(|(at, _)| *at <= Instant::now()) {
            let (_, terms) = self.pending.take().expect("it is pending");
            self.say(json!({"type": "ConfigureSuccess", "request_id": "r-1", "keyterms": terms,
                "thresholds": {}}))
                .await;
        }
    }

    async fn nonsense(&mut self) -> String {
        self.say(json!({"type": "Error", "code": "MESSAGE-0000",
            "description": "a message was not understood"}))
            .await;
        self.line.close(1008, "MESSAGE-0000").await
    }
}

fn joined(before: &str, text: &str) -> String {
    match (before.is_empty(), text.is_empty()) {
        (true, _) => text.to_owned(),
        (_, true) => before.to_owned(),
        _ => format!("{before} {text}"),
    }
}
