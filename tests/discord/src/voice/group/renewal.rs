//! Beginnings and ends of a group: a new start, the end of DAVE,
//! who goes, and what is overdue.
//!
//! Entry: [`Group::reset`], [`Group::downgrade`], [`Group::overdue`].
//! Never sends anything.

use super::{Change, Group, Say};
use serde_json::json;
use std::{collections::BTreeSet, time::Duration};
use tokio::time::Instant;

/// Time limit for members to commit or to say that they are ready.
const PATIENCE: Duration = Duration::from_secs(8);

impl Group {
    /// Op 24: all members start again with a new group and a new key package.
    pub(in crate::voice) fn reset(&mut self, users: &BTreeSet<u64>) -> Vec<Say> {
        self.leaves.clear();
        self.queue.clear();
        self.waiting.clear();
        (self.proposed, self.announced, self.settled, self.epoch) = (None, None, None, 0);
        let body = json!({"protocol_version": self.version, "epoch": 1});
        users.iter().map(|user| Say::Json(*user, 24, body.clone())).collect()
    }

    /// All members have gone, or are on another server: the group ends, its figures stay.
    pub(in crate::voice) fn dissolve(&mut self, version: u16) {
        self.present.clear();
        self.version = version;
        // No message is sent: the channel is empty.
        let _nobody = self.reset(&BTreeSet::new());
    }

    /// Op 21: the channel goes on without DAVE once all members are ready.
    pub(in crate::voice) fn downgrade(&mut self, users: &BTreeSet<u64>, now: Instant) -> Vec<Say> {
        let id = self.announce(now);
        self.downgrade = true;
        self.waiting = users.clone();
        self.proposed = None;
        self.queue.clear();
        let body = json!({"protocol_version": 0, "transition_id": id});
        users.iter().map(|user| Say::Json(*user, 21, body.clone())).collect()
    }

    /// Handles what is overdue: a commit that was never made (the group starts again), readiness that was
    /// never declared (the transition goes on without the user). Only users who can be reached are to blame.
    pub(in crate::voice) fn overdue(
        &mut self,
        users: &BTreeSet<u64>,
        reachable: &BTreeSet<u64>,
        now: Instant,
    ) -> Vec<Say> {
        let late = |since: Instant| now.duration_since(since) > PATIENCE;
        let mut out = Vec::new();
        let mut blame = |what: &str, whom: &BTreeSet<u64>| {
            let whom: Vec<&u64> = whom.intersection(reachable).collect();
            if !whom.is_empty() {
                out.push(Say::Violation(format!("users {whom:?} {what} within {PATIENCE:?}")));
            }
        };
        if let Some(proposed) = self.proposed.as_ref().filter(|proposed| late(proposed.at)) {
            blame("did not commit what was proposed", &proposed.asked);
            out.extend(self.reset(users));
        } else if self.announced.is_some_and(late) {
            blame("were not ready for a transition", &self.waiting);
            self.waiting.clear();
            self.settle(now, &mut out);
        }
        out
    }

    /// Op 31: a user could not read its commit or welcome; a new key package follows.
    pub(in crate::voice) fn refused(&mut self, user: u64, now: Instant) -> Vec<Say> {
        let mut out = Vec::new();
        self.refused += 1;
        self.settled = None;
        self.waiting.remove(&user);
        self.settle(now, &mut out);
        out
    }

    /// A user has gone.
    pub(in crate::voice) fn left(&mut self, user: u64, now: Instant) -> Vec<Say> {
        let mut out = Vec::new();
        self.present.remove(&user);
        self.waiting.remove(&user);
        self.queue.retain(|change| !matches!(change, Change::Add(who, _) if *who == user));
        self.queue.push_back(Change::Remove(user));
        if let Some(proposed) = &mut self.proposed {
            proposed.asked.remove(&user);
        }
        self.settle(now, &mut out);
        out
    }
}
