//! Model rounds and tool rounds of one turn, until there is nothing left to ask.
//!
//! Entry function: [`converse`]. Sentences leave as soon as they are whole.
//! **Never**: synthesises, or decides what was heard.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    Cause, Failure, Turn,
    cascaded::CascadedParts,
    lend::Lent,
    limits::TurnCalls,
    purse::{Held, consumed, expected},
    window::{Prompt, Size},
};
use crate::{
    domain::{Message, Npc, ToolCall, ToolChoice},
    logic::sentence::SentenceSplitter,
    provider::{ChatEvent, ChatRequest, Error, Kind},
    tools::{
        CallContext, CallError, CallErrorKind, CallRecord, Caller, FollowUp, Progress, Query,
        Taint, ToolHost, VisibleTools, bare, found_in,
    },
};

/// Something for the voice to say.
#[derive(Debug)]
pub enum Say {
    /// A sentence of the reply.
    Sentence(String),
    /// A tool round will take a while, this tool longest.
    Filler(Arc<str>),
}

/// What may be called, and what that is chosen by when it is much.
pub struct Offer {
    /// Everything the NPC may call in this turn.
    pub tools: Arc<VisibleTools>,
    /// Categories of tools in the last turns.
    pub recent: Vec<Arc<str>>,
    /// Tools of the NPC's own, offered whatever is said.
    pub own: Arc<[Arc<str>]>,
}

/// What the rounds came to.
#[derive(Debug, Default)]
pub struct Talk {
    /// Calls and results for the history.
    pub exchange: Vec<Message>,
    /// What the model could call in the first round.
    pub visible: Vec<String>,
    /// Calls made.
    pub calls: Vec<CallRecord>,
    /// First text or call.
    pub first_text_at: Option<Instant>,
    /// Tool time used.
    pub tool_time: Duration,
    /// What the model wrote, all rounds.
    pub text: String,
    /// Why it ended early.
    pub failure: Option<Failure>,
}

impl Talk {
    fn add_text(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

/// Asks the model, runs what it calls, and asks again, until it has answered.
pub async fn converse(
    parts: CascadedParts,
    turn: Arc<Turn>,
    prompt: Prompt,
    offer: Offer,
    (out, stop): (mpsc::Sender<Say>, CancellationToken),
) -> Talk {
    let mut rounds = Rounds {
        calls: TurnCalls::new(parts.session_calls.clone(), parts.npc.policy.clone()),
        sentences_left: usize::from(parts.npc.max_sentences.max(1)),
        parts,
        turn,
        prompt,
        tools: offer.tools,
        recent: offer.recent,
        found: offer.own.to_vec(),
        out: Some(out),
        has_spoken: false,
        filler_said: false,
        stop,
        taint: Taint::default(),
        talk: Talk::default(),
    };
    rounds.talk.failure = rounds.run().await.err();
    rounds.talk
}

/// The tools of `npc`'s own: the one its policy names, and what its lines call.
pub fn own_tools(npc: &Npc) -> Arc<[Arc<str>]> {
    let named = match &npc.policy.tool_choice {
        ToolChoice::Named(name) => Some(name),
        _ => None,
    };
    let lines = npc.lines.iter().filter_map(|line| Some(&line.tool.as_ref()?.name));
    named.into_iter().chain(lines).map(|name| Arc::from(name.as_str())).collect()
}

struct Rounds {
    parts: CascadedParts,
    turn: Arc<Turn>,
    prompt: Prompt,
    /// What the model is offered in this round.
    tools: Arc<VisibleTools>,
    /// Categories of tools in the last turns.
    recent: Vec<Arc<str>>,
    /// Tools that are offered whatever was said.
    found: Vec<Arc<str>>,
    /// Gone once the voice has failed.
    out: Option<mpsc::Sender<Say>>,
    calls: TurnCalls,
    sentences_left: usize,
    has_spoken: bool,
    filler_said: bool,
    /// The turn is over: requests end at once, calls under way say so and are kept.
    stop: CancellationToken,
    /// Whether the turn has read data from outside.
    taint: Taint,
    talk: Talk,
}

/// One answer of the model.
struct Answer {
    text: String,
    calls: Vec<ToolCall>,
    took: Duration,
}

impl Rounds {
    async fn run(&mut self) -> Result<(), Failure> {
        let stop = self.stop.clone();
        match &Arc::clone(&self.turn).cause {
            Cause::Utterance => {}
            Cause::Puppet(words) => {
                stop.run_until_cancelled(self.recite(words)).await;
                return Ok(());
            }
            Cause::FollowUp(late) => self.take_late(late),
        }
        let npc = Arc::clone(&self.parts.npc);
        let policy = &npc.policy;
        let mut stopped = policy.tool_choice == ToolChoice::None;
        for round in 0..=policy.max_rounds {
            let offered = match round {
                _ if stopped || round == policy.max_rounds => Some(Arc::default()),
                0 => stop.run_until_cancelled(self.first_offer()).await,
                _ => stop.run_until_cancelled(self.next_offer()).await,
            };
            let Some(offered) = offered else { return Ok(()) };
            self.tools = offered;
            let choice = if round == 0 { policy.tool_choice.clone() } else { ToolChoice::Auto };
            if round == 0 {
                let names = self.tools.specs.iter().map(|spec| spec.name.to_string());
                self.talk.visible = names.collect();
            }
            let asked = stop.run_until_cancelled(self.ask(choice)).await;
            let Some(answer) = asked.transpose()? else { return Ok(()) };
            let is_last = round == policy.max_rounds || self.sentences_left == 0;
            if answer.calls.is_empty() || is_last {
                return Ok(());
            }
            stopped |= self.run_calls(answer, stopped).await;
            if stop.is_cancelled() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The late result as if it had just come; nothing more is called for it.
    fn take_late(&mut self, late: &FollowUp) {
        self.tools = Arc::default();
        self.remember(String::new(), vec![late.call.clone()], std::slice::from_ref(&late.record));
        self.talk.calls.push(late.record.clone());
    }

    /// The game master's words, as they are.
    async fn recite(&mut self, words: &str) {
        self.sentences_left = usize::MAX;
        let mut splitter = SentenceSplitter::new(&self.parts.splitting());
        for sentence in splitter.push(words) {
            self.say(sentence).await;
        }
        if let Some(rest) = splitter.finish() {
            self.say(rest).await;
        }
    }

    fn left(&self) -> Duration {
        self.turn.tier.ceiling().saturating_sub(self.talk.tool_time)
    }

    /// The tools of the first round.
    async fn first_offer(&self) -> Arc<VisibleTools> {
        self.parts.host.narrowed(Arc::clone(&self.tools), &self.query()).await
    }

    /// The tools of a later round: those that fit into what is left.
    async fn next_offer(&self) -> Arc<VisibleTools> {
        let (npc, tier) = (&self.parts.npc.name, self.turn.tier);
        self.parts.host.offered(npc, tier, self.left(), &self.query()).await
    }

    /// What a long list is narrowed by.
    fn query(&self) -> Query<'_> {
        Query {
            utterance: &self.turn.facts.utterance,
            recent_categories: &self.recent,
            found: &self.found,
        }
    }

    /// One request; its sentences are sent on as they become whole.
    async fn ask(&mut self, tool_choice: ToolChoice) -> Result<Answer, Failure> {
        let asked_at = Instant::now();
        let (messages, size) = self.prompt.request(&self.parts.npc.name, &self.tools.specs);
        let mut held = Some(self.hold(size)?);
        let mut usage = None;
        let mut stream = self.parts.model.stream(ChatRequest {
            messages,
            tools: Arc::clone(&self.tools.specs),
            tool_choice,
            max_tokens: self.parts.max_tokens,
            facts: Arc::clone(&self.turn.facts),
        });
        let mut splitter = SentenceSplitter::new(&self.parts.splitting());
        let mut answer = Answer { text: String::new(), calls: Vec::new(), took: Duration::ZERO };
        while let Some(event) = stream.next().await {
            match event.map_err(|error| self.failed(&error))? {
                ChatEvent::Text(delta) => {
                    self.talk.first_text_at.get_or_insert_with(Instant::now);
                    answer.text.push_str(&delta);
                    for sentence in splitter.push(&delta) {
                        self.say(sentence).await;
                    }
                    if self.sentences_left == 0 {
                        break;
                    }
                }
                ChatEvent::ToolCall(call) => {
                    self.talk.first_text_at.get_or_insert_with(Instant::now);
                    answer.calls.push(call);
                }
                ChatEvent::Usage(billed) => usage = Some(billed),
                ChatEvent::Done => break,
            }
        }
        if let Some(rest) = splitter.finish() {
            self.say(rest).await;
        }
        if let (Some(held), Some(usage)) = (held.take(), usage) {
            held.settle(consumed(usage));
            self.prompt.window.counted(&self.parts.npc.name, size, usage);
        }
        answer.took = asked_at.elapsed();
        self.talk.add_text(&answer.text);
        Ok(answer)
    }

    /// Sets aside what a request of this size may cost.
    fn hold(&self, size: Size) -> Result<Held, Failure> {
        self.parts
            .purse
            .hold(
                self.parts.model.priced_as(),
                &self.parts.npc.name,
                self.parts.npc.policy.max_cost,
                expected(size.total(), self.parts.max_tokens),
            )
            .map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &Error) -> Failure {
        match error.kind() {
            Kind::OverBudget => Failure::OverBudget(error.to_string()),
            _ => Failure::Model(format!("{}: {error}", self.parts.model.name())),
        }
    }

    async fn say(&mut self, sentence: String) {
        if self.sentences_left == 0 {
            return;
        }
        self.sentences_left -= 1;
        self.has_spoken = true;
        if let Some(out) = &self.out
            && out.send(Say::Sentence(sentence)).await.is_err()
        {
            // The voice has failed and says so itself; there is no point in going on.
            self.out = None;
            self.sentences_left = 0;
        }
    }

    /// Runs one round of calls in parallel; `closed`: none may be called any more. True when a
    /// tool ends the calling.
    async fn run_calls(&mut self, answer: Answer, closed: bool) -> bool {
        let Answer { text, calls, took } = answer;
        self.cover(&calls, took);
        let host = self.parts.host.clone();
        if calls.iter().any(|call| !self.may_run_ahead(call)) && !self.is_confirmed().await {
            return true;
        }
        self.calls.begin_round(&calls);
        let started = Instant::now();
        let context = self.context(started);
        let running: Vec<BoxFuture<'static, CallRecord>> = calls
            .iter()
            .map(|call| {
                let admitted = match closed {
                    true => Err(CallError::new(CallErrorKind::Policy, CLOSED)),
                    false => self.calls.admit(started, call),
                };
                let admitted =
                    admitted.map_err(|error| CallRecord::refused(self.identity(call), call, error));
                one_call(host.clone(), context.clone(), call.clone(), admitted).boxed()
            })
            .collect();
        let max_parallel = self.parts.npc.policy.max_parallel.max(1) as usize;
        let records: Vec<CallRecord> = stream::iter(running).buffered(max_parallel).collect().await;
        self.talk.tool_time += started.elapsed();
        self.found.extend(records.iter().flat_map(found_in));
        let stop = records.iter().any(|record| {
            self.parts.npc.policy.stop_on_tool.iter().any(|tool| names(tool, record))
        });
        self.remember(text, calls, &records);
        self.talk.calls.extend(records);
        stop
    }

    /// Adds a round to this turn's messages and to the history.
    fn remember(&mut self, text: String, calls: Vec<ToolCall>, records: &[CallRecord]) {
        let results = records.iter().map(|record| Message::Tool {
            call: record.id.clone(),
            content: record.for_model.clone(),
        });
        // What was said beside the calls is part of the text that is heard, which comes later.
        let silent = Message::Assistant { text: String::new(), calls: calls.clone() };
        self.talk.exchange.push(silent);
        self.talk.exchange.extend(results.clone());
        self.prompt.messages.push(Message::Assistant { text, calls });
        self.prompt.messages.extend(results);
    }

    /// Has a filler said, once, when the table would wait too long for `calls`.
    fn cover(&mut self, calls: &[ToolCall], took: Duration) {
        let expected = |call: &ToolCall| {
            let placed = self.tools.get(&call.name);
            (placed.map(|placed| placed.expected).unwrap_or_default(), self.identity(call))
        };
        let Some((slowest, tool)) = calls.iter().map(expected).max() else { return };
        if !self.has_spoken
            && !self.filler_said
            && slowest + took > self.parts.filler_after
            && let Some(out) = &self.out
        {
            // Nothing was said yet, so there is room.
            self.filler_said = out.try_send(Say::Filler(tool)).is_ok();
        }
    }

    /// Resolves when the final transcript agrees; false when the turn ends before.
    async fn is_confirmed(&self) -> bool {
        let mut gate = self.turn.gate.clone();
        let agreed = self.stop.run_until_cancelled(gate.wait_for(|gate| gate.confirmed)).await;
        matches!(agreed, Some(Ok(_)))
    }

    /// Whether it may run before the final transcript: it reads, and changes nothing.
    fn may_run_ahead(&self, call: &ToolCall) -> bool {
        self.tools.get(&call.name).is_some_and(|placed| {
            let declared = &placed.tool.declared;
            declared.read_only == Some(true) && declared.approval != Some(true)
        })
    }

    /// The identity of what a call means; the name itself when it means nothing.
    fn identity(&self, call: &ToolCall) -> Arc<str> {
        let placed = self.tools.get(&call.name);
        placed.map_or_else(
            || Arc::from(call.name.as_str()),
            |placed| Arc::clone(&placed.tool.identity),
        )
    }

    fn context(&self, now: Instant) -> CallContext {
        CallContext {
            session: self.turn.session.clone(),
            turn: self.turn.id,
            caller: Some(Caller {
                npc: Arc::from(self.parts.npc.name.as_str()),
                tier: self.turn.tier,
                offered: self.tools.names(),
                sampler: Lent::of(&self.parts),
            }),
            speaker: Arc::from(self.turn.facts.speaker.as_str()),
            deadline: now + self.left(),
            fresh: false,
            taint: self.taint.clone(),
            progress: Progress::default(),
            cancel: self.stop.clone(),
            effects: Arc::clone(&self.turn.effects),
        }
    }
}

/// Said to a model that calls when it should answer.
const CLOSED: &str = "no tool can be called any more (answer now)";

/// One call of a round: refused or run.
async fn one_call(
    host: ToolHost,
    context: CallContext,
    call: ToolCall,
    admitted: Result<(), CallRecord>,
) -> CallRecord {
    match admitted {
        Ok(()) => host.execute(&context, &call).await,
        Err(refused) => refused,
    }
}

/// Whether a policy's entry means the tool of this record.
fn names(entry: &str, record: &CallRecord) -> bool {
    entry == &*record.tool || bare(&record.tool) == entry
}
