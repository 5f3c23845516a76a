//! Spans of one turn, until they leave. Entry type: [`Recording`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opentelemetry_proto::tonic::trace::v1::Span;

use super::{message::Ended, queue::Shared};

/// Most spans of a trace: a turn has at most tens of requests, sentences and calls.
const SPANS: usize = 512;

pub struct Recording {
    pub shared: Arc<Shared>,
    pub id: u128,
    /// Id of the root span.
    pub root: u64,
    pub session: String,
    /// `None` once they have left.
    spans: Mutex<Option<Vec<Span>>>,
}

impl Recording {
    pub fn new(shared: &Arc<Shared>, session: &str) -> Self {
        Self {
            shared: Arc::clone(shared),
            // Zero is no id.
            id: rand::random::<u128>().max(1),
            root: span_id(),
            session: session.to_owned(),
            spans: Mutex::new(Some(Vec::new())),
        }
    }

    /// Adds a span; one that ends after the trace has left is lost.
    pub fn add(&self, ended: Ended) {
        let span = ended.of(self.id);
        if let Some(spans) = &mut *self.locked()
            && spans.len() < SPANS
        {
            spans.push(span);
        }
    }

    /// The spans, once.
    pub fn take(&self) -> Option<Vec<Span>> {
        self.locked().take()
    }

    fn locked(&self) -> MutexGuard<'_, Option<Vec<Span>>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn span_id() -> u64 {
    rand::random::<u64>().max(1)
}
