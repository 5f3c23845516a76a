//! The service of workflows: what faces, tools and schedules call. Entry type: [`WorkflowRuns`].
//! **Never**: starts a run whose inputs do not fit.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    started::{RunError, Running, RunningWorkflow, StartedRun, WantedRun, WorkflowParts},
    task::{Request, Runs},
};
use crate::{
    campaign::{SharedSettings, link::TableLink},
    domain::{Owner, PersonId, Scope},
    logic::workflow::{
        event::{Refusal, Start},
        record::{CancelReason, RunId},
        values::Given,
    },
    memory::{self, KeptRun},
    panics::caught,
    tools::Schema,
};

/// Requests that wait for the task of a scope; more than a table has runs.
const CAPACITY: usize = 32;

/// Workflows that run. Cloning shares them.
#[derive(Clone)]
pub struct WorkflowRuns(Arc<Inner>);

/// Like [`WorkflowRuns`], without keeping it alive.
#[derive(Clone)]
pub(super) struct WeakRuns(Weak<Inner>);

/// The task of a scope.
struct ScopeTask {
    requests: mpsc::Sender<Request>,
    stop: CancellationToken,
    abandoned: CancellationToken,
}

struct Inner {
    parts: Arc<WorkflowParts>,
    places: Mutex<HashMap<Scope, ScopeTask>>,
    running: Running,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl WorkflowRuns {
    pub fn new(parts: WorkflowParts) -> Self {
        Self(Arc::new(Inner {
            parts: Arc::new(parts),
            places: Mutex::default(),
            running: Running::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }))
    }

    /// Begins a run, which goes on by itself. Cancel safe.
    ///
    /// # Errors
    /// The workflow is unknown, its inputs do not fit, or too many run.
    pub async fn start(&self, wanted: WantedRun) -> Result<StartedRun, RunError> {
        let WantedRun { scope, workflow: name, inputs, outside, origin } = wanted;
        let workflows = Arc::clone(&self.0.parts.settings.load().workflows);
        let Some(workflow) = workflows.get(&name).cloned() else {
            let known: Vec<&str> = workflows.iter().map(|it| it.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(RunError::Unknown { name, known });
        };
        let unfit = |why: String| RunError::Inputs { workflow: name.clone(), why };
        let given = match inputs {
            Value::Object(given) => Value::Object(workflow.with_defaults(given)),
            Value::Null => Value::Object(workflow.with_defaults(serde_json::Map::new())),
            _ => return Err(Refusal::Inputs.into()),
        };
        let schema = Schema::new(&workflow.inputs).map_err(|error| unfit(error.to_string()))?;
        let value = schema.check(given).await.map_err(|error| unfit(error.to_string()))?;
        let run = RunId(format!("{:08x}", rand::random::<u32>()));
        let (inputs, starter) = (Given { value, outside }, origin.starter.clone());
        let start = Start { run, workflow, workflows, inputs, starter };
        let (begun, answer) = oneshot::channel();
        let request = Request::Start { start: Box::new(start), origin, begun };
        self.send(&scope, request).await?;
        Ok(answer.await.map_err(|_| RunError::Ending)??)
    }

    /// Stops the run of this id, or all runs of the workflow of this name; without one, all of
    /// `scope`. Returns what was stopped. Cancel safe.
    pub async fn stop(&self, scope: &Scope, which: Option<&str>) -> Vec<RunningWorkflow> {
        let is_meant = |it: &&RunningWorkflow| {
            which.is_none_or(|which| it.run.0 == which || it.workflow == which)
        };
        let running = self.running(scope);
        let meant: Vec<RunningWorkflow> = running.iter().filter(is_meant).cloned().collect();
        for RunningWorkflow { run, .. } in &meant {
            let (run, reason) = (run.clone(), CancelReason::Requested);
            _ = self.send(scope, Request::Cancel { run, reason }).await;
        }
        self.settled(scope).await;
        meant
    }

    /// Stops a run of `scope` without waiting.
    pub fn cancel_soon(&self, scope: &Scope, run: &RunId) {
        let task = self.places().get(scope).map(|place| place.requests.clone());
        let request = Request::Cancel { run: run.clone(), reason: CancelReason::Requested };
        if task.is_some_and(|task| task.try_send(request).is_err()) {
            let run = run.0.as_str();
            tracing::warn!(run, "a workflow goes on: too many requests wait");
        }
    }

    /// Stops the runs that `person` started. Cancel safe.
    pub async fn withdraw(&self, owner: Owner, person: &PersonId) {
        for task in self.tasks_of(owner) {
            // A task that has ended has no runs.
            _ = task.send(Request::Withdraw(person.clone())).await;
        }
    }

    /// Ends all that runs for `owner` where it is, without a word or a record: another process
    /// serves them now. Returns at once.
    pub fn abandon(&self, owner: Owner) {
        self.take_places(owner).iter().for_each(|place| place.abandoned.cancel());
    }

    /// Stops the runs of `owner`, and waits until their records are stored. Until then
    /// [`Self::abandon`] still ends them where they are. Cancel safe.
    pub async fn end(&self, owner: Owner) {
        let ending: Vec<mpsc::Sender<Request>> = {
            let places = self.places();
            let theirs = places.iter().filter(|(scope, _)| scope.owner == owner);
            let stopped = theirs.inspect(|(_, place)| place.stop.cancel());
            stopped.map(|(_, place)| place.requests.clone()).collect()
        };
        for requests in ending {
            requests.closed().await;
        }
        let mut places = self.places();
        places.retain(|scope, place| scope.owner != owner || !place.requests.is_closed());
    }

    /// Runs of `scope` under way, the oldest first.
    pub fn running(&self, scope: &Scope) -> Vec<RunningWorkflow> {
        self.0.running.of(scope)
    }

    /// True if a run has failed or was stopped since the last call.
    pub fn take_failed(&self) -> bool {
        self.0.running.take_failed()
    }

    /// Stored runs of `scope`, the newest first.
    pub async fn stored(&self, scope: &Scope, limit: usize) -> Result<Vec<KeptRun>, memory::Error> {
        match &self.0.parts.store {
            Some(store) => {
                self.settled(scope).await;
                store.runs(scope, limit).await
            }
            None => Ok(Vec::new()),
        }
    }

    /// Settings with the workflows that may run.
    pub fn settings(&self) -> &SharedSettings {
        &self.0.parts.settings
    }

    /// A table of `scope` has opened; runs use it until it closes. Cancel safe.
    pub async fn opened(&self, scope: &Scope, link: TableLink) {
        _ = self.send(scope, Request::Opened(Box::new(link))).await;
    }

    /// Waits until nothing runs in `scope`. Cancel safe.
    pub async fn idle(&self, scope: &Scope) {
        let (done, idle) = oneshot::channel();
        if self.send(scope, Request::Idle(done)).await.is_ok() {
            _ = idle.await;
        }
    }

    /// Stops all runs, and waits until their records are stored.
    pub async fn close(&self) {
        self.0.stop.cancel();
        self.places().clear();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    pub(super) fn downgrade(&self) -> WeakRuns {
        WeakRuns(Arc::downgrade(&self.0))
    }

    /// Waits until the task of `scope` has done all earlier requests, and stored their records.
    async fn settled(&self, scope: &Scope) {
        let (done, settled) = oneshot::channel();
        if self.send(scope, Request::Mark(done)).await.is_ok() {
            _ = settled.await;
        }
    }

    async fn send(&self, scope: &Scope, request: Request) -> Result<(), RunError> {
        let task = self.task(scope)?;
        task.send(request).await.map_err(|_| RunError::Ending)
    }

    /// The task of `scope`, begun if need be.
    fn task(&self, scope: &Scope) -> Result<mpsc::Sender<Request>, RunError> {
        if self.0.stop.is_cancelled() {
            return Err(RunError::Ending);
        }
        let mut places = self.places();
        let goes_on = |it: &&ScopeTask| !it.requests.is_closed() && !it.stop.is_cancelled();
        if let Some(place) = places.get(scope).filter(goes_on) {
            return Ok(place.requests.clone());
        }
        let (requests, waiting) = mpsc::channel(CAPACITY);
        let (parts, running) = (Arc::clone(&self.0.parts), self.0.running.clone());
        let runs = Runs::new(parts, scope.clone(), running.clone());
        let (stop, abandoned) = (self.0.stop.child_token(), CancellationToken::new());
        let (of, until, stopped) = (scope.clone(), abandoned.clone(), stop.clone());
        self.0.tasks.spawn(async move {
            tokio::select! {
                // The end of requests, which comes with it, would record the end of runs.
                biased;
                () = until.cancelled() => running.forget(&of),
                ran = caught(runs.run(waiting, stopped)) => if let Err(fault) = ran {
                    tracing::error!(%fault, "workflows of a table have failed");
                    running.forget(&of);
                },
            }
        });
        places.insert(scope.clone(), ScopeTask { requests: requests.clone(), stop, abandoned });
        Ok(requests)
    }

    /// Takes out the tasks of `owner`; the next request begins another.
    fn take_places(&self, owner: Owner) -> Vec<ScopeTask> {
        let mut places = self.places();
        let scopes: Vec<Scope> =
            places.keys().filter(|scope| scope.owner == owner).cloned().collect();
        scopes.iter().filter_map(|scope| places.remove(scope)).collect()
    }

    fn tasks_of(&self, owner: Owner) -> Vec<mpsc::Sender<Request>> {
        let places = self.places();
        let of_owner = places.iter().filter(|(scope, _)| scope.owner == owner);
        of_owner.map(|(_, place)| place.requests.clone()).collect()
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Scope, ScopeTask>> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WeakRuns {
    pub(super) fn upgrade(&self) -> Option<WorkflowRuns> {
        self.0.upgrade().map(WorkflowRuns)
    }
}
