//! The calls under way at one server: whom its questions go to.
//!
//! Entry type: [`OpenCalls`]. **Never**: guesses a table when no call is under way, or calls of several
//! tables are: a request of a server does not say which call it is for.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use tokio_util::sync::CancellationToken;

use crate::{
    domain::{Scope, SessionId},
    tools::{CallContext, Effects, Progress, Sampler},
};

/// Requests to a chat model during one call.
const SAMPLES: u32 = 4;

/// Calls under way at one server.
#[derive(Default)]
pub struct OpenCalls {
    calls: Mutex<Vec<Arc<Call>>>,
}

/// Origin of a call.
#[derive(Clone)]
pub struct Whose {
    /// Scope the call is about; `None`: it belongs to no session.
    pub scope: Option<Scope>,
    /// The session it is made in; `None`: it belongs to none.
    pub session: Option<SessionId>,
    /// The table of the call, for questions the server asks.
    pub effects: Arc<dyn Effects>,
    /// Lends the chat model of its NPC.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// Receives signs of life.
    pub progress: Progress,
}

impl Whose {
    /// A call of no NPC, at the table behind `effects`.
    pub fn table(effects: Arc<dyn Effects>) -> Self {
        Self { scope: None, session: None, effects, sampler: None, progress: Progress::default() }
    }

    /// The call's of `context`.
    pub fn of(context: &CallContext) -> Self {
        Self {
            scope: Some(context.scope.clone()),
            session: Some(context.session.clone()),
            effects: Arc::clone(&context.effects),
            sampler: context.authority.caller().and_then(|caller| caller.sampler.clone()),
            progress: context.progress.clone(),
        }
    }

    /// True if both calls are of one table; calls of no session are each of their own.
    fn is_beside(&self, other: &Self) -> bool {
        self.session.is_some() && (&self.scope, &self.session) == (&other.scope, &other.session)
    }
}

/// Reason a server's question cannot be put to anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NobodyToAsk {
    /// No call of the server is under way.
    #[error("only a call under way may ask")]
    NoCall,
    /// It cannot be known which table it is for.
    #[error("calls of several tables are under way, and a request does not say which it is for")]
    SeveralTables,
}

/// One call under way.
pub struct Call {
    /// Origin of the call.
    pub whose: Whose,
    /// Cancelled when it is over.
    pub over: CancellationToken,
    samples: AtomicU32,
}

impl Call {
    /// Counts a request of its server to a chat model; true if it is allowed.
    pub fn may_sample(&self) -> bool {
        self.samples.fetch_add(1, Ordering::Relaxed) < SAMPLES
    }
}

/// One of [`OpenCalls`], as long as it lives.
pub struct OpenCall<'a> {
    calls: &'a OpenCalls,
    call: Arc<Call>,
}

impl OpenCalls {
    /// A call has gone out.
    pub fn open(&self, whose: Whose) -> OpenCall<'_> {
        let over = CancellationToken::new();
        let call = Arc::new(Call { whose, over, samples: AtomicU32::new(0) });
        self.lock().push(Arc::clone(&call));
        OpenCall { calls: self, call }
    }

    /// The newest call, if all that are under way are of one table.
    ///
    /// # Errors
    /// It is not known whose question it would be.
    pub fn asking(&self) -> Result<Arc<Call>, NobodyToAsk> {
        let calls = self.lock();
        let (newest, others) = calls.split_last().ok_or(NobodyToAsk::NoCall)?;
        match others.iter().all(|other| newest.whose.is_beside(&other.whose)) {
            true => Ok(Arc::clone(newest)),
            false => Err(NobodyToAsk::SeveralTables),
        }
    }

    /// The server says that it is at work. On which call it says by a token that only the protocol's
    /// library knows, so it counts for all of them.
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
