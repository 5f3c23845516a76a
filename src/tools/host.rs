//! Facade of the tool host: the tools a model sees, and one call from arguments to record.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use rand::rngs::StdRng;
use serde_json::{Map, Value};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{
    CallContext, CallError, CallErrorKind, CallRecord, CastChanges, Catalog, CatalogEntry,
    Definition, NamedBy, Offer, Permits, Progress, Refused, ServerKey, SessionCalls, Snapshot,
    SourceKind, VisibleTools,
    connection::Facts,
    context::Limit,
    dispatch::{Ready, Run, log},
    late_calls::Whose,
    output::framed,
    schema::Mismatch,
    state::HostState,
};
use crate::domain::{CampaignKey, PersonId, Scope, SessionId, Tier, ToolCall};

/// Interval at which tools with old failures return.
const AGEING: Duration = Duration::from_secs(5);

/// The embedded tool host; clones share it.
#[derive(Clone)]
pub struct ToolHost {
    pub(super) inner: Arc<HostState>,
    /// The session whose game master's changes apply.
    pub(super) session: Option<SessionId>,
    /// Owner and campaign of this handle.
    pub(super) scope: Scope,
}

impl ToolHost {
    /// A host without tools, for this machine and no campaign; `jitter` spreads retries.
    pub fn new(jitter: StdRng) -> Self {
        let scope = Scope::local(CampaignKey("default".to_owned()));
        Self { inner: Arc::new(HostState::new(jitter)), session: None, scope }
    }

    /// A handle for NPCs of `session` in `scope`.
    #[must_use]
    pub fn at(&self, session: &SessionId, scope: &Scope) -> Self {
        Self { session: Some(session.clone()), ..self.within(scope) }
    }

    /// A handle for `scope` outside its sessions.
    #[must_use]
    pub fn within(&self, scope: &Scope) -> Self {
        Self { inner: Arc::clone(&self.inner), session: None, scope: scope.clone() }
    }

    /// Owner and campaign of this handle.
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Calls of `npc` in this handle's session; redefining the NPC keeps the count.
    pub fn calls_of(&self, npc: &str) -> SessionCalls {
        self.inner.calls.of(self.session.as_ref(), npc)
    }

    /// Sets permissions the game master of `session` has given for good.
    pub fn set_permits(&self, session: &SessionId, permits: Permits) {
        self.inner.permits.insert(session.clone(), permits);
    }

    /// Sets the game master's changes to NPCs' tools in `session`.
    pub fn set_changes(&self, session: &SessionId, changes: CastChanges) {
        self.inner.catalog.set_changes(self.scope.owner, session, changes);
    }

    /// Drops counts and permissions of a closed session.
    pub fn forget(&self, session: &SessionId) {
        self.inner.calls.forget(session);
        self.inner.permits.remove(session);
        self.set_changes(session, CastChanges::new());
    }

    /// Sets the longest wait for a game master's decision.
    pub fn set_approval_expiry(&self, expires: Duration) {
        let expires = u64::try_from(expires.as_millis()).unwrap_or(u64::MAX);
        self.inner.approval_expires.store(expires, Ordering::Relaxed);
    }

    /// Sets the values of `${data.*}`.
    pub fn set_facts(&self, facts: Arc<Facts>) {
        self.inner.facts.store(Some(facts));
    }

    /// Fills the `${data.*}` in `prompt`.
    pub fn filled(&self, prompt: &str) -> String {
        match self.inner.facts.load().as_ref() {
            Some(facts) if prompt.contains("${data.") => {
                facts.fill_prompt(prompt, self.scope.owner)
            }
            _ => prompt.to_owned(),
        }
    }

    /// All tools.
    pub fn catalog(&self) -> &Catalog {
        &self.inner.catalog
    }

    /// Current tools of this host's owner.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.catalog.snapshot(self.scope.owner)
    }

    /// Tools rejected for this owner, with reasons.
    pub fn refused(&self) -> Vec<Refused> {
        self.inner.catalog.refused(self.scope.owner)
    }

    /// Replaces the tools offered by an installed server; returns those no model can be offered.
    pub fn offer(&self, server: &str, kind: SourceKind, tools: Vec<Definition>) -> Vec<Refused> {
        self.offer_of(&ServerKey::installed(server), kind, tools)
    }

    /// Like [`Self::offer`], for a server that an owner may have added.
    pub fn offer_of(
        &self,
        server: &ServerKey,
        kind: SourceKind,
        tools: Vec<Definition>,
    ) -> Vec<Refused> {
        self.inner.cache.forget(server);
        self.inner.catalog.offer(server, kind, tools)
    }

    /// Like [`Self::offer_of`], in pieces: the caller prepares the tools, then calls
    /// [`Self::take_offer`].
    pub fn begin_offer(
        &self,
        server: &ServerKey,
        kind: SourceKind,
        tools: Vec<Definition>,
    ) -> Offer {
        self.inner.catalog.begin(server, kind, tools)
    }

    /// Publishes the prepared part of `offer`; returns the refused tools.
    pub fn take_offer(&self, offer: Offer) -> Vec<Refused> {
        self.inner.cache.forget(&offer.server);
        self.inner.catalog.take(offer)
    }

    /// Tools `npc` may call at `tier` with `left` of the turn's tool time. Never waits.
    pub fn visible(&self, npc: &str, tier: Tier, left: Duration) -> Arc<VisibleTools> {
        self.inner.catalog.tell();
        let snapshot = self.snapshot();
        let prepared = snapshot.visible(self.session.as_ref(), npc, tier);
        // With all tool time left, only tools that may answer late exceed it.
        if prepared.slowest <= left || left >= tier.ceiling() {
            return Arc::clone(prepared);
        }
        Arc::new(prepared.fitting(left))
    }

    /// Runs one call and returns its record. Cancel safe: dropping the future cancels the call.
    pub async fn execute(&self, context: &CallContext, call: &ToolCall) -> CallRecord {
        let started = Instant::now();
        let record = match context.authority.admit(started, call) {
            Err(error) => self.beyond_limit(context, call, error),
            Ok(()) => match self.admit(context, call).await {
                Ok(ready) => {
                    prepared(context, &ready).await;
                    self.start(context, ready, call, Instant::now()).await
                }
                Err(refused) => refused.record(context, call, started.elapsed()),
            },
        };
        log(context, &record);
        record
    }

    /// Cancels the calls for `person` with this host's owner, those awaiting approval included, and
    /// drops their results.
    pub fn withdraw(&self, person: &PersonId) {
        self.inner.late_calls.withdraw(Whose::Person(self.scope.owner, person));
    }

    /// Like [`Self::withdraw`], for everyone in `session`.
    pub fn withdraw_all(&self, session: &SessionId) {
        self.inner.late_calls.withdraw(Whose::Session(session));
    }

    /// True if calls are running that may outlive their turns.
    pub fn has_late_calls(&self) -> bool {
        !self.inner.late.is_empty()
    }

    /// Cancels calls that outlive their turns. Cancel safe.
    pub async fn close(&self) {
        self.inner.shutdown.cancel();
        self.inner.late.close();
        self.inner.late.wait().await;
    }

    /// Lets tools with old failures return, and embeds new tools, until `stop`.
    pub async fn tend(&self, stop: CancellationToken) {
        tokio::join!(self.age(&stop), self.embed_tools(&stop));
    }

    async fn age(&self, stop: &CancellationToken) {
        let mut ticks = interval(AGEING);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            self.inner.catalog.refresh(Instant::now());
        }
    }

    /// The tool and checked arguments, or the reason for refusing.
    async fn admit(&self, context: &CallContext, call: &ToolCall) -> Result<Ready, Declined> {
        let refused = |entry, error| Declined { entry, error, is_quoted: false };
        let entry = self.resolve(context, &call.name).map_err(|error| refused(None, error))?;
        let invalid = |what: Mismatch| {
            let what = format!("the arguments of '{}' do not fit: {what}", entry.spec.name);
            CallError::new(CallErrorKind::InvalidArguments, what)
        };
        let parsed = parse_arguments(&call.arguments);
        let is_json = parsed.is_ok();
        let checked = match parsed {
            Ok(arguments) => entry.tool.input.check(arguments).await.map_err(invalid),
            Err(error) => Err(error),
        };
        match checked {
            Ok(Value::Object(arguments)) => Ok(Ready { entry, arguments }),
            Ok(_) => Err(refused(Some(entry), not_an_object())),
            Err(error) => {
                // A mismatch quotes the schema.
                let is_quoted = is_json && entry.tool.source != SourceKind::BuiltIn;
                Err(Declined { entry: Some(entry), error, is_quoted })
            }
        }
    }

    /// The record of a call beyond a limit.
    fn beyond_limit(&self, context: &CallContext, call: &ToolCall, error: CallError) -> CallRecord {
        let name = call.name.as_str();
        let snapshot = self.inner.catalog.snapshot(context.scope.owner);
        let offered = context.authority.caller().and_then(|caller| caller.offered.hash(name));
        match offered.and_then(|_| snapshot.find(name)) {
            Some(entry) => CallRecord {
                named_by: entry.tool.named_by(),
                server: entry.tool.handler.server_address(),
                ..CallRecord::refused(Arc::clone(&entry.tool.identity), call, error)
            },
            None => CallRecord::refused(Arc::from(name), call, error),
        }
    }

    /// The tool `name` means to this caller.
    fn resolve(&self, context: &CallContext, name: &str) -> Result<Arc<CatalogEntry>, CallError> {
        let snapshot = self.inner.catalog.snapshot(context.scope.owner);
        let Some(caller) = context.authority.caller() else {
            return snapshot.find(name).cloned().ok_or_else(|| {
                let what = match snapshot.called(name).as_slice() {
                    [] => format!("unknown tool '{name}' (glyphoxa tools list shows them)"),
                    several => format!("several servers have '{name}' ({})", several.join(", ")),
                };
                CallError::new(CallErrorKind::NotFound, what)
            });
        };
        let offered = caller.offered.hash(name);
        let still = snapshot.visible(Some(&context.session), &caller.npc, caller.tier);
        // The offered tool may have changed, moved or been withdrawn since.
        let entry = offered
            .and_then(|hash| {
                let mut all = still.iter().chain(&still.finder);
                all.find(|it| it.tool.hash == hash)
            })
            .cloned();
        entry.ok_or_else(|| match offered.is_some() || snapshot.find(name).is_some() {
            true => CallError::new(
                CallErrorKind::NotVisible,
                format!("'{name}' cannot be used now (answer without it)"),
            ),
            false => CallError::new(
                CallErrorKind::NotFound,
                format!("unknown tool '{name}' (call one of the listed tools)"),
            ),
        })
    }

    /// Runs the call directly, after approval, or possibly beyond its turn.
    async fn start(
        &self,
        context: &CallContext,
        ready: Ready,
        call: &ToolCall,
        started: Instant,
    ) -> CallRecord {
        // Signs of life belong to one call.
        let authority = context.authority.clone().paying_for(&ready.entry.tool.identity);
        let context = CallContext { authority, progress: Progress::default(), ..context.clone() };
        let until = context.deadline;
        let halts = context.effects.halts();
        let (state, call) = (Arc::clone(&self.inner), call.clone());
        let run = Run { state, context, ready, call, halts };
        if let Some(caution) = run.needs_approval() {
            return match run.context.effects.lacks_approver() {
                None => run.after_approval(caution, started),
                Some(way_out) => run.unapproved(caution, way_out, started),
            };
        }
        if run.may_be_late() {
            return run.perhaps_late(started).await;
        }
        let limit = Limit { quiet: run.max(), until };
        run.within(limit, started).await
    }
}

struct Declined {
    entry: Option<Arc<CatalogEntry>>,
    error: CallError,
    /// The error quotes a server's words.
    is_quoted: bool,
}

impl Declined {
    fn record(self, context: &CallContext, call: &ToolCall, took: Duration) -> CallRecord {
        let identity = self.entry.as_ref().map(|entry| Arc::clone(&entry.tool.identity));
        let identity = identity.unwrap_or_else(|| Arc::from(call.name.as_str()));
        let refused = CallRecord {
            took,
            named_by: self.entry.as_ref().map_or(NamedBy::Model, |entry| entry.tool.named_by()),
            server: self.entry.as_ref().and_then(|entry| entry.tool.handler.server_address()),
            tier: self.entry.and_then(|entry| entry.tier),
            ..CallRecord::refused(Arc::clone(&identity), call, self.error)
        };
        if !self.is_quoted {
            return refused;
        }
        context.taint.set();
        CallRecord { for_model: framed(&identity, &refused.for_model), outside: true, ..refused }
    }
}

/// Lets a tool load data before its first call, outside its time limit.
async fn prepared(context: &CallContext, ready: &Ready) {
    let preparing = timeout_at(context.deadline, ready.entry.tool.prepare());
    // Expiry and cancellation are reported by the call itself.
    _ = context.cancel.run_until_cancelled(preparing).await;
}

/// Parses arguments; some services send an empty text for an empty object.
fn parse_arguments(text: &str) -> Result<Value, CallError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(Value::Null) => Ok(Value::Object(Map::new())),
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) => Err(not_an_object()),
        Err(error) => Err(CallError::new(
            CallErrorKind::InvalidArguments,
            format!("the arguments are not JSON: {error} (send one JSON object)"),
        )),
    }
}

fn not_an_object() -> CallError {
    let what = "the arguments must be one JSON object";
    CallError::new(CallErrorKind::InvalidArguments, what)
}
