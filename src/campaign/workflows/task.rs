//! The task of one scope's runs: one loop over its events. Entry type: [`Runs`].

use std::{collections::BTreeMap, mem, sync::Arc, time::Instant as StdInstant};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    context::StepContext,
    records::{self, Recorder},
    started::{EndedRun, Origin, Running, RunningWorkflow, StartedRun, WorkflowParts},
    step::carry_out,
};
use crate::{
    campaign::link::TableLink,
    domain::{PersonId, Scope},
    logic::workflow::{
        STEPS_MAX,
        event::{Action, Event, OF_NPCS_MAX, Refusal, Start},
        look::{Done, StepAction},
        record::{CancelReason, RunId, RunRecord, Starter, StepRecord},
        runner::Runner,
        values::Given,
    },
    panics::caught,
    session::{EventReader, TableEvent},
};

/// Answered with the run.
type Begun = oneshot::Sender<Result<StartedRun, Refusal>>;

/// Notices of a run's steps that wait for its starter: all of a run, which begin and end.
const NOTICES: usize = 2 * STEPS_MAX;

/// Requests of the service to the task.
pub enum Request {
    Start {
        start: Box<Start>,
        origin: Origin,
        begun: Begun,
    },
    Cancel {
        run: RunId,
        reason: CancelReason,
    },
    /// Stops the runs that this person started.
    Withdraw(PersonId),
    Opened(Box<TableLink>),
    /// Answered once nothing runs.
    Idle(oneshot::Sender<()>),
    /// Answered once the records so far are stored.
    Mark(oneshot::Sender<()>),
}

/// A run that has begun, besides its steps.
struct Begins {
    origin: Origin,
    /// X-cards used before it.
    halts: u64,
    /// For the starter, who may not read them.
    steps: mpsc::Sender<StepRecord>,
    ended: oneshot::Sender<EndedRun>,
}

struct StepEnded {
    run: RunId,
    step: usize,
    done: Done,
}

/// Runs of one scope; only its task touches them.
pub struct Runs {
    parts: Arc<WorkflowParts>,
    scope: Scope,
    runner: Runner,
    link: Option<TableLink>,
    events: Option<EventReader>,
    runs: BTreeMap<RunId, Begins>,
    steps: JoinSet<StepEnded>,
    /// Cancel the steps under way.
    cancels: BTreeMap<(RunId, usize), CancellationToken>,
    recorder: Recorder,
    running: Running,
    /// Lines about runs that were cut off, until a game master can read them.
    cut_off: Vec<String>,
    idle: Vec<oneshot::Sender<()>>,
}

impl Runs {
    pub fn new(parts: Arc<WorkflowParts>, scope: Scope, running: Running) -> Self {
        let recorder = Recorder::new(parts.store.clone(), scope.clone());
        Self {
            parts,
            scope,
            runner: Runner::new(false),
            link: None,
            events: None,
            runs: BTreeMap::new(),
            steps: JoinSet::new(),
            cancels: BTreeMap::new(),
            recorder,
            running,
            cut_off: Vec::new(),
            idle: Vec::new(),
        }
    }

    /// Runs until `stop`, or until the service is gone.
    pub async fn run(mut self, mut requests: mpsc::Receiver<Request>, stop: CancellationToken) {
        if let Some(store) = &self.parts.store {
            self.cut_off = records::cut_off(&**store, &self.scope).await;
        }
        loop {
            let wake = self.runner.wake_at().map(Instant::from_std);
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                event = next_event(&mut self.events) => self.table_event(event),
                request = requests.recv() => match request {
                    Some(request) => self.request(request),
                    None => break,
                },
                Some(ended) = self.steps.join_next() => match ended {
                    Ok(StepEnded { run, step, done }) => {
                        self.cancels.remove(&(run.clone(), step));
                        self.handle(Event::Answer { run, step, done });
                    }
                    // Panics are caught, and no step is aborted.
                    Err(lost) => tracing::error!(%lost, "a step of a workflow was lost"),
                },
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {
                    self.handle(Event::Tick);
                }
            }
            if self.runs.is_empty() {
                mem::take(&mut self.idle).into_iter().for_each(|done| _ = done.send(()));
            }
        }
        self.handle(Event::CancelAll(CancelReason::Shutdown));
        self.recorder.close().await;
    }

    fn request(&mut self, request: Request) {
        match request {
            Request::Start { start, origin, begun } => self.start(*start, origin, begun),
            Request::Cancel { run, reason } => self.handle(Event::Cancel { run, reason }),
            Request::Withdraw(person) => self.withdraw(&person),
            Request::Opened(link) => self.opened(*link),
            Request::Idle(done) => self.idle.push(done),
            Request::Mark(done) => self.recorder.mark(done),
        }
    }

    fn start(&mut self, start: Start, origin: Origin, begun: Begun) {
        for line in mem::take(&mut self.cut_off) {
            self.tell(&origin, line);
        }
        let (run, workflow) = (start.run.clone(), start.workflow.name.clone());
        if let Some(reason) = self.refusal(&start) {
            _ = begun.send(Err(reason));
            return;
        }
        let ((ended, end), (steps, notices)) = (oneshot::channel(), mpsc::channel(NOTICES));
        let halts = self.link.as_ref().map_or(0, |link| link.halts.count());
        let record = RunRecord {
            run: run.clone(),
            workflow: workflow.clone(),
            starter: start.starter.clone(),
            steps: Vec::new(),
            tainted: start.inputs.outside,
            end: None,
        };
        let actions = self.runner.handle(Event::Start(start), now());
        let refusal = actions.iter().find_map(|action| match action {
            Action::Refused { reason, .. } => Some(*reason),
            _ => None,
        });
        if let Some(reason) = refusal {
            _ = begun.send(Err(reason));
            return;
        }
        self.recorder.begins(&record);
        self.running.add(RunningWorkflow { scope: self.scope.clone(), run: run.clone(), workflow });
        self.runs.insert(run.clone(), Begins { origin, halts, steps, ended });
        let started = StartedRun { run: run.clone(), steps: notices, ended: end };
        let is_wanted = begun.send(Ok(started)).is_ok();
        self.act(actions);
        if !is_wanted {
            // Its starter is gone, and only the starter would have known its id.
            self.handle(Event::Cancel { run, reason: CancelReason::Requested });
        }
    }

    /// Limits the runs of NPCs' models; the runner refuses the rest.
    fn refusal(&self, start: &Start) -> Option<Refusal> {
        let is_of_npc = |starter: &Starter| matches!(starter, Starter::Npc(_));
        let of_npcs = self.runs.values().filter(|run| is_of_npc(&run.origin.starter)).count();
        (is_of_npc(&start.starter) && of_npcs >= OF_NPCS_MAX).then_some(Refusal::OfNpcs)
    }

    fn withdraw(&mut self, person: &PersonId) {
        let is_theirs = |run: &Begins| run.origin.starter == Starter::Person(person.clone());
        let theirs = self.runs.iter().filter(|(_, run)| is_theirs(run));
        let theirs: Vec<RunId> = theirs.map(|(run, _)| run.clone()).collect();
        for run in theirs {
            self.handle(Event::Cancel { run, reason: CancelReason::Withdrawn });
        }
    }

    fn opened(&mut self, link: TableLink) {
        let Ok(events) = link.events() else { return };
        for line in mem::take(&mut self.cut_off) {
            link.tell_dm(line);
        }
        if self.link.take().is_some() {
            // The end of the table before it has not been read yet.
            self.handle(Event::SessionEnded);
        }
        let halts = link.halts.count();
        self.runs.values_mut().for_each(|run| run.halts = halts);
        (self.link, self.events) = (Some(link), Some(events));
        self.handle(Event::SessionBegan);
    }

    /// `None`: the table has closed.
    fn table_event(&mut self, event: Option<TableEvent>) {
        match event {
            None => {
                (self.link, self.events) = (None, None);
                self.handle(Event::SessionEnded);
            }
            Some(TableEvent::Halted { .. }) => self.handle(Event::CancelAll(CancelReason::XCard)),
            Some(TableEvent::Missed(_)) => self.check_card(),
            Some(_) => {}
        }
    }

    /// Stops runs that began before the last X-card, whose event may be missing.
    fn check_card(&mut self) {
        let halts = self.link.as_ref().map_or(0, |link| link.halts.count());
        let before = self.runs.iter().filter(|(_, run)| run.halts != halts);
        let before: Vec<RunId> = before.map(|(run, _)| run.clone()).collect();
        for run in before {
            self.handle(Event::Cancel { run, reason: CancelReason::XCard });
        }
    }

    fn handle(&mut self, event: Event) {
        let actions = self.runner.handle(event, now());
        self.act(actions);
    }

    fn act(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Step { run, action } => self.step(run, action),
                Action::Ended { record, result } => self.ended(record, result),
                // `start` reports it.
                Action::Refused { .. } => {}
            }
        }
    }

    fn step(&mut self, run: RunId, action: StepAction) {
        match action {
            StepAction::Begin { step, request, tainted } => {
                let Some(begun) = self.runs.get(&run) else { return };
                let cancel = CancellationToken::new();
                let context = StepContext {
                    parts: Arc::clone(&self.parts),
                    scope: self.scope.clone(),
                    link: self.link.clone(),
                    origin: begun.origin.clone(),
                    run: run.clone(),
                    tainted,
                    halts: begun.halts,
                    cancel: cancel.clone(),
                };
                self.cancels.insert((run.clone(), step), cancel);
                self.steps.spawn(async move {
                    let done = caught(carry_out(&context, request)).await;
                    let done = done.unwrap_or_else(|fault| Done::Failed(fault.to_string()));
                    StepEnded { run, step, done }
                });
            }
            StepAction::Abort { step } => {
                // Its answer would be ignored; a tool needs the time to take its call back.
                if let Some(cancel) = self.cancels.remove(&(run, step)) {
                    cancel.cancel();
                }
            }
            StepAction::Note { step, record } => {
                let (id, kind, outcome) = (&run.0, &record.kind, &record.outcome);
                tracing::trace!(run = id, step, kind, pii_outcome = ?outcome, "step of a workflow");
                if let Some(begun) = self.runs.get(&run) {
                    // Its starter may not listen.
                    _ = begun.steps.try_send(record);
                }
            }
        }
    }

    fn ended(&mut self, record: RunRecord, result: Option<Given>) {
        self.running.remove(&record);
        self.recorder.ends(&record);
        let Some(Begins { origin, ended, .. }) = self.runs.remove(&record.run) else { return };
        // An NPC tells its players itself.
        if !matches!(origin.starter, Starter::Npc(_)) {
            self.tell(&origin, records::shown(&record));
        }
        // The starter may not wait for it.
        _ = ended.send(EndedRun { record, result });
    }

    /// Notifies the game master.
    fn tell(&self, origin: &Origin, line: String) {
        match &self.link {
            Some(link) => link.tell_dm(line),
            None => origin.effects.tell_dm(&line),
        }
    }
}

fn now() -> StdInstant {
    Instant::now().into_std()
}

/// The next event of a table, if one is open.
async fn next_event(events: &mut Option<EventReader>) -> Option<TableEvent> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}
