//! `/v1/speak`: a buffer of text, spoken when it is flushed.

use std::{collections::VecDeque, mem, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Asked,
    line::{Heard, Line, Played, Sentence},
};

/// Most characters of one text, and within a minute.
const TEXT: usize = 2_000;
const TEXTS: usize = 2_400;
/// Most flushes within a minute.
const FLUSHES: usize = 20;
const MINUTE: Duration = Duration::from_secs(60);

struct Speaking<'a> {
    line: &'a mut Line,
    asked: &'a Asked,
    buffer: String,
    sentences: VecDeque<Sentence>,
    flushes: VecDeque<Instant>,
    texts: VecDeque<(Instant, usize)>,
    sequence: u64,
}

/// Serves one socket; how it ended.
pub async fn serve(line: &mut Line, asked: &Asked) -> String {
    line.say(json!({"type": "Metadata", "request_id": "r-1", "model_name": asked.value("model"),
        "model_version": "1", "model_uuid": "m-1"}))
        .await;
    let mut speaking = Speaking {
        line,
        asked,
        buffer: String::new(),
        sentences: VecDeque::new(),
        flushes: VecDeque::new(),
        texts: VecDeque::new(),
        sequence: 0,
    };
    let mut is_stalled = false;
    loop {
        let waits = speaking.sentences.is_empty() || is_stalled;
        let heard = if waits { Some(speaking.line.next().await) } else { speaking.line.now() };
        let ended = match heard {
            Some(Heard::Order(order)) => speaking.obey(&order).await,
            Some(Heard::Nonsense) => Some(speaking.line.close(1008, "DATA-0000").await),
            Some(Heard::Gone(how)) => Some(how),
            // It has no limit on silence.
            Some(Heard::Quiet) => None,
            None => speaking.go_on(&mut is_stalled).await,
        };
        if let Some(ended) = ended {
            return ended;
        }
        is_stalled &= !speaking.sentences.is_empty();
    }
}

impl Speaking<'_> {
    async fn go_on(&mut self, is_stalled: &mut bool) -> Option<String> {
        let sentence = self.sentences.front_mut()?;
        match self.line.play(sentence).await {
            Played::More => None,
            Played::Whole => {
                self.sentences.pop_front();
                self.reports("Flushed").await;
                None
            }
            Played::Stalled => {
                *is_stalled = true;
                None
            }
            Played::Ended(how) => Some(how),
        }
    }

    async fn obey(&mut self, order: &Value) -> Option<String> {
        match order["type"].as_str().unwrap_or_default() {
            "Speak" => return self.hear(order["text"].as_str()).await,
            "Flush" => self.flush().await,
            "Clear" => {
                self.buffer.clear();
                if let Some(sentence) = self.sentences.pop_front() {
                    self.line.cancel(sentence).await;
                }
                self.sentences.clear();
                self.reports("Cleared").await;
            }
            "Close" => return Some(self.line.close(1000, "").await),
            _ => return Some(self.line.close(1008, "DATA-0000").await),
        }
        None
    }

    async fn hear(&mut self, text: Option<&str>) -> Option<String> {
        let Some(text) = text else { return Some(self.line.close(1008, "DATA-0000").await) };
        let (now, count) = (Instant::now(), text.chars().count());
        self.texts.retain(|(at, _)| *at + MINUTE > now);
        self.texts.push_back((now, count));
        if count > TEXT {
            return Some(self.line.close(1009, "BIG-0001").await);
        }
        if self.texts.iter().map(|(_, count)| count).sum::<usize>() > TEXTS {
            return Some(self.line.close(1008, "DATA-0001").await);
        }
        self.buffer.push_str(text);
        None
    }

    async fn flush(&mut self) {
        let now = Instant::now();
        self.flushes.retain(|at| *at + MINUTE > now);
        if self.flushes.len() >= FLUSHES {
            let warning = "too many Flush messages";
            self.line
                .say(json!({"type": "Warning", "code": "EXCESSIVE_FLUSH", "warn_msg": warning}))
                .await;
            return;
        }
        self.flushes.push_back(now);
        let text = mem::take(&mut self.buffer);
        self.sentences.push_back(Sentence::new(text, self.asked));
    }

    async fn reports(&mut self, kind: &str) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.line.say(json!({"type": kind, "sequence_id": sequence})).await;
    }
}
