//! `/v2/speak`: turns, one after the other. Only the one that sounds can be interrupted.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{
    Asked,
    line::{Heard, Line, Played, Sentence},
};

/// Longest text of a message, in bytes.
const BIG: usize = 64 << 10;

struct Speaking<'a> {
    line: &'a mut Line,
    asked: &'a Asked,
    /// The turn that takes text.
    open: Option<String>,
    /// Turns that are flushed. The first is active.
    turns: VecDeque<Sentence>,
    /// Turns so far.
    count: u64,
    /// Characters and milliseconds of the session.
    characters: usize,
    sounded_ms: u64,
    interrupted_at: u64,
    is_stalled: bool,
}

/// Serves one socket; how it ended.
pub async fn serve(line: &mut Line, asked: &Asked) -> String {
    line.say(json!({"type": "Connected", "request_id": "r-1", "model_name": asked.value("model"),
        "model_version": "1", "model_uuids": ["m-1"]}))
        .await;
    let mut speaking = Speaking {
        line,
        asked,
        open: None,
        turns: VecDeque::new(),
        count: 0,
        characters: 0,
        sounded_ms: 0,
        interrupted_at: 0,
        is_stalled: false,
    };
    loop {
        let waits = speaking.turns.is_empty() || speaking.is_stalled;
        let heard = if waits { Some(speaking.line.next().await) } else { speaking.line.now() };
        let ended = match heard {
            Some(Heard::Order(order)) => speaking.obey(&order).await,
            Some(Heard::Nonsense) => Some(speaking.line.give_up("MESSAGE-0000", 1008).await),
            Some(Heard::Gone(how)) => Some(how),
            Some(Heard::Quiet) => Some(speaking.line.give_up("NET-0004", 1011).await),
            None => speaking.go_on().await,
        };
        if let Some(ended) = ended {
            return ended;
        }
    }
}

impl Speaking<'_> {
    async fn go_on(&mut self) -> Option<String> {
        let turn = self.turns.front_mut()?;
        let begins = !turn.has_begun();
        let played = self.line.play(turn).await;
        // Long before the last sound.
        if begins {
            self.line.say(json!({"type": "Flushed", "speech_id": id(self.count)})).await;
        }
        match played {
            Played::More => None,
            Played::Whole => {
                if let Some(turn) = self.turns.pop_front() {
                    let mut message = self.metadata(&turn);
                    message["type"] = json!("SpeechMetadata");
                    self.line.say(message).await;
                }
                self.begin_next().await;
                None
            }
            Played::Stalled => {
                self.is_stalled = true;
                None
            }
            Played::Ended(how) => Some(how),
        }
    }

    /// Makes the next turn the active one.
    async fn begin_next(&mut self) {
        if !self.turns.is_empty() || self.open.is_some() {
            self.begin().await;
        }
    }

    async fn begin(&mut self) {
        self.count += 1;
        self.line.say(json!({"type": "SpeechStarted", "speech_id": id(self.count)})).await;
    }

    fn metadata(&mut self, turn: &Sentence) -> Value {
        let (count, length) = (turn.text.chars().count(), turn.sent_ms());
        self.characters += count;
        self.sounded_ms += length;
        json!({
            "speech_id": id(self.count), "audio_duration_ms": length,
            "input_character_count": count, "billable_character_count": count,
            "controls_applied": {"pronunciations_applied": 0, "breaks_applied": 0,
                "pronunciation_warnings": 0},
        })
    }

    async fn obey(&mut self, order: &Value) -> Option<String> {
        let kind = order["type"].as_str().unwrap_or_default();
        let members: &[&str] = match kind {
            "Speak" => &["type", "text"],
            "Interrupt" => &["type", "playback_offset"],
            _ => &["type"],
        };
        let mut given = order.as_object().into_iter().flatten();
        if given.any(|(member, _)| !members.contains(&member.as_str())) {
            return Some(self.line.give_up("DATA-0000", 1008).await);
        }
        match kind {
            "Speak" => return self.hear(order["text"].as_str()).await,
            "Flush" => match self.open.take() {
                Some(text) => self.turns.push_back(Sentence::new(text, self.asked)),
                None => self.warn("NO_ACTIVE_SPEECH").await,
            },
            "Interrupt" => self.interrupt(&order["playback_offset"]).await,
            "Close" => {
                self.line
                    .say(json!({"type": "SessionMetadata",
                        "total_audio_duration_ms": self.sounded_ms,
                        "total_input_character_count": self.characters,
                        "total_billable_character_count": self.characters}))
                    .await;
                return Some(self.line.close(1000, "").await);
            }
            _ => return Some(self.line.give_up("DATA-0000", 1008).await),
        }
        None
    }

    async fn hear(&mut self, text: Option<&str>) -> Option<String> {
        let Some(text) = text else { return Some(self.line.give_up("DATA-0000", 1008).await) };
        if text.len() > BIG {
            return Some(self.line.give_up("BIG-0000", 1009).await);
        }
        // Its pauses are for files only, and no client here writes its pronunciations.
        if text.contains("\\{") {
            return Some(self.line.give_up("DATA-0002", 1008).await);
        }
        let is_idle = self.open.is_none() && self.turns.is_empty();
        self.open.get_or_insert_default().push_str(text);
        if is_idle {
            self.begin().await;
        }
        None
    }

    async fn interrupt(&mut self, offset: &Value) {
        let at = offset["value"].as_u64();
        if at.is_some_and(|at| at <= self.interrupted_at) {
            return self.warn("INVALID_INTERRUPT_OFFSET").await;
        }
        let has_sounded =
            self.sounded_ms > 0 || self.turns.front().is_some_and(Sentence::has_begun);
        if !has_sounded {
            return self.warn("NO_AUDIO_GENERATED").await;
        }
        let Some(turn) = self.turns.pop_front() else { return self.warn("NO_ACTIVE_SPEECH").await };
        let metadata = self.metadata(&turn);
        let text = turn.text.clone();
        self.line.cancel(turn).await;
        self.is_stalled = false;
        let played = at.unwrap_or(self.sounded_ms);
        self.interrupted_at = played;
        let mut message = json!({"type": "SpeechInterrupted", "audio_played_ms": played,
            "metadata": metadata});
        if at.is_some() {
            message["text_spoken"] = json!(text);
            message["text_remaining"] = json!("");
        }
        self.line.say(message).await;
        self.begin_next().await;
    }

    async fn warn(&mut self, code: &str) {
        let description = "ignored";
        self.line.say(json!({"type": "Warning", "code": code, "description": description})).await;
    }
}

fn id(count: u64) -> String {
    format!("dg_sp_{count:012x}")
}
