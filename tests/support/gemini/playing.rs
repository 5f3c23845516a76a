//! An answer in progress: its messages, until it ends, is interrupted, or the client leaves.
//!
//! Entry functions: [`Talk::begin`], [`Talk::step`], [`Talk::interrupt`], [`Talk::settle`].

use std::{collections::VecDeque, time::Duration};

use futures::SinkExt;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::{
    check::{Call, Stage},
    plan::{Out, plan, take_words},
    talk::Talk,
};
use crate::support::voice_models::{
    Fault, Usage,
    answer::{Ending, Late, PIECE_MS, SPOKEN_RATE, tone},
    bill::{sound_tokens, text_tokens},
};

/// Tokens of a second of sound, heard or spoken.
const SOUND: u64 = 25;
/// Pause before 100 ms of sound: 50 times faster than real time.
const PACE: Duration = Duration::from_millis(2);
/// Longest sound that is played to its end.
const PLAYED_MAX: Duration = Duration::from_secs(10);

/// An answer that is being made.
pub struct Running {
    number: usize,
    plan: VecDeque<Out>,
    is_counted: bool,
    /// True if it respects the longest answer allowed.
    is_bounded: bool,
    /// True if it waits for the result of a called tool.
    is_blocked: bool,
    /// True if any of its words were sent.
    has_words: bool,
    /// Tokens read.
    input: Usage,
    /// Bytes of calls.
    written: usize,
    spoken_ms: u64,
    /// Start of its sound.
    sounds_at: Option<Instant>,
    /// The part of it that comes late.
    late: Late,
    /// Its words, if these do.
    late_words: String,
}

impl Running {
    fn usage(&self) -> Usage {
        Usage {
            text_out: text_tokens(self.written),
            audio_out: sound_tokens(self.spoken_ms, SOUND),
            ..self.input
        }
    }

    /// True if anything is left to send.
    pub fn plays(&self) -> bool {
        !self.plan.is_empty()
    }

    /// Delay of the next piece.
    pub fn pace(&self) -> Option<Duration> {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        match self.plan.front()? {
            Out::Played => self.played_at().map(left),
            out => out.is_sound().then_some(PACE),
        }
    }

    /// End of its sound when played in real time.
    fn played_at(&self) -> Option<Instant> {
        self.sounds_at.map(|at| at + Duration::from_millis(self.spoken_ms).min(PLAYED_MAX))
    }

    /// True if nothing more comes before the results of its calls.
    fn waits(&self) -> bool {
        let is_last = matches!(self.plan.front(), None | Some(Out::Ends(Ending::Whole)));
        self.is_blocked && is_last
    }

    /// True if a part of it comes after these results.
    fn has_rest(&self) -> bool {
        self.waits() && matches!(self.late, Late::Sound | Late::Words)
    }

    /// True if it ends with its calls, and its turn with the answer to their results: each second one does,
    /// and tells its tokens with the calls.
    fn ends_with_calls(&self) -> bool {
        self.waits() && !self.has_rest() && self.number.is_multiple_of(2)
    }

    /// True if it marks the end of its words.
    fn marks_last_words(&self) -> bool {
        self.has_words && self.number % 3 != 1
    }

    /// Tokens as the service tells them.
    fn told(&self) -> Value {
        let usage = if self.is_counted { self.usage() } else { Usage::default() };
        let (input, output) = (usage.text_in + usage.audio_in, usage.text_out + usage.audio_out);
        let by_kind = |text: u64, audio: u64| {
            let all = [("TEXT", text), ("AUDIO", audio)].into_iter();
            let there = all.filter(|(_, count)| *count > 0);
            let told = there.map(|(kind, count)| json!({"modality": kind, "tokenCount": count}));
            Value::from_iter(told)
        };
        json!({"promptTokenCount": input, "responseTokenCount": output,
            "totalTokenCount": input + output,
            "promptTokensDetails": by_kind(usage.text_in, usage.audio_in),
            "responseTokensDetails": by_kind(usage.text_out, usage.audio_out)})
    }
}

impl Talk {
    /// Begins to answer as soon as time allows.
    pub async fn begin(&mut self) {
        if self.running.is_some() {
            self.is_due = true;
            return;
        }
        self.is_due = false;
        let (number, answer) = self.shared.next_answer();
        self.note(|seen| seen.answers += 1);
        let mut plan = plan(&answer, number);
        // The transcript comes before the answer, in the middle of it, or after it.
        if number % 3 != 1
            && let Some(understood) = self.transcript.take()
        {
            let at = if number % 3 == 0 { 0 } else { plan.len() / 2 };
            plan.insert(at, Out::Understood(understood));
        }
        let late_words = match answer.late {
            Late::Words => take_words(&mut plan),
            _ => String::new(),
        };
        let is_bounded = !plan.iter().any(|out| matches!(out, Out::Forever(_)));
        self.running = Some(Running {
            number,
            plan,
            is_counted: answer.is_counted,
            is_bounded,
            is_blocked: false,
            has_words: false,
            input: self.read(),
            written: 0,
            spoken_ms: 0,
            sounds_at: None,
            late: answer.late,
            late_words,
        });
        if self.known.has("sessionResumption") {
            // Empty fields may be left out.
            let update = match number % 2 {
                0 => json!({}),
                _ => json!({"newHandle": "", "resumable": false}),
            };
            self.say(json!({ "sessionResumptionUpdate": update })).await;
        }
    }

    /// Begins to answer as soon as nothing is being played.
    pub async fn begin_when_idle(&mut self) {
        if self.running.is_none() && self.played_at.is_none_or(|at| at <= Instant::now()) {
            return self.begin().await;
        }
        self.is_patient = true;
        self.note(|seen| seen.idled += 1);
    }

    /// Start of an answer that waits for the end of another; `None`: none waits, or the
    /// other still speaks.
    pub fn idle_at(&self) -> Option<Instant> {
        let waits = self.is_patient && self.running.is_none();
        waits.then(|| self.played_at.unwrap_or_else(Instant::now))
    }

    /// Tokens that are read for an answer: the whole conversation. Nothing is cached.
    fn read(&self) -> Usage {
        let setup = &self.known.setup;
        let settings =
            setup["systemInstruction"].to_string().len() + setup["tools"].to_string().len();
        let heard = sound_tokens(self.known.heard_ms + self.known.spoken_ms, SOUND);
        let text_in = text_tokens(settings + self.known.said);
        Usage { text_in, audio_in: heard, ..Usage::default() }
    }

    /// Sends the next piece.
    pub async fn step(&mut self) {
        let Some(running) = &mut self.running else { return };
        let Some(out) = running.plan.pop_front() else { return };
        match out {
            Out::Forever(out) => {
                let again = (*out).clone();
                running.plan.push_front(Out::Forever(out));
                self.send(again).await;
            }
            out => self.send(out).await,
        }
    }

    async fn send(&mut self, out: Out) {
        match out {
            Out::Said(words, has_sound) => self.speak(words, has_sound).await,
            Out::Calls(calls) => self.call(calls).await,
            Out::Understood(message) => self.say(message).await,
            Out::Frame(text, is_binary) => {
                let bytes = text.clone().into_bytes();
                let message = if is_binary { Message::binary(bytes) } else { Message::text(text) };
                let _ = self.socket.send(Message::Ping(Vec::new().into())).await;
                let _ = self.socket.send(message).await;
            }
            Out::Ends(ending) => self.end(ending).await,
            Out::Played => {
                self.complete("").await;
                self.go_on().await;
            }
            Out::Forever(_) => {}
        }
    }

    async fn speak(&mut self, words: String, has_sound: bool) {
        let mut content = json!({});
        if has_sound {
            let mime = format!("audio/pcm;rate={SPOKEN_RATE}");
            let part = json!({"inlineData": {"mimeType": mime, "data": tone()}});
            content["modelTurn"] = json!({"parts": [part]});
        }
        if !words.is_empty() && self.known.has("outputAudioTranscription") {
            content["outputTranscription"] = json!({ "text": words });
            if let Some(running) = &mut self.running {
                running.has_words = true;
            }
        }
        if content != json!({}) {
            self.say(json!({ "serverContent": content })).await;
        }
        let most = self.known.max_tokens();
        let Some(running) = self.running.as_mut().filter(|_| has_sound) else { return };
        running.spoken_ms += PIECE_MS;
        running.sounds_at.get_or_insert_with(Instant::now);
        self.known.spoken_ms += PIECE_MS;
        let usage = running.usage();
        let is_full = most.is_some_and(|most| usage.audio_out + usage.text_out >= most);
        if is_full && running.is_bounded {
            self.end(Ending::Whole).await;
        }
    }

    async fn call(&mut self, calls: Vec<(String, String, Value)>) {
        let told = calls
            .iter()
            .map(|(id, name, arguments)| json!({"id": id, "name": name, "args": arguments}));
        let mut message = json!({"toolCall": {"functionCalls": told.collect::<Vec<_>>()}});
        for (id, name, arguments) in calls {
            let is_blocking = self.known.is_blocking(&name);
            if let Some(running) = &mut self.running {
                running.written += name.len() + arguments.to_string().len();
                running.is_blocked |= is_blocking;
            }
            self.known.calls.push(Call { id, name, is_blocking, stage: Stage::Open });
        }
        let is_told = |it: &&Running| it.ends_with_calls() || it.has_rest();
        if let Some(running) = self.running.as_ref().filter(is_told) {
            message["usageMetadata"] = running.told();
        }
        self.say(message).await;
    }

    async fn end(&mut self, ending: Ending) {
        match ending {
            Ending::Whole => self.finish().await,
            Ending::Cancelled => self.break_off().await,
            Ending::TooLong => self.complete("MALFORMED_FUNCTION_CALL").await,
            Ending::Failed => self.complete("RESPONSE_REJECTED").await,
            // Sound played so far stays, so that it can still be interrupted.
            Ending::Stalls => {}
            Ending::Cut => self.ended = Some("cut".to_owned()),
            Ending::Expired => self.expire().await,
        }
        self.go_on().await;
    }

    /// Begins the answer that is due, if time allows.
    async fn go_on(&mut self) {
        let is_free = self.running.is_none() && self.ended.is_none();
        if is_free && self.is_due && self.known.awaited().next().is_none() {
            self.begin().await;
        }
    }

    /// Ends a whole answer. One that waits for a result ends its turn at once, or only with the answer
    /// to it: the service does either.
    async fn finish(&mut self) {
        if self.running.as_ref().is_some_and(Running::has_rest) {
            return;
        }
        self.mark_last_words().await;
        if self.running.as_ref().is_some_and(Running::ends_with_calls) {
            return self.settle();
        }
        self.warn().await;
        let whole = json!({"serverContent": {"generationComplete": true}});
        if self.running.as_ref().is_none_or(|it| it.late != Late::End) {
            self.begin_to_say(whole).await;
            return self.complete("").await;
        }
        self.say(whole).await;
        if let Some(running) = &mut self.running {
            running.plan = VecDeque::from([Out::Played]);
        }
    }

    async fn mark_last_words(&mut self) {
        if self.running.as_ref().is_some_and(Running::marks_last_words) {
            self.say(json!({"serverContent": {"outputTranscription": {"finished": true}}})).await;
        }
    }

    /// Ends the turn of calls whose results have come, with what of it is late.
    pub async fn end_late(&mut self) {
        let Some(running) = self.running.as_mut().filter(|it| it.has_rest()) else { return };
        let words = std::mem::take(&mut running.late_words);
        if running.late == Late::Sound {
            self.speak(String::new(), true).await;
        } else if self.known.has("outputAudioTranscription") {
            let told = json!({"text": words, "finished": true});
            self.say(json!({"serverContent": {"outputTranscription": told}})).await;
        }
        self.mark_last_words().await;
        self.say(json!({"serverContent": {"generationComplete": true}})).await;
        self.complete("").await;
    }

    /// Ends a turn, and tells its price in the same message.
    async fn complete(&mut self, reason: &str) {
        let Some(running) = &self.running else { return };
        let (number, is_blocked) = (running.number, running.is_blocked);
        let mut content = json!({"turnComplete": true});
        if !reason.is_empty() {
            content["turnCompleteReason"] = json!(reason);
        }
        let message = json!({"serverContent": content, "usageMetadata": running.told()});
        self.settle();
        self.say(message).await;
        if let Some(understood) = self.transcript.take() {
            self.say(understood).await;
        }
        if self.known.has("sessionResumption") && !is_blocked {
            let handle = format!("handle_{}_{number}", self.number);
            let known = self.known.clone();
            self.shared.change(|state| state.resumable.insert(handle.clone(), known));
            let update = json!({"newHandle": handle, "resumable": true});
            self.say(json!({ "sessionResumptionUpdate": update })).await;
        }
        if reason.is_empty() && !is_blocked {
            self.go_wrong().await;
        }
    }

    /// Fails as it was scripted, after the first whole answer.
    async fn go_wrong(&mut self) {
        match self.fault {
            Fault::Expires => self.expire().await,
            Fault::Closes => {
                let _ = self.socket.close(None).await;
                self.part().await;
                self.ended = Some("closed".to_owned());
            }
            _ => {}
        }
    }

    /// Warns of its end, as it was scripted: within an answer, so that no other one begins before.
    async fn warn(&mut self) {
        if let (Fault::GoesAway(left), None) = (self.fault, self.leaves) {
            self.leaves = Some(Instant::now() + left);
            let left = format!("{}s", left.as_secs_f64());
            self.say(json!({"goAway": {"timeLeft": left}})).await;
        }
    }

    /// Stops answering for something new; a piece that was on its way still comes.
    pub async fn interrupt(&mut self) {
        (self.is_due, self.is_patient, self.played_at) = (false, false, None);
        let is_waiting = self.known.awaited().next().is_some();
        let Some(running) = &mut self.running else {
            if is_waiting {
                self.break_off().await;
            }
            return;
        };
        let on_its_way = running.plan.pop_front().filter(Out::is_sound);
        running.plan.clear();
        if let Some(out @ Out::Said(..)) = on_its_way {
            self.send(out).await;
        }
        if self.running.is_some() {
            self.note(|seen| seen.cancels += 1);
            self.break_off().await;
        }
    }

    /// Takes the calls back for which it waits, and ends the turn: no generation is complete.
    async fn break_off(&mut self) {
        let waiting = self.known.calls.iter_mut();
        let waiting = waiting.filter(|call| call.is_blocking && call.stage == Stage::Open);
        let taken_back: Vec<String> = waiting
            .map(|call| {
                call.stage = Stage::Cancelled;
                call.id.clone()
            })
            .collect();
        if !taken_back.is_empty() {
            self.say(json!({"toolCallCancellation": {"ids": taken_back}})).await;
        }
        self.say(json!({"serverContent": {"interrupted": true}})).await;
        let mut message = json!({"serverContent": {"turnComplete": true}});
        if let Some(running) = &self.running {
            message["usageMetadata"] = running.told();
        }
        self.settle();
        self.played_at = None;
        self.say(message).await;
    }

    /// Bills what was sent of an answer.
    pub fn settle(&mut self) {
        if let Some(running) = self.running.take() {
            let usage = running.usage();
            self.played_at = running.played_at();
            self.shared.change(|state| state.billed.push(usage));
        }
    }
}
