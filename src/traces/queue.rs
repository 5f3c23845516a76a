//! From turns to the sender: a bounded queue of whole traces. Entry type: [`Queue`].

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::sync::mpsc;

use super::message::request;

/// Queued traces: minutes of talk at a dozen tables.
pub const CAPACITY: usize = 256;
/// Most traces in one request.
const BATCH: usize = 32;

/// Shared by all traces of a program.
pub struct Shared {
    queue: mpsc::Sender<Vec<Span>>,
    lost: Arc<AtomicU64>,
    pub has_content: bool,
    /// The time now.
    pub wall: fn() -> SystemTime,
}

impl Shared {
    /// Queues a trace; a full queue loses it.
    pub fn send(&self, spans: Vec<Span>) {
        if self.queue.try_send(spans).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Finished traces, for the sender.
pub struct Queue {
    traces: mpsc::Receiver<Vec<Span>>,
    lost: Arc<AtomicU64>,
}

impl Queue {
    /// `wall` tells the time.
    pub fn open(has_content: bool, wall: fn() -> SystemTime) -> (Arc<Shared>, Self) {
        let (queue, traces) = mpsc::channel(CAPACITY);
        let lost = Arc::<AtomicU64>::default();
        let shared = Shared { queue, lost: Arc::clone(&lost), has_content, wall };
        (Arc::new(shared), Self { traces, lost })
    }

    /// Body of the next request, with the traces that wait; `None` once closed and empty. Cancel
    /// safe.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        let mut traces = Vec::new();
        let count = self.traces.recv_many(&mut traces, BATCH).await;
        (count > 0).then(|| request(traces.into_iter().flatten().collect()))
    }

    /// Takes no more traces.
    pub fn close(&mut self) {
        self.traces.close();
    }

    /// Traces lost since the last call.
    pub fn lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}
