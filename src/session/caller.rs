//! Workflows and programs outside that wait for what becomes of an order.
//!
//! Entry type: [`Caller`].

use std::sync::atomic::{AtomicU64, Ordering};

use super::speakers::SpeakerId;

/// An order, which its line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderId(u64);

/// The speaker that a table records for an order, and the order.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    pub speaker: SpeakerId,
    pub order: OrderId,
}

impl Caller {
    /// `speaker` with an order that no other call has.
    pub fn new(speaker: SpeakerId) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { speaker, order: OrderId(NEXT.fetch_add(1, Ordering::Relaxed)) }
    }
}
