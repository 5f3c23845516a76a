//! Limits of an NPC's policy on calls per turn, minute and session. Whitelists and tiers are the
//! catalog's.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{CallError, CallErrorKind};
use crate::domain::{Policy, SessionId, ToolCall, ToolChoice};

const MINUTE: Duration = Duration::from_secs(60);

/// Calls of one NPC in a session; clones share the count.
#[derive(Clone, Default)]
pub struct SessionCalls(Arc<Mutex<Counted>>);

#[derive(Default)]
struct Counted {
    total: u32,
    recent: VecDeque<Instant>,
}

/// Counts of all running sessions; they survive redefined NPCs.
#[derive(Default)]
pub struct AllCalls(Mutex<HashMap<Option<SessionId>, HashMap<String, SessionCalls>>>);

impl AllCalls {
    pub fn of(&self, session: Option<&SessionId>, npc: &str) -> SessionCalls {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = all.entry(session.cloned()).or_default();
        session.entry(npc.to_owned()).or_default().clone()
    }

    pub fn forget(&self, session: &SessionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&Some(session.clone()));
    }
}

/// Calls of one turn, checked against the NPC's policy; clones share the count.
#[derive(Clone)]
pub struct TurnLimits(Arc<Mutex<Counting>>);

struct Counting {
    session: SessionCalls,
    policy: Policy,
    made: u32,
    round: u32,
    identical: HashMap<(String, String), Identical>,
    closed: bool,
}

#[derive(Default)]
struct Identical {
    rounds: u32,
    /// Round of the last such call.
    last: Option<u32>,
}

impl TurnLimits {
    /// Starts counting a turn on top of the session's earlier ones.
    pub fn new(session: SessionCalls, policy: Policy) -> Self {
        Self(Arc::new(Mutex::new(Counting {
            closed: policy.tool_choice == ToolChoice::None,
            session,
            policy,
            made: 0,
            round: 0,
            identical: HashMap::new(),
        })))
    }

    /// Begins a round of simultaneous calls. Equal calls within a round are intended (three magic
    /// missiles), unlike repeats in later rounds.
    pub fn begin_round(&self) {
        self.counting().round += 1;
    }

    pub fn close(&self) {
        self.counting().closed = true;
    }

    pub fn is_closed(&self) -> bool {
        self.counting().closed
    }

    /// Admits and counts a call, or fails with the exceeded limit, worded for the model.
    pub fn admit(&self, now: Instant, call: &ToolCall) -> Result<(), CallError> {
        self.counting().admit(now, call)
    }

    fn counting(&self) -> MutexGuard<'_, Counting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counting {
    fn admit(&mut self, now: Instant, call: &ToolCall) -> Result<(), CallError> {
        let refuse = |what: String| Err(CallError::new(CallErrorKind::Policy, what));
        if self.closed {
            return refuse("no tool can be called any more (answer now)".to_owned());
        }
        if self.made >= self.policy.max_calls_per_turn {
            return refuse(format!(
                "no more than {} calls in one turn (answer now)",
                self.policy.max_calls_per_turn
            ));
        }
        let key = (call.name.clone(), call.arguments.clone());
        let identical = self.identical.entry(key).or_default();
        if identical.last.replace(self.round) != Some(self.round) {
            identical.rounds += 1;
        }
        if identical.rounds > self.policy.max_identical {
            return refuse(format!(
                "'{}' was called with the same arguments before (use that result)",
                call.name
            ));
        }
        self.session.admit(now, &self.policy)?;
        self.made += 1;
        Ok(())
    }
}

impl SessionCalls {
    fn admit(&self, now: Instant, policy: &Policy) -> Result<(), CallError> {
        let refuse = |what: &str| Err(CallError::new(CallErrorKind::Policy, what));
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.total >= policy.max_calls_per_session {
            return refuse("the calls of this session are used up (answer without tools)");
        }
        while counted.recent.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
            counted.recent.pop_front();
        }
        if counted.recent.len() >= policy.max_calls_per_minute as usize {
            return refuse("too many calls in this minute (answer without tools)");
        }
        counted.total += 1;
        counted.recent.push_back(now);
        Ok(())
    }
}
