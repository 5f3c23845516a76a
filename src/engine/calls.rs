//! Tool calls of one turn, for every engine.
//!
//! Entry type: [`TurnCalls`]. Offers tools, holds back effects until the final transcript confirms
//! the turn, runs calls through `ToolHost::execute` within the turn's tool time, and keeps the
//! records.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Turn, traced::called};
use crate::{
    domain::{Message, Npc, Tier, ToolCall, ToolChoice, ToolSpec},
    logic::words::Words,
    tools::{
        Authority, CallContext, CallRecord, Caller, CatalogEntry, Payments, Progress, Query,
        Sampler, SessionCalls, Taint, ToolHost, TurnLimits, VisibleTools, bare, found_in,
    },
    traces::{Operation, Span},
};

#[derive(Clone)]
pub struct NpcCalls {
    pub host: ToolHost,
    pub made: SessionCalls,
    /// Longest wait for a tool round without a filler.
    pub filler_after: Duration,
}

impl NpcCalls {
    /// Tools for which a turn at `tier` waits long enough to need a filler.
    pub fn slow(&self, tools: &VisibleTools, tier: Tier) -> Vec<Arc<CatalogEntry>> {
        let is_slow = |it: &&Arc<CatalogEntry>| {
            it.expected > self.filler_after && !it.outlasts(tier.ceiling())
        };
        tools.iter().filter(is_slow).cloned().collect()
    }
}

pub struct CallSetup {
    pub npc: Arc<Npc>,
    pub calls: NpcCalls,
    /// The model reads prompts, so the words of others may mislead it.
    pub reads_prompts: bool,
    /// Lends the NPC's chat model to servers; `None`: sampling is disabled.
    pub sampler: Option<Arc<dyn Sampler>>,
    pub payments: Arc<dyn Payments>,
    /// The turn is over: running calls report it, and their records are kept.
    pub stop: CancellationToken,
}

pub struct TurnCalls {
    setup: CallSetup,
    turn: Arc<Turn>,
    limits: TurnLimits,
    /// Tools offered now; before the first offer, all that the NPC may call.
    offered: Arc<VisibleTools>,
    /// Names always offered: the NPC's own tools, and those found by search.
    found: Vec<Arc<str>>,
    /// Reasons for caution in the model's window.
    taint: Taint,
    /// Wall time of all rounds, without waits for the final transcript.
    tool_time: Duration,
    records: Vec<CallRecord>,
}

impl TurnCalls {
    pub fn new(setup: CallSetup, turn: Arc<Turn>) -> Self {
        let policy = &setup.npc.policy;
        Self {
            limits: TurnLimits::new(setup.calls.made.clone(), policy.clone()),
            offered: Arc::clone(&turn.tools),
            found: own_tools(&setup.npc),
            taint: taint(&turn),
            tool_time: Duration::ZERO,
            records: Vec::new(),
            turn,
            setup,
        }
    }

    #[must_use]
    pub fn go_on(self, setup: CallSetup) -> Self {
        Self { setup, ..self }
    }

    /// Offers tools that fit the turn. Cancel safe.
    pub async fn offer_first(&mut self) {
        if self.limits.is_closed() {
            return self.offer_nothing();
        }
        let all = Arc::clone(&self.offered);
        self.offered = self.setup.calls.host.narrowed(all, &self.query()).await;
    }

    /// Offers tools that fit the remaining room, including those found. Cancel safe.
    pub async fn offer_next(&mut self) {
        if self.limits.is_closed() {
            return self.offer_nothing();
        }
        let (npc, tier) = (&self.setup.npc.name, self.turn.tier);
        let host = &self.setup.calls.host;
        self.offered = host.offered(npc, tier, self.left(), &self.query()).await;
    }

    pub fn offer_nothing(&mut self) {
        self.offered = Arc::default();
    }

    pub fn specs(&self) -> &Arc<[ToolSpec]> {
        &self.offered.specs
    }

    /// The slowest tool, if the table would wait too long for `calls`; the model `took` this long
    /// to request them.
    pub fn too_slow(&self, calls: &[ToolCall], took: Duration) -> Option<Arc<str>> {
        let left = self.left();
        let expected = |call: &ToolCall| {
            let offered = self.offered.get(&call.name);
            // Background calls are not awaited.
            let waits = offered.filter(|it| !it.outlasts(left));
            (waits.map(|it| it.expected).unwrap_or_default(), self.identity(call))
        };
        let (slowest, tool) = calls.iter().map(expected).max()?;
        (slowest + took > self.setup.calls.filler_after).then_some(tool)
    }

    /// Runs one round in parallel; the records have the order of `calls`. `None`: the turn ended
    /// before the final transcript confirmed it, and nothing ran. A dropped future ends its calls.
    pub async fn run(&mut self, calls: &[ToolCall]) -> Option<&[CallRecord]> {
        self.mind_what_was_read().await;
        if calls.iter().any(|call| !self.may_run_ahead(call)) && !self.is_confirmed().await {
            return None;
        }
        self.limits.begin_round();
        let started = Instant::now();
        let context = self.context(started);
        let running = calls.iter().map(|call| {
            let (host, context) = (self.setup.calls.host.clone(), context.clone());
            let (call, trace) = (call.clone(), self.turn.trace.clone());
            async move {
                let span = trace.begin(Operation::ExecuteTool, || call.name.clone());
                let context = CallContext { span: span.clone(), ..context };
                let record = host.execute(&context, &call).await;
                called(span, &record);
                record
            }
            .boxed()
        });
        let running: Vec<BoxFuture<'static, CallRecord>> = running.collect();
        let max_parallel = self.setup.npc.policy.max_parallel.max(1) as usize;
        let records: Vec<CallRecord> = stream::iter(running).buffered(max_parallel).collect().await;
        self.tool_time += started.elapsed();
        self.found.extend(records.iter().flat_map(found_in));
        let stop_on = &self.setup.npc.policy.stop_on_tool;
        if records.iter().any(|record| stop_on.iter().any(|entry| names(entry, record))) {
            self.limits.close();
        }
        let before = self.records.len();
        self.records.extend(records);
        self.records.get(before..)
    }

    /// Adds the record of an earlier turn's call; no tools are offered with it.
    pub fn take_late(&mut self, record: CallRecord) {
        self.offer_nothing();
        if record.outside {
            self.taint.set();
        }
        if record.secret {
            self.taint.set_secrets();
        }
        self.records.push(record);
    }

    pub const fn tool_time(&self) -> Duration {
        self.tool_time
    }

    /// Categories of tools that were called, or named in `said`.
    pub fn topics(&self, said: &str) -> Vec<Arc<str>> {
        categories(said, &self.turn.tools, &self.records, &self.setup.calls.host)
    }

    pub fn into_records(self) -> Vec<CallRecord> {
        self.records
    }

    fn left(&self) -> Duration {
        self.turn.tier.ceiling().saturating_sub(self.tool_time)
    }

    fn query(&self) -> Query<'_> {
        Query {
            utterance: self.turn.words(),
            recent_categories: &self.turn.conversation.topics,
            found: &self.found,
        }
    }

    /// True once the final transcript confirms the turn; false if the turn ends before.
    async fn is_confirmed(&self) -> bool {
        let mut gate = self.turn.gate.clone();
        let agreed = gate.wait_for(|gate| gate.confirmed);
        matches!(self.setup.stop.run_until_cancelled(agreed).await, Some(Ok(_)))
    }

    /// True if it may run before the final transcript: it only reads, and needs no approval.
    fn may_run_ahead(&self, call: &ToolCall) -> bool {
        self.offered.get(&call.name).is_some_and(|offered| {
            let tool = &offered.tool;
            tool.declared.read_only == Some(true) && tool.why_ask(&self.taint).is_none()
        })
    }

    /// Updates the taint by what the model has read besides the talk: tool descriptions and
    /// memories.
    async fn mind_what_was_read(&self) {
        if self.setup.reads_prompts && self.offered.is_described_outside() {
            self.taint.set();
        }
        if self.turn.tells_secrets().await {
            self.taint.set_secrets();
        }
    }

    /// Identity of the called tool, or the unknown name.
    fn identity(&self, call: &ToolCall) -> Arc<str> {
        match self.offered.get(&call.name) {
            Some(offered) => Arc::clone(&offered.tool.identity),
            None => Arc::from(call.name.as_str()),
        }
    }

    fn context(&self, now: Instant) -> CallContext {
        let caller = Caller {
            npc: Arc::from(self.setup.npc.name.as_str()),
            tier: self.turn.tier,
            offered: self.offered.names(),
            sampler: self.setup.sampler.clone(),
            payments: Some(Arc::clone(&self.setup.payments)),
        };
        CallContext {
            scope: self.setup.calls.host.scope().clone(),
            session: self.turn.session.clone(),
            turn: self.turn.id,
            authority: Authority::Npc(caller, self.limits.clone()),
            speaker: Arc::from(self.turn.facts.speaker.as_str()),
            by: self.turn.facts.by.clone(),
            deadline: now + self.left(),
            fresh: false,
            taint: self.taint.clone(),
            progress: Progress::default(),
            span: Span::default(),
            cancel: self.setup.stop.clone(),
            effects: Arc::clone(&self.turn.effects),
        }
    }
}

/// A call's result as the model reads it.
pub fn result(record: &CallRecord) -> Message {
    Message::Tool {
        call: record.id.clone(),
        content: record.for_model.clone(),
        outside: record.outside,
        gated: record.secret,
    }
}

fn taint(turn: &Turn) -> Taint {
    let taint = Taint::default();
    if turn.conversation.outside {
        taint.set();
    }
    if turn.conversation.secrets {
        taint.set_secrets();
    }
    taint
}

/// The NPC's own tools: the one its policy names, and those of its scripted lines.
fn own_tools(npc: &Npc) -> Vec<Arc<str>> {
    let named = match &npc.policy.tool_choice {
        ToolChoice::Named(name) => Some(name),
        ToolChoice::Auto | ToolChoice::Required | ToolChoice::None => None,
    };
    let lines = npc.lines.iter().filter_map(|line| Some(&line.tool.as_ref()?.name));
    named.into_iter().chain(lines).map(|name| Arc::from(name.as_str())).collect()
}

/// True if a policy's entry names the record's tool.
fn names(entry: &str, record: &CallRecord) -> bool {
    entry == &*record.tool || bare(&record.tool) == entry
}

/// Categories of called tools and of `visible` tools named in `said`, without repetition.
fn categories(
    said: &str,
    visible: &VisibleTools,
    calls: &[CallRecord],
    host: &ToolHost,
) -> Vec<Arc<str>> {
    let snapshot = host.snapshot();
    let called = calls.iter().filter_map(|record| snapshot.find(&record.tool));
    let said = Words::of(said);
    let is_named = |category: &str| {
        let name = Words::of(category);
        !name.is_empty() && name.iter().all(|word| said.iter().any(|its| its == word))
    };
    let known: BTreeSet<&str> = visible.iter().flat_map(|it| it.tool.categories()).collect();
    let named = known.into_iter().filter(|category| is_named(category));
    let all: BTreeSet<&str> = called.flat_map(|it| it.tool.categories()).chain(named).collect();
    all.into_iter().map(Arc::from).collect()
}
