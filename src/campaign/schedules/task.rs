//! Fires due schedules. Entry type: [`Work`].

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    due::{Moment, Step, step},
    entry::Entry,
    line::{PlannedLine, say},
    shared::Shared,
    shown,
    starts::{NotStarted, Start, Starts, Tell},
};
use crate::{
    campaign::{clock::now, settings::ScheduleOptions},
    domain::Scope,
    logic::{
        schedule::{Due, Planned},
        workflow::record::Starter,
    },
    memory::{Claim, Error},
    panics::caught,
    session::SpeakerId,
};

/// Longest time without a look at the store, where another program may have made a schedule.
const LOOK: Duration = Duration::from_secs(30);
/// Interval of searches for scopes that another program has made, and of looks at schedules whose
/// time is far off.
const SEARCH: Duration = Duration::from_secs(300);
/// Time that a program has to begin what it has claimed; afterwards it counts as killed.
const BEGINNING: Duration = Duration::from_secs(30);
/// Longest wait at shutdown for firings that have not begun.
const PATIENCE: Duration = Duration::from_secs(2);

/// Scopes whose schedules a program fires.
pub enum Drives {
    /// Discord servers of the store for whose id this returns true; others are not read.
    Guilds(Box<dyn Fn(u64) -> bool + Send + Sync>),
    Only(Scope),
}

impl Drives {
    fn includes(&self, scope: &Scope) -> bool {
        match self {
            Self::Guilds(serves) => scope.owner.guild().is_some_and(serves),
            Self::Only(only) => scope == only,
        }
    }
}

/// The task of schedules.
pub struct Work {
    shared: Arc<Shared>,
    starts: Arc<dyn Starts>,
    drives: Drives,
    scopes: BTreeSet<Scope>,
    searched: Option<Instant>,
    /// The last look at all schedules; `None`: since then one was made here, or a session began or
    /// ended.
    read_all: Option<Instant>,
    /// Firings of this program that have not begun.
    fired: JoinSet<()>,
    /// Schedules marked as begun by any program: the time of the firing, and its first sighting.
    begun: BTreeMap<(Scope, String), (Option<i64>, Instant)>,
}

impl Work {
    pub fn new(shared: Arc<Shared>, starts: Arc<dyn Starts>, drives: Drives) -> Self {
        let (scopes, begun, fired) = (BTreeSet::new(), BTreeMap::new(), JoinSet::new());
        let (searched, read_all) = (None, None);
        Self { shared, starts, drives, scopes, searched, read_all, fired, begun }
    }

    pub async fn run(mut self, stop: CancellationToken) {
        let shared = Arc::clone(&self.shared);
        while !stop.is_cancelled() {
            let wait = self.looked().await;
            tokio::select! {
                () = stop.cancelled() => {}
                () = shared.parts.evenings.changed() => self.read_all = None,
                Some(_) = self.fired.join_next() => {}
                () = sleep(wait) => {}
            }
        }
        // A line may be on its way to the table.
        let ended = async { while self.fired.join_next().await.is_some() {} };
        _ = timeout(PATIENCE, ended).await;
    }

    /// Looks once, at what is due or at all schedules; returns the time until the next look.
    async fn looked(&mut self) -> Duration {
        match caught(self.look()).await {
            Ok(Ok(wait)) => wait.min(LOOK),
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot read schedules for now");
                LOOK
            }
            Err(fault) => {
                tracing::error!(%fault, "cannot read schedules for now");
                LOOK
            }
        }
    }

    async fn look(&mut self) -> Result<Duration, Error> {
        self.shared.tell_owed();
        self.find_scopes().await?;
        let mut wait = LOOK;
        let reads_all = self.read_all.is_none_or(|at| at.elapsed() >= SEARCH);
        let scopes = self.scopes.iter().filter(|scope| self.drives.includes(scope));
        for scope in scopes.cloned().collect::<Vec<_>>() {
            let entries = match reads_all {
                true => self.shared.read(&scope).await?,
                false => self.shared.due(&scope, LOOK).await?,
            };
            for entry in entries {
                if let Some(next) = self.take(&scope, entry).await? {
                    wait = wait.min(next);
                }
            }
        }
        if reads_all {
            self.read_all = Some(Instant::now());
        }
        Ok(wait)
    }

    /// Adds scopes that may have schedules.
    async fn find_scopes(&mut self) -> Result<(), Error> {
        let Shared { parts, .. } = &*self.shared;
        match &self.drives {
            Drives::Only(scope) => _ = self.scopes.insert(scope.clone()),
            Drives::Guilds(_) => {
                let mut found = self.shared.take_fresh();
                found.extend(parts.evenings.scopes());
                if self.searched.is_none_or(|at| at.elapsed() >= SEARCH) {
                    found.extend(parts.store.scopes().await?);
                    self.searched = Some(Instant::now());
                }
                found.retain(|scope| scope.owner.guild().is_some());
                self.scopes.append(&mut found);
            }
        }
        Ok(())
    }

    /// Takes the next step of a schedule; returns the time until it needs another look.
    async fn take(&mut self, scope: &Scope, entry: Entry) -> Result<Option<Duration>, Error> {
        let evening = self.shared.parts.evenings.of(scope);
        let session = evening.map(|evening| evening.time());
        let ScheduleOptions { zone, catch_up } =
            self.shared.parts.settings.load().schedules.clone();
        let step = step(&entry, &Moment { now: now(), session, catch_up, zone: &zone });
        let Due { fires, missed, then } = match step {
            Step::Wait(wait) => return Ok(wait),
            Step::Move(then) => {
                let is_moved = claim(&self.shared, scope, &entry, then, false).await?;
                return Ok(is_moved.then_some(Duration::ZERO));
            }
            Step::Begun => return self.begun(scope, &entry).await,
            Step::Take(due) => due,
        };
        // A schedule that fires gets its next time, or is removed, once the firing has begun.
        let (next, is_over) = match fires {
            true => (entry.begun_mark(), false),
            false => (then, entry.when.is_over(then)),
        };
        if !claim(&self.shared, scope, &entry, next, is_over).await? {
            // Another program has fired it, or it was cancelled.
            return Ok(None);
        }
        tracing::info!(%scope, id = entry.id, fires, missed, "a schedule is due");
        if missed > 0 {
            self.shared.tell(scope, shown::missed(&entry, missed, &zone));
        }
        if fires {
            self.fire(scope.clone(), entry, then);
        }
        Ok(Some(Duration::ZERO))
    }

    /// Reports a claimed firing once its program must have been killed; returns the time until
    /// then.
    async fn begun(&mut self, scope: &Scope, entry: &Entry) -> Result<Option<Duration>, Error> {
        if !self.fired.is_empty() {
            // It may be one of these; each end wakes the task.
            return Ok(None);
        }
        let key = (scope.clone(), entry.id.clone());
        let seen = self.begun.get(&key).filter(|(last, _)| *last == entry.last).map(|(_, at)| *at);
        let Some(seen) = seen else {
            self.begun.insert(key, (entry.last, Instant::now()));
            return Ok(Some(BEGINNING));
        };
        let left = BEGINNING.saturating_sub(seen.elapsed());
        if !left.is_zero() {
            return Ok(Some(left));
        }
        self.begun.remove(&key);
        let zone = self.shared.parts.settings.load().schedules.zone.clone();
        let then = entry.when.next(now(), &zone);
        if claim(&self.shared, scope, entry, then, entry.when.is_over(then)).await? {
            tracing::warn!(%scope, id = entry.id, "a schedule was cut off as it began");
            self.shared.tell(scope, shown::cut_off(entry, &zone));
        }
        Ok(Some(Duration::ZERO))
    }

    /// Starts a claimed schedule beside the others; `then` is its next time.
    fn fire(&mut self, scope: Scope, entry: Entry, then: Option<i64>) {
        let (shared, starts) = (Arc::clone(&self.shared), Arc::clone(&self.starts));
        self.fired.spawn(async move {
            let started = match caught(start(&shared, &*starts, &scope, &entry)).await {
                Ok(started) => started,
                Err(fault) => {
                    tracing::error!(%scope, id = entry.id, %fault, "cannot start a schedule");
                    Err(NotStarted::Refused(fault.to_string()))
                }
            };
            let is_over = entry.when.is_over(then);
            let done = Claim { id: &entry.id, due: entry.begun_mark(), then, is_over };
            if let Err(error) = shared.parts.store.claim_schedule(&scope, done).await {
                // It is reported as cut off.
                tracing::warn!(%scope, id = entry.id, %error, "cannot note that a schedule fired");
            }
            if let Err(why) = started {
                shared.tell(&scope, shown::not_started(&entry, &why));
            }
        });
    }
}

/// Starts the action of a claimed schedule.
async fn start(
    shared: &Arc<Shared>,
    starts: &dyn Starts,
    scope: &Scope,
    entry: &Entry,
) -> Result<(), NotStarted> {
    match &entry.action {
        Planned::Workflow { name, inputs } => {
            let (told, place) = (Arc::clone(shared), scope.clone());
            let tell: Tell = Arc::new(move |text| told.tell(&place, text));
            let run = Start {
                scope: scope.clone(),
                workflow: name.clone(),
                inputs: inputs.clone(),
                outside: entry.is_from_outside(),
                starter: Starter::Schedule(entry.id.clone()),
                tell,
            };
            starts.start(run).await
        }
        Planned::Line { npc, text } => {
            let evening = shared.parts.evenings.of(scope).ok_or(NotStarted::NoSession)?;
            // On Discord an id is a number; at a terminal the typist sits first.
            let number = entry.by.as_ref().and_then(|by| by.0.parse().ok());
            let speaker = SpeakerId(number.unwrap_or_default());
            let outside = entry.is_from_outside();
            say(&evening, PlannedLine { npc, text, speaker, outside }).await
        }
    }
}

/// Takes a firing for this program alone; false if another one was first. Its next time becomes
/// `then`, unless it is over.
async fn claim(
    shared: &Shared,
    scope: &Scope,
    entry: &Entry,
    then: Option<i64>,
    is_over: bool,
) -> Result<bool, Error> {
    let claim = Claim { id: &entry.id, due: entry.next, then, is_over };
    shared.parts.store.claim_schedule(scope, claim).await
}
