//! Reports of one scope, read from its logs, its ledger and its transcripts. Entry type:
//! [`Analytics`].

use std::{path::PathBuf, sync::Arc};

use tokio::task::{JoinError, spawn_blocking};

use super::{
    calls::{CallReport, Calls, Selection},
    costs::{CostReport, Costs},
    log::read_log,
    period::{self, PeriodError},
};
use crate::{
    campaign::{
        call_log::log_of,
        clock::{date, now},
        file_error::FileError,
        kept::KeptError,
    },
    domain::{Money, Scope},
    memory::{Error, LineFilter, MemoryStore, Session, SessionEntry, SessionFilter, Viewer},
};

/// After every day.
const LAST_DAY: &str = "9999-12-31";

#[derive(Debug, thiserror::Error)]
pub enum AnalyticsError {
    #[error(transparent)]
    Period(#[from] PeriodError),
    #[error(transparent)]
    Kept(#[from] KeptError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Store(#[from] Error),
    /// The task that read a log has failed.
    #[error(transparent)]
    Lost(#[from] JoinError),
}

/// Filter of the calls in a report.
#[derive(Clone, Debug, Default)]
pub struct CallFilter {
    /// A day like 2026-11-01, or days back like 30d; `None`: from the first.
    pub since: Option<String>,
    /// Full name of the NPC; `None`: all.
    pub npc: Option<String>,
}

/// Reports of one scope.
pub struct Analytics {
    store: Arc<dyn MemoryStore>,
    data_dir: PathBuf,
    scope: Scope,
}

impl Analytics {
    /// Of `scope`, whose sessions lie in `data_dir`.
    pub fn new(store: Arc<dyn MemoryStore>, data_dir: PathBuf, scope: Scope) -> Self {
        Self { store, data_dir, scope }
    }

    /// Costs of `month` (YYYY-MM); `None`: of the current one in UTC.
    ///
    /// # Errors
    /// The month is invalid, or the store does not answer.
    pub async fn costs(&self, month: Option<&str>) -> Result<CostReport, AnalyticsError> {
        let current = || date(now()).chars().take("YYYY-MM".len()).collect();
        let month = month.map_or_else(current, str::to_owned);
        let costs = self.store.costs(&self.scope, period::month(&month)?).await?;
        let spent = self.store.spent(&self.scope).await?;
        let counted = spent.iter().filter(|it| it.month == month).map(|it| it.total).sum::<Money>();
        Ok(Costs::of(&costs).report(&month, counted))
    }

    /// Calls of NPCs' turns, with the costs since the start of the same day.
    ///
    /// # Errors
    /// The filter is invalid, the store does not answer, or a session's files cannot be read.
    pub async fn calls(&self, filter: CallFilter) -> Result<CallReport, AnalyticsError> {
        let CallFilter { since, npc } = filter;
        let since = since.map(|text| period::start_of(&text, now())).transpose()?;
        let first = since.map(date).unwrap_or_default().chars().take("YYYY-MM-DD".len()).collect();
        let of = Selection { since, npc };
        let mut calls = Calls::default();
        for entry in self.store.sessions(&self.scope, SessionFilter::default()).await? {
            calls = self.session(calls, entry, &of).await?;
        }
        let costs = self.store.costs(&self.scope, first..=LAST_DAY.to_owned()).await?;
        let paid =
            costs.iter().filter(|it| of.npc.as_ref().is_none_or(|npc| *npc == it.cost.payer));
        Ok(calls.report(&Costs::of(paid)))
    }

    /// Adds the turns and the calls of one session.
    async fn session(
        &self,
        mut calls: Calls,
        entry: SessionEntry,
        of: &Selection,
    ) -> Result<Calls, AnalyticsError> {
        let SessionEntry { session: Session { id, started, .. }, last_at, .. } = entry;
        if last_at.is_some_and(|at| of.since.is_none_or(|since| at >= since)) {
            let filter = LineFilter { session: Some(id.clone()), ..LineFilter::default() };
            for line in self.store.lines(&self.scope, filter, Viewer::Dm).await? {
                calls.add_line(&id, &line, of);
            }
        }
        let (data_dir, scope, of) = (self.data_dir.clone(), self.scope.clone(), of.clone());
        let read = move || -> Result<Calls, AnalyticsError> {
            let Some(log) = log_of(&data_dir, &id, &scope)? else { return Ok(calls) };
            let unread = read_log(&log, |call| {
                if of.has(call.at.or(started), call.npc.as_deref()) {
                    calls.add(&id, &call);
                }
            })?;
            calls.add_unread(unread);
            calls.end_session();
            Ok(calls)
        };
        spawn_blocking(read).await?
    }
}
