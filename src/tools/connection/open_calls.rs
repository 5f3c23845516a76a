//! Calls under way at one server, which its questions belong to. A request of a server does not
//! name its call, so with calls of several tables, or none, it is refused.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use tokio_util::sync::CancellationToken;

use crate::{
    domain::{Scope, SessionId},
    tools::{CallContext, Effects, Progress, Sampler},
};

/// Most sampling requests during one call.
const SAMPLES: u32 = 4;

#[derive(Default)]
pub struct OpenCalls {
    calls: Mutex<Vec<Arc<Call>>>,
}

#[derive(Clone)]
pub struct Whose {
    /// `None`: the call belongs to no session.
    pub scope: Option<Scope>,
    /// `None`: the call belongs to no session.
    pub session: Option<SessionId>,
    pub effects: Arc<dyn Effects>,
    /// Lends the NPC's chat model.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// Receives signs of life.
    pub progress: Progress,
}

impl Whose {
    /// A call without an NPC, at the table behind `effects`.
    pub fn table(effects: Arc<dyn Effects>) -> Self {
        Self { scope: None, session: None, effects, sampler: None, progress: Progress::default() }
    }

    /// The origin of `context`'s call.
    pub fn of(context: &CallContext) -> Self {
        Self {
            scope: Some(context.scope.clone()),
            session: Some(context.session.clone()),
            effects: Arc::clone(&context.effects),
            sampler: context.authority.caller().and_then(|caller| caller.sampler.clone()),
            progress: context.progress.clone(),
        }
    }

    /// True if both calls are of one table; a call without a session has a table of its own.
    fn is_beside(&self, other: &Self) -> bool {
        self.session.is_some() && (&self.scope, &self.session) == (&other.scope, &other.session)
    }
}

/// Reason a server's question cannot be forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NobodyToAsk {
    #[error("only a call under way may ask")]
    NoCall,
    #[error("calls of several tables are under way, and a request does not say which it is for")]
    SeveralTables,
}

pub struct Call {
    pub whose: Whose,
    pub over: CancellationToken,
    samples: AtomicU32,
}

impl Call {
    /// Counts a sampling request; false above the limit.
    pub fn may_sample(&self) -> bool {
        self.samples.fetch_add(1, Ordering::Relaxed) < SAMPLES
    }
}

/// A registered call; dropping it ends it.
pub struct OpenCall<'a> {
    calls: &'a OpenCalls,
    call: Arc<Call>,
}

impl OpenCalls {
    pub fn open(&self, whose: Whose) -> OpenCall<'_> {
        let over = CancellationToken::new();
        let call = Arc::new(Call { whose, over, samples: AtomicU32::new(0) });
        self.lock().push(Arc::clone(&call));
        OpenCall { calls: self, call }
    }

    /// The newest call, if all are of one table.
    pub fn asking(&self) -> Result<Arc<Call>, NobodyToAsk> {
        let calls = self.lock();
        let (newest, others) = calls.split_last().ok_or(NobodyToAsk::NoCall)?;
        match others.iter().all(|other| newest.whose.is_beside(&other.whose)) {
            true => Ok(Arc::clone(newest)),
            false => Err(NobodyToAsk::SeveralTables),
        }
    }

    /// Reports progress. rmcp hides which call a progress token means, so it counts for all.
    pub fn progress(&self) {
        for call in self.lock().iter() {
            call.whose.progress.note();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Call>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.call.over.cancel();
        self.calls.lock().retain(|other| !Arc::ptr_eq(other, &self.call));
    }
}
