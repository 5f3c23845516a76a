//! Limits of an NPC's policy on tool calls, counted per turn, minute and session.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    domain::{Policy, ToolCall},
    tools::{CallError, CallErrorKind},
};

/// Calls of one NPC in this session.
#[derive(Clone, Default)]
pub struct SessionCalls(Arc<Mutex<Counted>>);

#[derive(Default)]
struct Counted {
    total: u32,
    recent: VecDeque<Instant>,
}

/// Calls of one turn.
pub struct TurnLimits {
    session: SessionCalls,
    policy: Policy,
    made: u32,
    identical: HashMap<(String, String), u32>,
}

impl TurnLimits {
    /// Starts counting a turn.
    pub fn new(session: SessionCalls, policy: Policy) -> Self {
        Self { session, policy, made: 0, identical: HashMap::new() }
    }

    /// Counts equal calls once a round: several at once are wanted (three magic missiles).
    pub fn begin_round(&mut self, calls: &[ToolCall]) {
        let mut seen: Vec<(String, String)> = Vec::new();
        for call in calls {
            let key = (call.name.clone(), call.arguments.clone());
            if !seen.contains(&key) {
                *self.identical.entry(key.clone()).or_default() += 1;
                seen.push(key);
            }
        }
    }

    /// Lets a call pass, or says which limit it hits.
    ///
    /// # Errors
    /// [`CallErrorKind::Policy`] with text for the model.
    pub fn admit(&mut self, now: Instant, call: &ToolCall) -> Result<(), CallError> {
        let refuse = |what: String| Err(CallError::new(CallErrorKind::Policy, what));
        if self.made >= self.policy.max_calls_per_turn {
            return refuse(format!(
                "no more than {} calls in one turn (answer now)",
                self.policy.max_calls_per_turn
            ));
        }
        let key = (call.name.clone(), call.arguments.clone());
        if self.identical.get(&key).copied().unwrap_or_default() > self.policy.max_identical {
            return refuse(format!(
                "'{}' was called with the same arguments before (use that result)",
                call.name
            ));
        }
        let mut counted = self.session.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.total >= self.policy.max_calls_per_session {
            return refuse("the calls of this session are used up (answer without tools)".into());
        }
        while counted.recent.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
            counted.recent.pop_front();
        }
        if counted.recent.len() >= self.policy.max_calls_per_minute as usize {
            return refuse("too many calls in this minute (answer without tools)".into());
        }
        counted.total += 1;
        counted.recent.push_back(now);
        self.made += 1;
        Ok(())
    }
}

const MINUTE: Duration = Duration::from_secs(60);
