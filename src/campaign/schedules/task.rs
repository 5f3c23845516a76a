//! Fires what is due. Entry type: [`Work`].

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    due::{Moment, Step, step},
    entry::Entry,
    line::{Line, say},
    shared::Shared,
    shown,
    starts::{NotStarted, Start, Starts, Tell},
};
use crate::{
    campaign::clock::now,
    domain::Scope,
    logic::{
        schedule::{Due, Planned},
        workflow::record::Starter,
    },
    memory::{Claim, Error},
    panics::caught,
    session::SpeakerId,
};

/// Longest time without a look at the store, where another program may have made a schedule: a read
/// of 1,000 takes a few ms.
const LOOK: Duration = Duration::from_secs(30);
/// Interval of searches for scopes that another program has made.
const SEARCH: Duration = Duration::from_secs(300);
/// Longest wait at shutdown for what was fired.
const PATIENCE: Duration = Duration::from_secs(2);

/// Scopes whose schedules a program fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drives {
    /// Every Discord server of the store.
    Guilds,
    Only(Scope),
}

/// The task of schedules.
pub struct Work {
    shared: Arc<Shared>,
    starts: Arc<dyn Starts>,
    drives: Drives,
    scopes: BTreeSet<Scope>,
    searched: Option<Instant>,
    /// Until they have begun.
    fired: JoinSet<()>,
}

impl Work {
    pub fn new(shared: Arc<Shared>, starts: Arc<dyn Starts>, drives: Drives) -> Self {
        let (scopes, searched, fired) = (BTreeSet::new(), None, JoinSet::new());
        Self { shared, starts, drives, scopes, searched, fired }
    }

    pub async fn run(mut self, stop: CancellationToken) {
        let shared = Arc::clone(&self.shared);
        while !stop.is_cancelled() {
            let wait = self.looked().await;
            tokio::select! {
                () = stop.cancelled() => {}
                () = shared.parts.evenings.changed() => {}
                Some(_) = self.fired.join_next() => {}
                () = sleep(wait) => {}
            }
        }
        // A line may be on its way to the table.
        let ended = async { while self.fired.join_next().await.is_some() {} };
        _ = timeout(PATIENCE, ended).await;
    }

    /// Looks at all schedules once; returns the time until the next look.
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
        self.find_scopes().await?;
        let mut wait = LOOK;
        for scope in self.scopes.clone() {
            let kept = self.shared.parts.store.schedules(&scope).await?;
            let entries: Vec<Entry> = kept.iter().filter_map(Entry::read).collect();
            self.shared.learn(&scope, &entries);
            for entry in entries {
                if let Some(next) = self.take(&scope, entry).await? {
                    wait = wait.min(next);
                }
            }
        }
        Ok(wait)
    }

    /// Adds scopes that may have schedules.
    async fn find_scopes(&mut self) -> Result<(), Error> {
        let Shared { parts, .. } = &*self.shared;
        match &self.drives {
            Drives::Only(scope) => _ = self.scopes.insert(scope.clone()),
            Drives::Guilds => {
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

    /// Does what is to be done about a schedule; returns the time until it needs another look.
    async fn take(&mut self, scope: &Scope, entry: Entry) -> Result<Option<Duration>, Error> {
        let evening = self.shared.parts.evenings.of(scope);
        let session = evening.map(|evening| evening.time());
        let catch_up = self.shared.parts.settings.load().schedules.catch_up;
        let step = step(&entry, &Moment { now: now(), session, catch_up });
        let Due { fires, missed, then } = match step {
            Step::Wait(wait) => return Ok(wait),
            Step::Move(then) => {
                let is_moved = claim(&self.shared, scope, &entry, then, false).await?;
                return Ok(is_moved.then_some(Duration::ZERO));
            }
            Step::Take(due) => due,
        };
        let is_over = entry.when.is_over(then);
        if !claim(&self.shared, scope, &entry, then, is_over).await? {
            // Another program has fired it, or it was cancelled.
            return Ok(None);
        }
        tracing::info!(%scope, id = entry.id, fires, missed, "a schedule is due");
        if missed > 0 {
            let zone = self.shared.parts.settings.load().schedules.zone.clone();
            self.shared.tell(scope, shown::missed(&entry, missed, &zone));
        }
        if fires {
            self.fire(scope.clone(), entry);
        }
        Ok(Some(Duration::ZERO))
    }

    /// Starts a claimed schedule beside the others.
    fn fire(&mut self, scope: Scope, entry: Entry) {
        let (shared, starts) = (Arc::clone(&self.shared), Arc::clone(&self.starts));
        self.fired.spawn(async move {
            let why = match caught(start(&shared, &*starts, &scope, &entry)).await {
                Ok(Ok(())) => return,
                Ok(Err(why)) => why,
                Err(fault) => {
                    tracing::error!(%scope, id = entry.id, %fault, "cannot start a schedule");
                    NotStarted::Refused(fault.to_string())
                }
            };
            shared.tell(&scope, shown::not_started(&entry, &why));
        });
    }
}

/// Begins what a claimed schedule is for.
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
            say(&evening, Line { npc, text, speaker }).await
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
