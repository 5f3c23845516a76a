//! Running sessions, with their budgets and transcripts. Entry type: [`Sessions`].

use std::{
    collections::{BTreeSet, HashMap},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use futures::future::{join, join_all};
use tokio::{
    sync::oneshot,
    task::spawn_blocking,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    call_log::CallLog,
    clock::{now, wall_clock},
    factory::{Factory, OpenError, RunningTable, TableRequest},
    hold::SessionHold,
    keeping::Keeping,
    kept::{KeptError, KeptSession, name_here, name_of},
    kept_store::KeptStore,
    link::{LinkParts, TableLink},
    measured,
    notices::Tables,
    schedules::{EveningGuard, EveningTable, Evenings},
    settings::{AssistantSettings, SharedAssistant, SharedSettings},
    transcript::{NotWritten, Transcript, TranscriptWriter},
    workflows::WorkflowRuns,
};
use crate::{
    domain::{Npc, Owner, Person, Scope, SessionId},
    engine::{Budget, NpcPayments},
    figures::Figures,
    memory::{ForgetFrom, MemoryStore},
    panics::caught_now,
    session::{
        Command, Continuation, Conversations, EventReader, TableEvent, TableEvents, TurnLine,
    },
    tools::{CastChanges, Payments, ToolHost},
};

/// Longest wait for an ending session to be saved: its table and voice connection close first.
const SAVE_TIMEOUT: Duration = Duration::from_secs(20);
/// Interval of checks for a session that is being opened.
const LOOK: Duration = Duration::from_millis(50);

/// A session has ended, but its conversations are not stored yet.
#[derive(Debug, thiserror::Error)]
#[error("a session that has just ended is not saved yet (try again in a minute)")]
pub struct NotSaved;

pub struct SessionsParts {
    pub settings: SharedSettings,
    /// Makes tables from the configuration.
    pub factory: Arc<dyn Factory>,
    /// Writes transcripts.
    pub transcripts: TranscriptWriter,
    /// Running tables, for general notices to game masters.
    pub tables: Tables,
    /// All tools, which game masters change for a session.
    pub tools: ToolHost,
    /// Running sessions, for schedules.
    pub evenings: Evenings,
    /// Workflows, which use the running tables.
    pub workflows: WorkflowRuns,
    /// Of the program; its tables feed them.
    pub figures: Figures,
}

/// Running sessions. Cloning shares them.
#[derive(Clone)]
pub struct Sessions {
    parts: Arc<SessionsParts>,
    running: Arc<Mutex<HashMap<SessionId, Running>>>,
    unsaved: Arc<Mutex<Vec<Unsaved>>>,
}

/// A session from its opening until it is saved.
#[derive(Clone)]
struct Unsaved {
    session: SessionId,
    owner: Owner,
    /// Cancelled once it is saved, or has nothing to save.
    saved: CancellationToken,
}

/// A running table of an owner.
#[derive(Clone)]
pub struct TableHere {
    pub scope: Scope,
    /// Its `session` is the table's id.
    pub link: TableLink,
}

struct Running {
    since: Instant,
    link: TableLink,
    /// Keeps other programs from playing it.
    hold: Option<SessionHold>,
    /// Its state, if it is in the store.
    keeping: Option<Keeping>,
    calls: CallLog,
    transcript: Transcript,
    assistant: SharedAssistant,
    /// It goes on elsewhere once its table is closed here.
    goes_on: bool,
    /// Dropped once it is saved.
    unsaved: DropGuard,
    /// For schedules the session ends when this is dropped.
    _evening: EveningGuard,
}

impl Sessions {
    pub fn new(parts: SessionsParts) -> Self {
        Self { parts: Arc::new(parts), running: Arc::default(), unsaved: Arc::default() }
    }

    /// Waits until all lines so far are in the store. Cancel safe.
    pub async fn caught_up(&self) -> Result<(), NotWritten> {
        let tables: Vec<_> =
            self.running().values().filter_map(|it| it.link.events.upgrade()).collect();
        let marks: Vec<_> = tables.iter().map(TableEvents::mark).collect();
        // A waiting caller must not keep a table's event channel open.
        drop(tables);
        for mark in marks {
            mark.await;
        }
        self.parts.transcripts.caught_up().await
    }

    /// Name of a session of `guild` that begins now.
    pub fn name(guild: u64) -> SessionId {
        SessionId(name_of(guild, since_1970()))
    }

    /// Name of a session of this machine that begins now.
    pub fn name_here() -> SessionId {
        SessionId(name_here(since_1970()))
    }

    /// Figures that the tables feed.
    pub fn figures(&self) -> &Figures {
        &self.parts.figures
    }

    /// Number of running tables.
    pub fn count(&self) -> usize {
        self.running().len()
    }

    /// Running tables of `owner`, the oldest first.
    pub fn tables(&self, owner: Owner) -> Vec<TableHere> {
        let running = self.running();
        let theirs = running.values().filter(|it| it.transcript.scope.owner == owner);
        let mut theirs: Vec<&Running> = theirs.collect();
        theirs.sort_by_cached_key(|it| (it.since, it.link.session.0.clone()));
        let here =
            |it: &Running| TableHere { scope: it.transcript.scope.clone(), link: it.link.clone() };
        theirs.into_iter().map(here).collect()
    }

    pub fn transcripts(&self) -> &TranscriptWriter {
        &self.parts.transcripts
    }

    /// Opens a session with its game master's `changes` to tools. An error leaves nothing behind.
    pub async fn open(
        &self,
        wanted: TableRequest,
        changes: CastChanges,
    ) -> Result<RunningTable, OpenError> {
        let (session, scope) = (wanted.session.clone(), wanted.scope.clone());
        let began = wanted.began.unwrap_or_else(now);
        let events = wanted.outlets.events.clone();
        let (effects, halts) =
            (Arc::clone(&wanted.outlets.effects), Arc::clone(&wanted.outlets.halts));
        // A deletion must find it before it reads the previous session's conversations.
        let unsaved = self.unsaved(&session, scope.owner);
        let made = self.parts.factory.table(wanted).await?;
        let (store, data_dir) = self.kept_at();
        let at = KeptStore::new(&*store, &data_dir);
        let mut kept = at.open(&session.0, &scope).await?;
        let hold = at.hold(&mut kept, &scope).await?;
        let calls = CallLog::open(kept.call_log().unwrap_or_default(), &session.0)?;
        let keeping = kept.is_stored().then(|| Keeping::new(kept));
        self.parts.tools.within(&scope).set_changes(&session, changes);
        self.parts.tables.add(&events);
        let table = EveningTable {
            commands: made.table.handle.commands.downgrade(),
            events: events.downgrade(),
            halts: Arc::clone(&halts),
        };
        let evening = self.parts.evenings.begin(scope.clone(), table, began);
        let transcript = Transcript { scope, session: session.clone() };
        self.parts.transcripts.begins(&transcript);
        let link = TableLink::new(
            &made.table.handle,
            LinkParts {
                session: session.clone(),
                events: events.downgrade(),
                effects,
                halts,
                budget: made.budget,
            },
        );
        self.parts.workflows.opened(&transcript.scope, link.clone()).await;
        let running = Running {
            since: Instant::now(),
            link,
            hold,
            keeping,
            calls,
            transcript,
            assistant: made.assistant,
            goes_on: false,
            unsaved,
            _evening: evening,
        };
        self.running().insert(session, running);
        Ok(made.table)
    }

    /// Records the events of `session` until its table closes.
    pub async fn write_down(self, session: SessionId, mut events: EventReader) {
        let keeping = self.running().get(&session).and_then(|it| it.keeping.clone());
        let ended = CancellationToken::new();
        let events = async {
            while let Some(event) = events.recv().await {
                self.keep_change(&session, &event).await;
                // A panic at one event does not end the transcript.
                if let Err(fault) = caught_now(|| self.take(&session, event)) {
                    tracing::error!(%session, %fault, "cannot write down an event of a table");
                    self.parts.tables.tell(&format!("I may have lost a line: {fault}"));
                }
            }
            ended.cancel();
        };
        let Some(keeping) = keeping else { return events.await };
        let (store, data_dir) = self.kept_at();
        // Lines never wait for the state, which is written whole.
        join(events, keeping.run(&KeptStore::new(&*store, &data_dir), &ended)).await;
    }

    /// Takes over servers' sessions that earlier versions have stored in files. Logs failures.
    pub async fn take_over(&self) {
        let (store, data_dir) = self.kept_at();
        KeptStore::new(&*store, &data_dir).take_over().await;
    }

    /// Store and data folder, which have the stored sessions.
    fn kept_at(&self) -> (Arc<dyn MemoryStore>, PathBuf) {
        (self.parts.transcripts.store(), self.parts.settings.load().data_dir.clone())
    }

    /// Stores a change of the state of `session`: in the store soon, in a file at once.
    async fn keep_change(&self, session: &SessionId, event: &TableEvent) {
        let running =
            self.running().get(session).map(|it| (it.keeping.clone(), it.link.budget.spent()));
        let Some((keeping, spent)) = running else { return };
        match (keeping, event) {
            (Some(keeping), TableEvent::Stands(continuation)) => {
                keeping.change(|state| state.continue_with(Continuation::clone(continuation)));
            }
            (Some(keeping), TableEvent::Conversed(changed)) => keeping.change(|state| {
                changed.iter().for_each(|(npc, messages)| state.converse(npc, messages));
                state.set_spent(spent);
            }),
            (None, TableEvent::Stands(continuation)) => {
                self.keep_standing(session, Arc::clone(continuation)).await;
            }
            _ => {}
        }
    }

    /// Stores the current state of the table of `session`. Logs failures.
    async fn keep_standing(&self, session: &SessionId, continuation: Arc<Continuation>) {
        let Some(scope) = self.paid(session).map(|(_, transcript)| transcript.scope) else {
            return;
        };
        let (folder, id) = (self.parts.settings.load().data_dir.clone(), session.0.clone());
        let keep = move || KeptSession::stands(&folder, &id, &scope, &continuation);
        if let Err(error) = spawn_blocking(keep).await.unwrap_or_else(|lost| Err(lost.into())) {
            tracing::error!(%error, "cannot save the state of a table");
        }
    }

    fn take(&self, session: &SessionId, event: TableEvent) {
        measured::count_event(&self.parts.figures, &event);
        match event {
            TableEvent::Line(line) => self.record(session, &line),
            TableEvent::Asked(line) => self.note(session, |it, of| it.asked(of, &line)),
            TableEvent::Forgotten(person) => self.note(session, |it, of| it.forget(of, &person)),
            TableEvent::Halted { taken_back } => self.take_back(session, &taken_back),
            TableEvent::Missed(missed) => {
                tracing::error!(missed, "lines of a table may be missing from its transcript");
                self.note(session, TranscriptWriter::missed);
            }
            TableEvent::Mark(mark) => mark.reach(),
            TableEvent::Notice(_)
            | TableEvent::Private(_)
            | TableEvent::Said(_)
            | TableEvent::State(_)
            | TableEvent::Stands(_)
            | TableEvent::Conversed(_) => {}
        }
    }

    /// Records the words and calls of a turn. Logs failures.
    fn record(&self, session: &SessionId, line: &TurnLine) {
        if let Some(running) = self.running().get_mut(session) {
            if let Err(error) = running.calls.add(line) {
                tracing::error!(%error, "cannot log tool calls");
            }
            self.parts.transcripts.line(&running.transcript, line);
        }
    }

    fn note(&self, session: &SessionId, note: impl FnOnce(&TranscriptWriter, &Transcript)) {
        if let Some(running) = self.running().get(session) {
            note(&self.parts.transcripts, &running.transcript);
        }
    }

    /// Withdraws the records of these turns.
    fn take_back(&self, session: &SessionId, turns: &[u64]) {
        if let Some(running) = self.running().get_mut(session) {
            if let Err(error) = running.calls.take_back(turns) {
                tracing::error!(%error, "cannot take back tool calls");
            }
            self.parts.transcripts.take_back(&running.transcript, turns);
        }
    }

    /// Another process goes on with `session` once it is saved here.
    pub fn hand_over(&self, session: &SessionId) {
        if let Some(running) = self.running().get_mut(session) {
            running.goes_on = true;
        }
    }

    /// Saves a closed table and ends the session. `None`: the table failed, so what was stored while
    /// it ran stays, such as who is muted.
    pub fn keep(
        &self,
        session: &SessionId,
        kept: Option<Conversations>,
    ) -> impl Future<Output = Result<(), KeptError>> + Send + use<> {
        let running = self.running().remove(session);
        self.parts.factory.closed(session);
        if let Some(running) = &running {
            running.link.budget.rest();
            if !running.goes_on {
                self.parts.transcripts.ends(&running.transcript);
            }
        }
        self.parts.tools.forget(session);
        let ((store, folder), id) = (self.kept_at(), session.0.clone());
        async move {
            // A session that does not run cannot be saved.
            let Some(running) = running else { return Ok(()) };
            let Running { hold, keeping, unsaved, link, transcript, .. } = running;
            let spent = link.budget.spent();
            let end = move |state: &mut KeptSession| {
                if let Some(kept) = kept {
                    kept.histories.iter().for_each(|(npc, it)| state.converse(npc, it));
                    state.continue_with(kept.continuation);
                }
                state.set_spent(spent);
            };
            let saved = if let Some(keeping) = keeping {
                keeping.change(end);
                keeping.write(&KeptStore::new(&*store, &folder)).await
            } else {
                let save = move || {
                    let mut session = KeptSession::open(&folder, &id, &transcript.scope)?;
                    end(&mut session);
                    Ok(session.write()?)
                };
                spawn_blocking(save).await?
            };
            drop((hold, unsaved));
            saved
        }
    }

    /// Ends `session` and stores nothing: another process serves its owner now.
    pub fn abandon(&self, session: &SessionId) {
        let running = self.running().remove(session);
        drop(running);
        self.parts.factory.closed(session);
        self.parts.tools.forget(session);
    }

    /// Budget and transcript of the running `session`.
    pub fn paid(&self, session: &SessionId) -> Option<(Budget, Transcript)> {
        let running = self.running();
        let running = running.get(session)?;
        Some((running.link.budget.clone(), running.transcript.clone()))
    }

    /// Pays for tools that are called as `npc` while `session` runs.
    pub fn payments(&self, session: &SessionId, npc: &Arc<Npc>) -> Option<Arc<dyn Payments>> {
        let running = self.running();
        let budget = running.get(session)?.link.budget.clone();
        Some(Arc::new(NpcPayments::new(Arc::clone(npc), budget)))
    }

    /// Budget and settings for the assistant while `session` runs.
    pub fn assistant(&self, session: &SessionId) -> Option<(Budget, AssistantSettings)> {
        let running = self.running();
        let running = running.get(session)?;
        Some((running.link.budget.clone(), AssistantSettings::clone(&running.assistant.load())))
    }

    /// Deletes everything `person` led to from running tables, and waits until closed ones are
    /// saved. Returns the sessions with an open call log. Fails if a session is still not saved;
    /// the others are done. Cancel safe.
    pub async fn forget(
        &self,
        person: &Person,
        from: &ForgetFrom,
    ) -> (BTreeSet<String>, Result<(), NotSaved>) {
        self.parts.workflows.withdraw(from.owner, &person.id).await;
        let all = self.unsaved_of(from).into_iter().map(|session| async move {
            let is_forgotten = async {
                while !self.erase(&session.session, person).await {
                    // It is being opened or closed.
                    tokio::select! {
                        () = session.saved.cancelled() => return,
                        () = sleep(LOOK) => {}
                    }
                }
            };
            timeout(SAVE_TIMEOUT, is_forgotten).await.map_err(|_| NotSaved)
        });
        let saved = join_all(all).await.into_iter().collect();
        (self.open_ids(), saved)
    }

    /// Sessions with an open call log.
    pub fn open_ids(&self) -> BTreeSet<String> {
        self.running().keys().map(|session| session.0.clone()).collect()
    }

    /// Erases `person` at the table of `session`, and waits for its lines. False if it does not
    /// run.
    async fn erase(&self, session: &SessionId, person: &Person) -> bool {
        let running = self
            .running()
            .get(session)
            .map(|running| (running.link.commands.upgrade(), running.link.events.upgrade()));
        let Some((Some(table), events)) = running else { return false };
        let (done, erased) = oneshot::channel();
        let sent = table.send(Command::Erase(person.clone(), done)).await;
        // A handle would keep the table open.
        drop(table);
        let is_erased = sent.is_ok() && erased.await.is_ok();
        let written = events.as_ref().map(TableEvents::mark);
        // So would its event sender.
        drop(events);
        if let Some(written) = written {
            written.await;
        }
        if let Some(running) = self.running().get_mut(session)
            && let Err(error) = running.calls.forget(person)
        {
            tracing::error!(%error, "cannot forget tool calls");
        }
        is_erased
    }

    fn unsaved_of(&self, from: &ForgetFrom) -> Vec<Unsaved> {
        let is_meant = |it: &&Unsaved| {
            it.owner == from.owner && from.session.as_ref().is_none_or(|meant| *meant == it.session)
        };
        let unsaved = self.unsaved.lock().unwrap_or_else(PoisonError::into_inner);
        unsaved.iter().filter(is_meant).cloned().collect()
    }

    /// Counts a session as unsaved until the guard is dropped.
    fn unsaved(&self, session: &SessionId, owner: Owner) -> DropGuard {
        let saved = CancellationToken::new();
        let mut unsaved = self.unsaved.lock().unwrap_or_else(PoisonError::into_inner);
        unsaved.retain(|it| !it.saved.is_cancelled());
        unsaved.push(Unsaved { session: session.clone(), owner, saved: saved.clone() });
        saved.drop_guard()
    }

    fn running(&self) -> MutexGuard<'_, HashMap<SessionId, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn since_1970() -> u64 {
    wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
