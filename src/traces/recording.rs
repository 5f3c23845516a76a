//! Spans of one turn, until they leave. Entry type: [`Recording`].
//!
//! Each reads the wall clock once, at its start: over hours that clock and the other one drift
//! apart, by hours where a machine sleeps. Durations within a trace are exact.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::UNIX_EPOCH,
};

use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::time::Instant;

use super::{message::Ended, queue::Shared};

/// Most spans of a trace: a turn has at most tens of requests, sentences and calls.
const SPANS: usize = 512;
/// Most encoded bytes of these spans, so that a full queue stays below 100 MB and a request below
/// the 20 MiB that collectors take. Ten requests with their words need less.
const BYTES: usize = 256 << 10;

pub struct Recording {
    pub shared: Arc<Shared>,
    pub id: u128,
    /// Id of the root span.
    pub root: u64,
    pub session: String,
    /// Unix time in ns at `since`.
    wall: u64,
    since: Instant,
    /// `None` once they have left.
    spans: Mutex<Option<Spans>>,
}

#[derive(Default)]
struct Spans {
    all: Vec<Span>,
    bytes: usize,
}

impl Recording {
    pub fn new(shared: &Arc<Shared>, session: &str) -> Self {
        let wall = (shared.wall)().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Self {
            shared: Arc::clone(shared),
            // Zero is no id.
            id: rand::random::<u128>().max(1),
            root: span_id(),
            session: session.to_owned(),
            wall: u64::try_from(wall).unwrap_or(u64::MAX),
            since: Instant::now(),
            spans: Mutex::new(Some(Spans::default())),
        }
    }

    /// Adds a span. One without room, or that ends after the trace has left, is lost.
    pub fn add(&self, ended: Ended) {
        let span = ended.of(self.id);
        let bytes = span.encoded_len();
        if let Some(spans) = &mut *self.locked()
            && spans.all.len() < SPANS
            && spans.bytes + bytes <= BYTES
        {
            spans.bytes += bytes;
            spans.all.push(span);
        }
    }

    /// The spans, once.
    pub fn take(&self) -> Option<Vec<Span>> {
        self.locked().take().map(|spans| spans.all)
    }

    /// `at` as Unix time in ns.
    pub fn unix(&self, at: Instant) -> u64 {
        let nanos = |from: Instant, to: Instant| {
            u64::try_from(to.saturating_duration_since(from).as_nanos()).unwrap_or(u64::MAX)
        };
        self.wall.saturating_add(nanos(self.since, at)).saturating_sub(nanos(at, self.since))
    }

    fn locked(&self) -> MutexGuard<'_, Option<Spans>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn span_id() -> u64 {
    rand::random::<u64>().max(1)
}
