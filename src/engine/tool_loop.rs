//! Model rounds and tool rounds of one turn, up to the final answer.
//!
//! Entry function: [`converse`]. Sentences are sent as soon as they are complete.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    Cause, Failure, NpcModel, Turn,
    calls::{CallSetup, NpcCalls, TurnCalls, result},
    conversation::Prompt,
    npc_model::LentModel,
    occasion::Occasion,
    opened::Opened,
    report::{RoundResults, plain},
    traced::{recent, used},
};
use crate::{
    domain::{Message, Npc, ToolCall, ToolChoice, redact},
    logic::{
        own_lines::OwnLines,
        prompt::GO_ON,
        sentence::{SentenceOptions, SentenceSplitter, is_clause},
        speakable::SpeakableFilter,
    },
    provider::{Attempts, Bound, ChatEvent, ChatRequest, CutOff, Error, Kind, TURN_TEXT},
    tools::FollowUp,
    traces::{Operation, Span, names},
};

#[derive(Debug)]
pub enum Say {
    Sentence(String),
    /// Covers a tool round; the tool is the slowest.
    Filler(Arc<str>),
    /// A line in place of an answer, or of its rest after the opening.
    Instead(Occasion),
}

pub struct Thinking {
    pub model: NpcModel,
    pub calls: NpcCalls,
    pub prompt: Prompt,
    pub before: Before,
    pub opened: Opened,
    /// Queue of sentences; a full queue makes the model wait.
    pub out: mpsc::Sender<Say>,
    /// The turn is over: requests end at once, running calls report it and are kept.
    pub stop: CancellationToken,
}

/// Part of a turn done by another engine before it gave up.
#[derive(Default)]
pub struct Before {
    pub spoken: String,
    pub filler_said: bool,
    pub exchange: Vec<Message>,
    /// The calls with their limits, so that none runs twice.
    pub calls: Option<TurnCalls>,
}

impl Before {
    fn tell(&self, messages: &mut Vec<Message>) {
        messages.extend_from_slice(&self.exchange);
        if !self.spoken.is_empty() {
            messages.push(Message::spoken(self.spoken.clone()));
            messages.push(Message::User(GO_ON.into()));
        }
    }
}

/// Alternates model and tool rounds until the model has answered.
pub async fn converse(turn: Arc<Turn>, thinking: Thinking) -> (RoundResults, TurnCalls) {
    let Thinking { model, calls, mut prompt, before, opened, out, stop } = thinking;
    let continues = model.models.continues();
    before.tell(&mut prompt.turn);
    opened.tell(continues, &mut prompt.turn);
    let left = usize::from(model.npc.max_sentences.max(1));
    let setup = CallSetup {
        npc: Arc::clone(&model.npc),
        calls,
        reads_prompts: model.models.reads_prompts(),
        sampler: LentModel::of(&model),
        payments: model.payments(),
        stop: stop.clone(),
    };
    let calls = match before.calls {
        Some(begun) => begun.go_on(setup),
        None => TurnCalls::new(setup, Arc::clone(&turn)),
    };
    let mut rounds = Rounds {
        calls,
        sentences_left: left.saturating_sub(opened.sentences()),
        plain: plain(&model.npc),
        model,
        turn,
        prompt,
        out: Some(out),
        has_spoken: !before.spoken.is_empty() || opened.is_said(),
        has_withheld: false,
        filler_said: before.filler_said,
        nobody_answers: false,
        stop,
        talk: RoundResults {
            exchange: before.exchange,
            thought: opened.by.iter().filter(|_| opened.is_said()).cloned().collect(),
            first_text_at: opened.first_text_at.filter(|_| opened.is_said()),
            ..RoundResults::default()
        },
        opened,
        continues,
    };
    rounds.talk.failure = rounds.run().await.err();
    if rounds.has_withheld && rounds.talk.failure.is_none() {
        rounds.talk.failure = Some(rounds.withheld());
    }
    let instead = match rounds.talk.failure {
        Some(Failure::OverBudget(_)) => Some(Occasion::Spent),
        Some(Failure::Model(_)) if rounds.nobody_answers => Some(Occasion::Unanswered),
        _ => None,
    };
    // An opening sentence alone is no answer.
    let is_unanswered =
        !rounds.has_spoken || rounds.opened.is_said() && rounds.talk.text.is_empty();
    if let Some(occasion) = instead.filter(|_| is_unanswered) {
        rounds.send(Say::Instead(occasion)).await;
    }
    (rounds.talk, rounds.calls)
}

struct Rounds {
    model: NpcModel,
    calls: TurnCalls,
    turn: Arc<Turn>,
    prompt: Prompt,
    out: Option<mpsc::Sender<Say>>,
    sentences_left: usize,
    plain: SpeakableFilter,
    has_spoken: bool,
    /// A sentence was withheld because it contained a credential.
    has_withheld: bool,
    filler_said: bool,
    /// The opening sentence, which the answer continues.
    opened: Opened,
    /// The model can continue a last message of its own.
    continues: bool,
    /// Every model of a chain failed.
    nobody_answers: bool,
    stop: CancellationToken,
    talk: RoundResults,
}

struct Answer {
    text: String,
    calls: Vec<ToolCall>,
    took: Duration,
}

impl Rounds {
    async fn run(&mut self) -> Result<(), Failure> {
        if self.opened.is_whole() {
            return Ok(());
        }
        let stop = self.stop.clone();
        match &Arc::clone(&self.turn).cause {
            Cause::Utterance => {}
            Cause::Puppet { words, .. } => {
                stop.run_until_cancelled(self.recite(words)).await;
                return Ok(());
            }
            Cause::FollowUp(late) => self.take_late(late),
        }
        let npc = Arc::clone(&self.model.npc);
        let policy = &npc.policy;
        for round in 0..=policy.max_rounds {
            let is_last = round == policy.max_rounds;
            if stop.run_until_cancelled(self.offer(round, is_last)).await.is_none() {
                return Ok(());
            }
            // The calls of another engine were the first round.
            let is_first = round == 0 && self.talk.exchange.is_empty();
            let choice = if is_first { policy.tool_choice.clone() } else { ToolChoice::Auto };
            let asked = stop.run_until_cancelled(self.ask(choice)).await;
            let Some(answer) = asked.transpose()? else { return Ok(()) };
            if answer.calls.is_empty() || is_last || self.sentences_left == 0 {
                return Ok(());
            }
            if !self.run_calls(answer).await || stop.is_cancelled() {
                return Ok(());
            }
            self.has_room()?;
        }
        Ok(())
    }

    /// Sets the offered tools; in the last round the model must answer.
    async fn offer(&mut self, round: u32, is_last: bool) {
        match round {
            _ if is_last => self.calls.offer_nothing(),
            0 => self.calls.offer_first().await,
            _ => self.calls.offer_next().await,
        }
        if round == 0 {
            let names = self.calls.specs().iter().map(|spec| spec.name.to_string());
            self.talk.visible = names.collect();
        }
    }

    /// Presents a late result as a call of this turn.
    fn take_late(&mut self, late: &FollowUp) {
        self.calls.take_late(late.record.clone());
        self.remember(String::new(), vec![late.call.clone()], &[result(&late.record)]);
    }

    async fn recite(&mut self, words: &str) {
        self.sentences_left = usize::MAX;
        let mut splitter = SentenceSplitter::new(&splitting(&self.model.npc));
        for sentence in splitter.push(words) {
            self.say(sentence).await;
        }
        if let Some(rest) = splitter.finish() {
            self.say(rest).await;
        }
    }

    /// One request, as a span of the turn's trace.
    async fn ask(&mut self, tool_choice: ToolChoice) -> Result<Answer, Failure> {
        let called = || self.model.models.called();
        let span = self.turn.trace.begin(Operation::Chat, called);
        let answer = self.answer(tool_choice, &span).await;
        match &answer {
            Ok(answer) => span.content(names::ANSWER, || redact::without_credentials(&answer.text)),
            Err(failure) => span.failed(failure.kind()),
        }
        answer
    }

    /// One request; sends its sentences as they become complete.
    async fn answer(&mut self, tool_choice: ToolChoice, span: &Span) -> Result<Answer, Failure> {
        let (asked_at, npc) = (Instant::now(), Arc::clone(&self.model.npc));
        let (messages, size) = self.prompt.request(&npc.name, self.calls.specs());
        self.turn.record_prompt(|| self.prompt.parts(&npc.name, &messages));
        let request = ChatRequest {
            messages,
            tools: Arc::clone(self.calls.specs()),
            tool_choice,
            max_tokens: self.model.max_tokens,
            facts: Arc::clone(&self.turn.facts),
            attempts: Attempts::default(),
        };
        span.content(names::PROMPT, || recent(&request.messages));
        let asked = self.model.ask(request, size.total()).await;
        let mut answering = asked.map_err(|error| self.unanswered(&error))?;
        span.of(answering.name());
        self.talk.thought_by(answering.name());
        let mut cut_off = None;
        let mut splitter = SentenceSplitter::new(&splitting(&npc));
        let turn = Arc::clone(&self.turn);
        let mut own = OwnLines::new(&turn.labels);
        let mut answer = Answer { text: String::new(), calls: Vec::new(), took: Duration::ZERO };
        while let Some(event) = answering.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    let failure = self.failed(&error, Some(&**answering.name()));
                    answering.failed(error.kind());
                    return Err(failure);
                }
            };
            match event {
                ChatEvent::Text(delta) => {
                    span.reached(names::FIRST_TEXT);
                    self.talk.first_text_at.get_or_insert_with(Instant::now);
                    let delta = own.push(&delta);
                    self.take(&delta, &mut splitter, &mut answer).await?;
                    if self.sentences_left == 0 || own.is_over() {
                        break;
                    }
                }
                ChatEvent::ToolCall(call) => {
                    self.talk.first_text_at.get_or_insert_with(Instant::now);
                    answer.calls.push(call);
                }
                ChatEvent::Usage(_) | ChatEvent::Hidden(_) => {}
                ChatEvent::CutOff(why) => cut_off = Some(why),
                ChatEvent::Done => break,
            }
        }
        let failure = self.end(splitter, own, cut_off, &mut answer).await;
        if let Some(usage) = answering.settle() {
            used(span, usage);
            self.prompt.window.counted(&npc.name, size, usage);
        }
        answer.took = asked_at.elapsed();
        self.talk.add_text(&answer.text, plain(&self.model.npc));
        failure.map_or(Ok(answer), Err)
    }

    /// Speaks the sentences that `delta` completes.
    async fn take(
        &mut self,
        delta: &str,
        splitter: &mut SentenceSplitter,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        answer.text.push_str(delta);
        let size = self.talk.text.len() + answer.text.len();
        TURN_TEXT.check(size).map_err(|bound| self.over(bound))?;
        for sentence in splitter.push(delta) {
            self.say(sentence).await;
        }
        Ok(())
    }

    /// Speaks the rest of an answer, except half a sentence; returns why it ended early.
    async fn end(
        &mut self,
        mut splitter: SentenceSplitter,
        mut own: OwnLines<'_>,
        cut_off: Option<CutOff>,
        answer: &mut Answer,
    ) -> Option<Failure> {
        let held = own.finish();
        answer.text.push_str(&held);
        for sentence in splitter.push(&held) {
            self.say(sentence).await;
        }
        let rest = splitter.finish();
        let Some(why) = cut_off else {
            if let Some(rest) = rest {
                self.say(rest).await;
            }
            return None;
        };
        let is_whole = why == CutOff::Length && rest.is_none() && self.has_spoken;
        // Calls count as an answer.
        (!is_whole && answer.calls.is_empty()).then(|| self.cut_off(why))
    }

    fn cut_off(&self, why: CutOff) -> Failure {
        let name = self.model.models.called();
        let limit = self.model.max_tokens;
        Failure::Model(match why {
            CutOff::Length => format!(
                "{name}: the answer was cut off at \"{limit}\" tokens, so its last sentence was not \
                 said (raise max_tokens under providers.llm)"
            ),
            CutOff::Filter => format!(
                "{name}: the service withheld the rest of the answer (its content filter; ask in \
                 other words)"
            ),
        })
    }

    fn withheld(&self) -> Failure {
        let name = self.model.models.called();
        Failure::Model(format!(
            "{name}: withheld a sentence that holds a credential (find out where the model has read \
             it)"
        ))
    }

    fn over(&self, bound: Bound) -> Failure {
        let name = self.model.models.called();
        Failure::Model(format!("{name}: the answer exceeds the limit of {bound} (check the model)"))
    }

    /// Fails if results of calls no longer fit the next request.
    fn has_room(&self) -> Result<(), Failure> {
        if self.prompt.window.has_room_beside(&self.prompt.turn) {
            return Ok(());
        }
        let name = self.model.models.called();
        Err(Failure::Model(format!(
            "{name}: the arguments of its calls fill half of its window (check the model, or raise \
             context_window)"
        )))
    }

    /// Failure before the first word; an error of several models names them itself.
    fn unanswered(&mut self, error: &Error) -> Failure {
        let is_alone = self.model.models.is_alone();
        self.nobody_answers = !is_alone && error.kind().falls_over();
        if is_alone || error.kind() == Kind::OverBudget {
            return self.failed(error, None);
        }
        Failure::Model(error.to_string())
    }

    /// Failure that ends the turn; `name` is the model that began to answer.
    fn failed(&self, error: &Error, name: Option<&str>) -> Failure {
        if error.kind() == Kind::OverBudget {
            return Failure::OverBudget(error.to_string());
        }
        let models = &self.model.models;
        let name =
            name.filter(|_| !models.is_alone()).map_or_else(|| models.called(), str::to_owned);
        Failure::Model(format!("{name}: {error}"))
    }

    async fn say(&mut self, sentence: String) {
        if self.sentences_left == 0 {
            return;
        }
        let bare = self.plain.next(&sentence);
        if redact::holds_credential(&sentence) || redact::holds_credential(&bare) {
            self.has_withheld = true;
            return;
        }
        let Some(sentence) = self.opened.join(sentence, &bare) else {
            if self.opened.is_taken_back() {
                self.sentences_left = 0;
            }
            return;
        };
        // A long sentence may come in two parts.
        if !is_clause(&sentence) {
            self.sentences_left -= 1;
        }
        self.has_spoken = true;
        self.send(Say::Sentence(sentence)).await;
    }

    async fn send(&mut self, say: Say) {
        if let Some(out) = &self.out
            && out.send(say).await.is_err()
        {
            // The failed voice reports itself; continuing is useless.
            self.out = None;
            self.sentences_left = 0;
        }
    }

    /// Runs one round of calls; false if the turn ended before any ran.
    async fn run_calls(&mut self, answer: Answer) -> bool {
        let Answer { text, calls, took } = answer;
        self.cover(&calls, took);
        let kept: Vec<ToolCall> = calls.iter().map(ToolCall::kept).collect();
        let Some(records) = self.calls.run(&kept).await else { return false };
        let results: Vec<Message> = records.iter().map(result).collect();
        let released = self.opened.release(records, self.has_spoken);
        self.remember(text, calls, &results);
        if let Some(opener) = released {
            self.sentences_left = self.sentences_left.saturating_sub(1);
            self.has_spoken = true;
            if let Some(name) = &self.opened.by {
                self.talk.thought_by(name);
            }
            self.opened.tell(self.continues, &mut self.prompt.turn);
            self.send(Say::Sentence(opener)).await;
        }
        true
    }

    fn remember(&mut self, text: String, calls: Vec<ToolCall>, results: &[Message]) {
        // Words beside the calls are part of the spoken text, which comes later.
        let kept = calls.iter().map(ToolCall::kept).collect();
        let silent = Message::Assistant { text: String::new(), calls: kept, gated: false };
        self.talk.exchange.push(silent);
        self.talk.exchange.extend_from_slice(results);
        // A begun answer is merged with its continuation.
        let begun = match self.prompt.turn.last() {
            Some(Message::Assistant { text, calls, .. }) if calls.is_empty() => text.clone() + " ",
            _ => String::new(),
        };
        if !begun.is_empty() {
            self.prompt.turn.pop();
        }
        let text = begun + &text;
        self.prompt.turn.push(Message::Assistant { text, calls, gated: false });
        self.prompt.turn.extend_from_slice(results);
    }

    /// Speaks one filler if the table would wait too long for `calls`.
    fn cover(&mut self, calls: &[ToolCall], took: Duration) {
        if !self.has_spoken
            && !self.filler_said
            && let Some(tool) = self.calls.too_slow(calls, took)
            && let Some(out) = &self.out
        {
            // Before the first words the queue has room.
            self.filler_said = out.try_send(Say::Filler(tool)).is_ok();
        }
    }
}

fn splitting(npc: &Npc) -> SentenceOptions {
    SentenceOptions { language: npc.language.clone(), ..SentenceOptions::default() }
}
