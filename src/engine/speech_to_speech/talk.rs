//! One turn with a voice model: the utterance goes out, answers and calls come back, round by
//! round.
//!
//! Entry type: [`S2sTurn`]. A failed turn leaves its words and calls in [`NotAnswered`], so that
//! the cascade continues and repeats nothing.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{
    bounds::{Bounds, Ended, NotAnswered, USED_UP, drain, finish, meaning, too_long},
    line::{Adds, Pending, S2sLine},
    outgoing::Outgoing,
};
use crate::{
    audio::FRAME,
    domain::{Calling, EngineKind, Message, ToolCall, ToolChoice, redact},
    engine::{
        Cascaded, Failure, ReplyPort, Turn, TurnReport,
        calls::{CallSetup, TurnCalls, result},
        conversation::{message_beside_sound, said},
        npc_model::LentModel,
        report::EngineUsed,
        tool_loop::Before,
    },
    logic::prompt,
    provider::{Error, Kind, Pcm, SpeechItem, SpeechItemId, SpeechOrder, SpeechSessionEvent},
};

/// Longest wait for the first sound, word or call of an answer.
const FIRST: Duration = Duration::from_secs(3);
/// A session with less time left is replaced before the turn, not during it.
const TURN: Duration = Duration::from_secs(20);
/// Lowest speed of an upload, relative to real time.
const UPLOAD: u32 = 8;

pub struct S2sTurn<'t> {
    line: &'t mut S2sLine,
    cascade: &'t Cascaded,
    turn: &'t Arc<Turn>,
    replies: &'t ReplyPort,
    calls: TurnCalls,
    out: Outgoing,
    stop: CancellationToken,
    exchange: Vec<Message>,
    visible: Vec<String>,
    first_at: Option<Instant>,
    filler_said: bool,
    upload: Duration,
    begun: Instant,
}

impl<'t> S2sTurn<'t> {
    /// `line` comes with the start of the turn; calls and fillers are those of `cascade`.
    pub fn new(
        line: &'t mut S2sLine,
        cascade: &'t Cascaded,
        (turn, begun): (&'t Arc<Turn>, Instant),
        replies: &'t ReplyPort,
    ) -> Self {
        let model = cascade.model();
        let stop = turn.cancel.child_token();
        let setup = CallSetup {
            npc: Arc::clone(&model.npc),
            calls: cascade.calls().clone(),
            reads_prompts: true,
            sampler: LentModel::of(model),
            payments: model.payments(),
            stop: stop.clone(),
        };
        Self {
            out: Outgoing::new(&model.npc, line.service().name(), cascade.levels().cloned()),
            calls: TurnCalls::new(setup, Arc::clone(turn)),
            line,
            cascade,
            turn,
            replies,
            stop,
            exchange: Vec::new(),
            visible: Vec::new(),
            first_at: None,
            filler_said: false,
            upload: Duration::ZERO,
            begun,
        }
    }

    /// Answers, or returns why another engine has to. Cancel safe: the next turn settles what was
    /// begun.
    pub async fn answer(mut self) -> Result<TurnReport, NotAnswered> {
        self.line.begins();
        let stop = self.stop.clone();
        let asked = stop.run_until_cancelled(self.say()).await;
        let ended = match asked {
            None => Ok(Ended::Stopped),
            Some(Err(error)) => Err(error),
            Some(Ok(())) => self.rounds().await,
        };
        let failure = match ended {
            Ok(Ended::Whole(_)) if !self.out.is_audible() => {
                let why = match self.out.is_mute() {
                    true => "its answer has words but no sound (check model)",
                    false => "it had nothing to say",
                };
                return Err(self.give_up(why.to_owned(), Some(Kind::Protocol)));
            }
            Ok(Ended::Whole(_) | Ended::Stopped) => None,
            Ok(Ended::HandedOver(why)) => {
                // It knows calls that are answered elsewhere.
                self.line.lose();
                return Err(self.give_up(why, None));
            }
            Ok(Ended::Cut(failure)) => Some(failure),
            Err(error) => {
                self.line.lose();
                self.close_sentence().await;
                let why = format!("{}: {error}", self.line.service().name());
                return Err(self.give_up(why, Some(error.kind())));
            }
        };
        Ok(self.report(failure).await)
    }

    /// Words and calls so far, for the engine that continues.
    fn give_up(self, why: String, kind: Option<Kind>) -> NotAnswered {
        let before = Before {
            spoken: self.out.text(),
            filler_said: self.filler_said,
            exchange: self.exchange,
            calls: Some(self.calls),
        };
        NotAnswered { why, kind, sentences: self.out.sentences(), before }
    }

    async fn say(&mut self) -> Result<(), Error> {
        let turn = Arc::clone(self.turn);
        self.calls.offer_first().await;
        let names = self.calls.specs().iter().map(|spec| spec.name.to_string());
        self.visible = names.collect();
        // An utterance whose answer cannot be paid for is not sent.
        let least = self.line.empty().expected();
        let model = self.cascade.model();
        let (payer, cap) = (&model.npc.name, model.npc.policy.max_cost);
        model.budget.reserve_now(self.line.service().priced_as(), payer, cap, least)?.unused();
        self.line.wants(self.calls.specs());
        self.line.open(&turn.conversation, self.begun, TURN).await?;
        self.line.declare(self.calls.specs())?;
        let message = message_beside_sound(&turn).await;
        turn.record_prompt(|| {
            let (talk, own) = (&turn.conversation.talk, Message::User(message.clone().into()));
            prompt::parts(&model.npc.name, &turn.conversation.system, talk, &[own])
        });
        let open = self.line.get()?;
        open.pending = Some(Pending::default());
        open.send(SpeechOrder::Text(SpeechItem::Said(message)))?;
        let uploaded = open.append(turn.audio.iter())?;
        if !turn.audio.is_empty() {
            open.commit()?;
        }
        self.upload = FRAME.saturating_mul(uploaded) / UPLOAD;
        Ok(())
    }

    async fn rounds(&mut self) -> Result<Ended, Error> {
        let npc = Arc::clone(&self.cascade.model().npc);
        let policy = &npc.policy;
        for round in 0..=policy.max_rounds {
            let is_last = round == policy.max_rounds;
            let choice = match round {
                _ if is_last => ToolChoice::None,
                0 => policy.tool_choice.clone(),
                _ => ToolChoice::Auto,
            };
            let asked_at = Instant::now();
            let stop = self.stop.clone();
            let Some(asked) = stop.run_until_cancelled(self.ask(choice)).await else {
                return Ok(Ended::Stopped);
            };
            asked?;
            let spoken = self.out.spoken.len();
            let calls = match self.listen().await? {
                Ended::Whole(calls) => calls,
                other => return Ok(other),
            };
            if calls.is_empty() || is_last {
                return Ok(Ended::Whole(Vec::new()));
            }
            // An answer beside such calls is not followed by another.
            let is_answered = self.out.spoken.len() > spoken && self.only_records(&calls);
            if !self.run(calls, asked_at.elapsed()).await? {
                return Ok(Ended::Stopped);
            }
            if is_answered {
                return Ok(Ended::Whole(Vec::new()));
            }
            if stop.run_until_cancelled(self.calls.offer_next()).await.is_none() {
                return Ok(Ended::Stopped);
            }
            if !self.line.declare(self.calls.specs())? {
                let service = self.line.service().name();
                return Ok(Ended::HandedOver(format!(
                    "{service} cannot be given other tools while it answers"
                )));
            }
        }
        Ok(Ended::Whole(Vec::new()))
    }

    async fn ask(&mut self, choice: ToolChoice) -> Result<(), Error> {
        let model = self.cascade.model();
        let service = Arc::clone(self.line.service());
        let expected = self.line.get()?.asked().expected();
        let (payer, cap) = (&model.npc.name, model.npc.policy.max_cost);
        let reserved = model.budget.reserve(service.priced_as(), payer, cap, expected).await?;
        if let Err(error) = self.line.get()?.send(SpeechOrder::Answer(choice)) {
            reserved.unused();
            return Err(error);
        }
        self.with_pending(|pending| {
            pending.reserved = Some(reserved);
            pending.is_answering = true;
        });
        Ok(())
    }

    async fn listen(&mut self) -> Result<Ended, Error> {
        let mut calls = Vec::new();
        let upload = std::mem::take(&mut self.upload);
        // Sound of earlier rounds must end before the silence is audible.
        let speech = self.cascade.model().npc.s2s.max_answer;
        let mut bounds = Bounds::new(speech, FIRST + upload + self.out.ahead());
        let stop = self.stop.clone();
        loop {
            if let Some(why) = bounds.passed()? {
                let ended = self.cut_short(&why)?;
                return self.finish(ended).await;
            }
            let waits = !self.out.is_empty();
            let events = &mut self.line.get()?.events;
            let event = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(self.stopped()),
                room = self.replies.room(), if waits => {
                    if let Some(reply) = self.out.pop() {
                        room?.send(reply);
                    }
                    continue;
                }
                event = timeout_at(bounds.until(), events.next()) => event,
            };
            // A bound was exceeded.
            let Ok(event) = event else { continue };
            let ended = || Error::new(Kind::Interrupted, "the session of the voice model is over");
            let event = event.ok_or_else(ended)??;
            bounds.note(&event);
            if let Some(ended) = self.take(event, &mut calls)? {
                return self.finish(ended).await;
            }
        }
    }

    /// Processes an event; returns the end of the answer, if it is one.
    fn take(
        &mut self,
        event: SpeechSessionEvent,
        calls: &mut Vec<ToolCall>,
    ) -> Result<Option<Ended>, Error> {
        match event {
            SpeechSessionEvent::Audio { item, sound } => return self.sound(&item, &sound),
            SpeechSessionEvent::Calling => self.begun(),
            SpeechSessionEvent::Words { item, delta } => return self.words(&item, delta),
            SpeechSessionEvent::Call(call) => {
                self.begun();
                let size = call.name.len() + call.arguments.len();
                self.with_pending(|pending| pending.answered.calls += size as u64);
                calls.push(call);
                return self.unless_used_up();
            }
            SpeechSessionEvent::Done(done) => {
                let open = self.line.get()?;
                if let Some(mut pending) = open.pending.take() {
                    open.pay(&mut pending, done.usage);
                    pending.owes = !calls.is_empty();
                    open.pending = Some(pending);
                }
                let (is_heard, name) = (self.out.is_heard(), self.line.service().name());
                return meaning(done.ending, std::mem::take(calls), is_heard, name).map(Some);
            }
            SpeechSessionEvent::Refused(error) if self.first_at.is_none() => return Err(error),
            SpeechSessionEvent::Refused(error) => {
                tracing::warn!(%error, "a voice model refused an order");
                self.line.get()?.is_off = true;
            }
            event @ SpeechSessionEvent::GoingAway(_) => self.line.get()?.note(&Ok(event)),
            // All calls of earlier rounds have results.
            SpeechSessionEvent::CallsCancelled(_) => {}
        }
        Ok(None)
    }

    fn sound(&mut self, item: &SpeechItemId, sound: &Pcm) -> Result<Option<Ended>, Error> {
        self.begun();
        let fits = self.out.sound(item, sound)?;
        let length = sound.rate.duration_of(sound.samples.len());
        self.with_pending(|pending| pending.answered.sound += length);
        if !fits {
            return self.cut_short(&too_long(self.cascade.model().npc.s2s.max_answer)).map(Some);
        }
        if self.out.is_far_ahead() {
            return self.cut("more than 30 s of speech wait to be heard").map(Some);
        }
        self.unless_used_up()
    }

    fn words(&mut self, item: &SpeechItemId, delta: String) -> Result<Option<Ended>, Error> {
        self.begun();
        let size = delta.len();
        self.with_pending(|pending| pending.answered.words += size as u64);
        if !redact::holds_credential(self.out.words(item, delta)) {
            return self.unless_used_up();
        }
        self.out.clear();
        self.cut("withheld an answer that holds a credential (find out where the model read it)")
            .map(Some)
    }

    /// Returns `ended` once the answer is passed on and paid for.
    async fn finish(&mut self, ended: Ended) -> Result<Ended, Error> {
        finish(ended, self.line, &mut self.out, self.replies, &self.stop).await
    }

    /// The end of an answer that has used up its reservation.
    fn unless_used_up(&mut self) -> Result<Option<Ended>, Error> {
        let open = self.line.get()?;
        let answered = open.pending.as_ref().map(|it| it.answered).unwrap_or_default();
        if !open.held.is_used_up(answered) {
            return Ok(None);
        }
        self.cut_short(USED_UP).map(Some)
    }

    /// Like [`Self::cut`], unless no word was played and another engine can answer.
    fn cut_short(&mut self, why: &str) -> Result<Ended, Error> {
        match self.out.is_heard() {
            true => self.cut(why),
            false => Err(Error::new(Kind::Protocol, why)),
        }
    }

    fn cut(&mut self, why: &str) -> Result<Ended, Error> {
        let open = self.line.get()?;
        // The service makes more before it stops.
        open.is_off = true;
        open.send(SpeechOrder::Cancel)?;
        self.out.stop_short();
        Ok(Ended::Cut(Failure::Model(format!("{}: {why}", self.line.service().name()))))
    }

    fn stopped(&mut self) -> Ended {
        if let Ok(open) = self.line.get() {
            open.is_off |= open.send(SpeechOrder::Cancel).is_err();
        }
        Ended::Stopped
    }

    async fn close_sentence(&mut self) {
        self.out.cut();
        // Without a table the sound is dropped.
        let _ = drain(&mut self.out, self.replies, &self.stop).await;
    }

    /// Runs one round of calls; false if the turn ended before any ran.
    async fn run(&mut self, calls: Vec<ToolCall>, took: Duration) -> Result<bool, Error> {
        self.cover(&calls, took).await?;
        let Some(results) = self.results(&calls).await else { return Ok(false) };
        let calls = Message::Assistant { text: String::new(), calls, gated: false };
        self.exchange.push(calls);
        let is_over = self.stop.is_cancelled();
        if is_over {
            // After the turn its results are only for our conversation.
            self.line.get()?.is_off = true;
        } else {
            self.send_results(&results)?;
        }
        self.exchange.extend(results);
        if is_over && !self.turn.cancel.is_cancelled() {
            let what = "the service wants no results of its calls any more";
            return Err(Error::new(Kind::Interrupted, what));
        }
        Ok(!is_over)
    }

    /// Results of a round. Calls cancelled by the service are ended, with their outcome kept.
    async fn results(&mut self, calls: &[ToolCall]) -> Option<Vec<Message>> {
        let stop = self.stop.clone();
        let run = self.calls.run(calls);
        tokio::pin!(run);
        let records = tokio::select! {
            biased;
            records = &mut run => records,
            () = self.line.calls_cancelled() => {
                stop.cancel();
                run.await
            }
        };
        Some(records?.iter().map(result).collect())
    }

    /// True if an answer continues beside all of `calls`.
    fn only_records(&self, calls: &[ToolCall]) -> bool {
        let records = |call: &ToolCall| {
            let mut specs = self.calls.specs().iter();
            specs.any(|it| *it.name == *call.name && it.calling == Calling::Records)
        };
        let goes_on = self.line.service().abilities().goes_on;
        goes_on && calls.iter().all(records)
    }

    fn send_results(&mut self, results: &[Message]) -> Result<(), Error> {
        let open = self.line.get()?;
        for result in results {
            if let Message::Tool { call, content, .. } = result {
                let (call, output) = (call.clone(), content.clone());
                open.send(SpeechOrder::Result { call, output })?;
            }
        }
        self.with_pending(|pending| pending.owes = false);
        Ok(())
    }

    /// Speaks one filler if the table would wait too long for `calls`.
    async fn cover(&mut self, calls: &[ToolCall], took: Duration) -> Result<(), Error> {
        if self.filler_said || self.out.has_sound() {
            return Ok(());
        }
        let Some(tool) = self.calls.too_slow(calls, took) else { return Ok(()) };
        let stop = self.stop.clone();
        let ready = stop.run_until_cancelled(self.cascade.fillers().ready(&tool)).await;
        if let Some(filler) = ready.flatten() {
            self.filler_said = true;
            self.out.filler(filler.text, &filler.frames);
            drain(&mut self.out, self.replies, &self.stop).await?;
        }
        Ok(())
    }

    fn begun(&mut self) {
        self.first_at.get_or_insert_with(Instant::now);
    }

    fn with_pending(&mut self, act: impl FnOnce(&mut Pending)) {
        if let Ok(open) = self.line.get()
            && let Some(pending) = &mut open.pending
        {
            act(pending);
        }
    }

    async fn report(mut self, failure: Option<Failure>) -> TurnReport {
        let said = said(self.turn);
        let told_secrets = self.turn.tells_secrets().await;
        let (spoken, exchange) = (self.out.spoken.clone(), self.exchange.clone());
        let adds = Adds { turn: Arc::clone(self.turn), exchange, told_secrets };
        self.with_pending(|pending| {
            pending.spoken = spoken;
            pending.adds = Some(adds);
        });
        let service = self.line.service();
        let (name, model) = (service.name().to_owned(), Arc::from(service.model()));
        TurnReport {
            topics: self.calls.topics(&said.text),
            said,
            exchange: self.exchange,
            told_secrets,
            visible: self.visible,
            calls: self.calls.into_records(),
            thought: vec![model],
            engine: EngineUsed {
                kind: EngineKind::SpeechToSpeech,
                spoke: Some(name),
                other_voice: None,
                because: None,
            },
            news: Vec::new(),
            first_text_at: self.first_at,
            unspoken: String::new(),
            failure,
        }
    }
}
