//! The calls under way at one server: whom its questions go to.
//!
//! Entry type: [`OpenCalls`]. **Never**: guesses a table when no call is under way.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use tokio_util::sync::CancellationToken;

use crate::tools::{CallContext, Effects, Progress, Sampler};

/// Requests to a chat model during one call.
const SAMPLES: u32 = 4;

/// Calls under way at one server.
#[derive(Default)]
pub struct OpenCalls {
    calls: Mutex<Vec<Arc<Call>>>,
}

/// Whose call it is.
#[derive(Clone)]
pub struct Whose {
    /// The table of the call, for questions the server asks.
    pub effects: Arc<dyn Effects>,
    /// What lends its NPC's chat model.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// Where signs of life go.
    pub progress: Progress,
}

impl Whose {
    /// A call of no NPC, at the table behind `effects`.
    pub fn table(effects: Arc<dyn Effects>) -> Self {
        Self { effects, sampler: None, progress: Progress::default() }
    }

    /// The call's of `context`.
    pub fn of(context: &CallContext) -> Self {
        Self {
            effects: Arc::clone(&context.effects),
            sampler: context.authority.caller().and_then(|caller| caller.sampler.clone()),
            progress: context.progress.clone(),
        }
    }
}

/// One call under way.
pub struct Call {
    /// Whose it is.
    pub whose: Whose,
    /// Cancelled when it is over.
    pub over: CancellationToken,
    samples: AtomicU32,
}

impl Call {
    /// Whether its server may ask a chat model once more.
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

    /// The newest call.
    pub fn newest(&self) -> Option<Arc<Call>> {
        self.lock().last().cloned()
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
