//! Calls that may outlive their turns, listed so that they can be withdrawn. A call is listed from
//! its start, waiting for approval included, until its result is delivered. Withdrawing drops its
//! request, its approval or its result.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use dashmap::DashMap;
use tokio_util::sync::CancellationToken;

use super::CallContext;
use crate::domain::{Owner, PersonId, SessionId};

#[derive(Debug, Default)]
pub struct LateCalls {
    last: AtomicU64,
    open: DashMap<u64, Call>,
}

#[derive(Debug)]
struct Call {
    owner: Owner,
    session: SessionId,
    by: Option<PersonId>,
    end: CancellationToken,
}

#[derive(Clone, Copy, Debug)]
pub enum Whose<'w> {
    Session(&'w SessionId),
    Person(Owner, &'w PersonId),
}

/// Dropping it ends the listing.
pub struct Listed {
    calls: Arc<LateCalls>,
    key: u64,
    /// Cancelled on withdrawal.
    pub end: CancellationToken,
}

impl LateCalls {
    /// Lists the call of `context`; `end` cancels it.
    pub fn list(self: &Arc<Self>, context: &CallContext, end: CancellationToken) -> Listed {
        let key = self.last.fetch_add(1, Ordering::Relaxed);
        let call = Call {
            owner: context.scope.owner,
            session: context.session.clone(),
            by: context.by.clone(),
            end: end.clone(),
        };
        self.open.insert(key, call);
        Listed { calls: Arc::clone(self), key, end }
    }

    /// Cancels the selected calls.
    pub fn withdraw(&self, whose: Whose<'_>) {
        let is_meant = |call: &Call| match whose {
            Whose::Session(session) => call.session == *session,
            Whose::Person(owner, person) => call.owner == owner && call.by.as_ref() == Some(person),
        };
        self.open.iter().filter(|call| is_meant(call.value())).for_each(|call| call.end.cancel());
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.calls.open.remove(&self.key);
    }
}
