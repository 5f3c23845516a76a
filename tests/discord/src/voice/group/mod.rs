//! The DAVE group of one voice channel, as the voice server keeps it: who is in, at which leaf, and
//! what is being changed. One change at a time: proposal (27), the first commit (28) wins, it is
//! announced (29) and the newcomer welcomed (30), all say ready (23), the server says go (22).
//!
//! Entry: [`Group::key_package`], [`Group::commit_welcome`], [`Group::ready`] and [`Group::left`]
//! return what is to be sent. Pure but for signatures: time is an argument.
//! Never sends anything, and holds no key of any frame.

mod renewal;

#[cfg(test)]
mod tests;

use super::mls::ExternalMember;
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use tokio::time::Instant;

/// Something the server says to one user.
#[derive(Debug)]
pub(in crate::voice) enum Say {
    /// A binary message.
    Binary(u64, u8, Vec<u8>),
    /// A JSON message.
    Json(u64, u8, Value),
    /// An act of a client that Discord would not have accepted.
    Violation(String),
}

/// A change of who is in.
#[derive(Clone, Debug)]
enum Change {
    /// A user with a key package.
    Add(u64, Vec<u8>),
    /// A member that left, or whose keys are new.
    Remove(u64),
}

/// A change that has been proposed.
struct Proposed {
    /// The change.
    change: Change,
    /// Users who may commit it.
    asked: BTreeSet<u64>,
    /// Time of the proposal.
    at: Instant,
}

/// The group of one channel.
pub(in crate::voice) struct Group {
    /// Signs proposals.
    server: ExternalMember,
    /// 0 while the channel is without DAVE.
    pub(in crate::voice) version: u16,
    /// Users at the leaves of the tree; the leftmost empty one is filled next.
    leaves: Vec<Option<u64>>,
    /// Of the group; counts commits.
    pub(in crate::voice) epoch: u64,
    /// Users with a socket and a key package.
    present: BTreeSet<u64>,
    /// Changes that wait.
    queue: VecDeque<Change>,
    /// The change that is under way.
    proposed: Option<Proposed>,
    /// The last transition's number.
    transition: u16,
    /// The transition leads to a version, not to a new epoch.
    downgrade: bool,
    /// Users who have not said ready.
    waiting: BTreeSet<u64>,
    /// Time at which the transition was announced.
    announced: Option<Instant>,
    /// Transitions that were executed.
    pub(in crate::voice) executed: u64,
    /// Commits and welcomes that clients refused (op 31).
    pub(in crate::voice) refused: u64,
    /// Time at which the last change was executed, if nothing has changed since.
    pub(in crate::voice) settled: Option<Instant>,
    /// Users whose next commit or welcome arrives broken.
    pub(in crate::voice) spoilt: BTreeSet<u64>,
}

impl Group {
    /// An empty group for a channel.
    pub(in crate::voice) fn new(channel: u64, version: u16) -> anyhow::Result<Self> {
        Ok(Self {
            server: ExternalMember::new(channel)?,
            version,
            leaves: Vec::new(),
            epoch: 0,
            present: BTreeSet::new(),
            queue: VecDeque::new(),
            proposed: None,
            transition: 0,
            downgrade: false,
            waiting: BTreeSet::new(),
            announced: None,
            executed: 0,
            refused: 0,
            settled: None,
            spoilt: BTreeSet::new(),
        })
    }

    /// Users in the group who are still there.
    pub(in crate::voice) fn members(&self) -> BTreeSet<u64> {
        self.leaves.iter().flatten().copied().filter(|user| self.present.contains(user)).collect()
    }

    /// Op 26: a user has a new key package, and every older one is worthless.
    pub(in crate::voice) fn key_package(
        &mut self,
        user: u64,
        package: &[u8],
        now: Instant,
    ) -> Vec<Say> {
        let mut out = Vec::new();
        match self.server.package() {
            Ok(package) => out.push(Say::Binary(user, 25, package)),
            Err(error) => out.push(Say::Violation(format!("external sender: {error:#}"))),
        }
        self.present.insert(user);
        self.waiting.remove(&user);
        self.queue.retain(|change| !matches!(change, Change::Add(who, _) if *who == user));
        self.queue.push_back(Change::Add(user, package.to_vec()));
        self.settle(now, &mut out);
        out
    }

    /// Op 28: a member committed the proposals; later commits have lost.
    pub(in crate::voice) fn commit_welcome(
        &mut self,
        user: u64,
        body: &[u8],
        now: Instant,
    ) -> Vec<Say> {
        let (commit, welcome, epoch) = match self.server.commit(body) {
            Ok(parts) => parts,
            Err(error) => return vec![Say::Violation(format!("op 28 of user {user}: {error:#}"))],
        };
        let current = self.epoch;
        let Some(proposed) =
            self.proposed.take_if(|proposed| epoch == current && proposed.asked.contains(&user))
        else {
            return Vec::new();
        };
        if matches!(proposed.change, Change::Add(..)) && welcome.is_empty() {
            self.proposed = Some(proposed);
            let text = format!("op 28 of user {user} adds a member and holds no welcome");
            return vec![Say::Violation(text)];
        }
        self.epoch += 1;
        let mut out = Vec::new();
        let mut told = self.members();
        if let Change::Remove(gone) = proposed.change {
            told.remove(&gone);
        }
        let id = self.announce(now).to_be_bytes();
        for member in &told {
            let body = self.spoiled(*member, [&id[..], commit].concat());
            out.push(Say::Binary(*member, 29, body));
        }
        match proposed.change {
            Change::Add(newcomer, _) => {
                self.seat(newcomer);
                if self.present.contains(&newcomer) {
                    let body = self.spoiled(newcomer, [&id[..], welcome].concat());
                    out.push(Say::Binary(newcomer, 30, body));
                    told.insert(newcomer);
                }
            }
            Change::Remove(gone) => self.unseat(gone),
        }
        self.waiting = told;
        self.settle(now, &mut out);
        out
    }

    /// Op 23: a user is ready for a transition.
    pub(in crate::voice) fn ready(&mut self, user: u64, id: u64, now: Instant) -> Vec<Say> {
        let mut out = Vec::new();
        if id > u64::from(self.transition) {
            out.push(Say::Violation(format!("user {user} is ready for transition {id}, unknown")));
        } else if id == u64::from(self.transition) {
            self.waiting.remove(&user);
            self.settle(now, &mut out);
        }
        out
    }

    /// Continues until it has to wait for a member.
    fn settle(&mut self, now: Instant, out: &mut Vec<Say>) {
        if self.announced.is_some() && self.waiting.is_empty() {
            self.execute(now, out);
        }
        if self.proposed.as_ref().is_some_and(|proposed| proposed.asked.is_empty()) {
            self.queue.extend(self.proposed.take().map(|proposed| proposed.change));
        }
        while self.proposed.is_none() && self.announced.is_none() {
            let Some(change) = self.queue.pop_front() else { return };
            self.take_up(change, now, out);
        }
    }

    /// Proposes a change, or makes it at once if no member has to agree.
    fn take_up(&mut self, change: Change, now: Instant, out: &mut Vec<Say>) {
        let (Change::Add(user, _) | Change::Remove(user)) = change;
        let leaf = self.leaves.iter().position(|at| *at == Some(user));
        let mut asked = self.members();
        asked.remove(&user);
        let proposal = match &change {
            Change::Remove(_) if leaf.is_none() => return,
            Change::Add(..) if !self.present.contains(&user) => return,
            Change::Remove(_) if asked.is_empty() => return self.leaves.clear(),
            Change::Add(..) if asked.is_empty() => {
                (self.leaves, self.epoch) = (vec![Some(user)], 0);
                return;
            }
            Change::Add(..) if leaf.is_some() => {
                self.queue.push_front(change);
                self.queue.push_front(Change::Remove(user));
                return;
            }
            Change::Add(_, package) => self.server.add(user, package, self.epoch),
            Change::Remove(_) => {
                let leaf = leaf.and_then(|leaf| u32::try_from(leaf).ok()).unwrap_or_default();
                self.server.remove(leaf, self.epoch)
            }
        };
        match proposal {
            Ok(proposal) => {
                let body = [&[0][..], &proposal].concat();
                out.extend(asked.iter().map(|member| Say::Binary(*member, 27, body.clone())));
                self.proposed = Some(Proposed { change, asked, at: now });
            }
            Err(error) => out.push(Say::Violation(format!("proposing user {user}: {error:#}"))),
        }
    }

    /// Op 22: the transition takes place.
    fn execute(&mut self, now: Instant, out: &mut Vec<Say>) {
        let body = json!({"transition_id": self.transition});
        let told = if self.downgrade { self.present.clone() } else { self.members() };
        out.extend(told.into_iter().map(|user| Say::Json(user, 22, body.clone())));
        (self.announced, self.settled) = (None, Some(now));
        self.executed += 1;
        if self.downgrade {
            (self.downgrade, self.version) = (false, 0);
            self.leaves.clear();
        }
    }

    /// The next transition's number; 0 means something else to clients.
    fn announce(&mut self, now: Instant) -> u16 {
        self.transition = self.transition.checked_add(1).unwrap_or(1);
        (self.announced, self.settled) = (Some(now), None);
        self.transition
    }

    /// Gives a user the leftmost empty leaf.
    fn seat(&mut self, user: u64) {
        match self.leaves.iter_mut().find(|leaf| leaf.is_none()) {
            Some(leaf) => *leaf = Some(user),
            None => self.leaves.push(Some(user)),
        }
    }

    /// Empties a user's leaf.
    fn unseat(&mut self, user: u64) {
        self.leaves.iter_mut().filter(|leaf| **leaf == Some(user)).for_each(|leaf| *leaf = None);
    }

    /// A message to a user, broken if a test has asked for that.
    fn spoiled(&mut self, user: u64, mut body: Vec<u8>) -> Vec<u8> {
        if self.spoilt.remove(&user)
            && let Some(last) = body.last_mut()
        {
            *last ^= 0xff;
        }
        body
    }
}
