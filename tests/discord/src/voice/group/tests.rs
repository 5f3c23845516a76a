//! A group and its members' own sessions, without a wire: whatever order people come, go and
//! answer in, all end up with the same keys.

use super::{Group, Say};
use davey::{DaveSession, ProposalsOperationType};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng, seq::IteratorRandom as _};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    num::NonZeroU16,
};
use tokio::time::Instant;

const CHANNEL: u64 = 4004;

/// A user's own session, and what is on its way to it.
struct Member {
    session: DaveSession,
    inbox: VecDeque<(u8, Vec<u8>)>,
}

/// The group and who is there.
struct Table {
    group: Group,
    members: BTreeMap<u64, Member>,
    now: Instant,
}

impl Table {
    fn new() -> Self {
        let group = Group::new(CHANNEL, 1).unwrap();
        Self { group, members: BTreeMap::new(), now: Instant::now() }
    }

    fn join(&mut self, user: u64) {
        let version = NonZeroU16::MIN;
        let mut session = DaveSession::new(version, user, CHANNEL, None).unwrap();
        let package = session.create_key_package().unwrap();
        self.members.insert(user, Member { session, inbox: VecDeque::new() });
        let said = self.group.key_package(user, &package, self.now);
        self.post(said);
    }

    fn leave(&mut self, user: u64) {
        self.members.remove(&user);
        let said = if self.members.is_empty() {
            self.group.dissolve(1);
            Vec::new()
        } else {
            self.group.left(user, self.now)
        };
        self.post(said);
    }

    fn reset(&mut self) {
        let users: BTreeSet<u64> = self.members.keys().copied().collect();
        let said = self.group.reset(&users);
        self.post(said);
    }

    /// Puts what the group says on its way.
    fn post(&mut self, said: Vec<Say>) {
        for say in said {
            let (user, op, body) = match say {
                Say::Binary(user, op, body) => (user, op, body),
                Say::Json(user, op, _) => (user, op, Vec::new()),
                Say::Violation(text) => panic!("{text}"),
            };
            if let Some(member) = self.members.get_mut(&user) {
                member.inbox.push_back((op, body));
            }
        }
    }

    /// One member reads one message and answers; false if no member has any.
    fn step(&mut self, random: &mut StdRng) -> bool {
        let waiting = self.members.iter().filter(|(_, member)| !member.inbox.is_empty());
        let Some(user) = waiting.map(|(user, _)| *user).choose(random) else { return false };
        let member = self.members.get_mut(&user).unwrap();
        let (op, body) = member.inbox.pop_front().unwrap();
        let session = &mut member.session;
        let said = match op {
            24 => {
                session.reinit(NonZeroU16::MIN, user, CHANNEL, None).unwrap();
                let package = session.create_key_package().unwrap();
                self.group.key_package(user, &package, self.now)
            }
            25 => {
                session.set_external_sender(&body).unwrap();
                Vec::new()
            }
            27 => {
                let append = ProposalsOperationType::APPEND;
                let made = session.process_proposals(append, &body[1..], None).unwrap().unwrap();
                let body = [made.commit, made.welcome.unwrap_or_default()].concat();
                self.group.commit_welcome(user, &body, self.now)
            }
            29 | 30 => {
                let id = u64::from(u16::from_be_bytes([body[0], body[1]]));
                let read = if op == 29 {
                    session.process_commit(&body[2..]).is_ok()
                } else {
                    session.process_welcome(&body[2..]).is_ok()
                };
                if read {
                    self.group.ready(user, id, self.now)
                } else {
                    let said = self.group.refused(user, self.now);
                    member.inbox.push_front((24, Vec::new()));
                    said
                }
            }
            _ => Vec::new(),
        };
        self.post(said);
        true
    }

    /// All members read and answer until no message is left.
    fn settle(&mut self, random: &mut StdRng) {
        let has_more = (0..10_000).all(|_| self.step(random));
        assert!(!has_more, "it never settles");
    }

    /// Asserts that all members have the same keys.
    fn agree(&self) {
        let users: Vec<u64> = self.members.keys().copied().collect();
        assert_eq!(self.group.members().into_iter().collect::<Vec<_>>(), users);
        if users.len() < 2 {
            return;
        }
        let codes: BTreeSet<_> =
            self.members.values().map(|member| member.session.voice_privacy_code()).collect();
        assert!(codes.len() == 1 && !codes.contains(&None), "{users:?}: {codes:?}");
        for member in self.members.values() {
            let mut group = member.session.get_user_ids().unwrap();
            group.sort_unstable();
            assert_eq!(group, users);
        }
    }
}

#[test]
fn all_have_the_same_keys_whatever_the_order() {
    for seed in 0..5 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut table = Table::new();
        for _ in 0..14 {
            let user = random.random_range(1..=5);
            match (table.members.contains_key(&user), random.random_range(0..10)) {
                (_, 0) => table.reset(),
                (true, _) => table.leave(user),
                (false, _) => table.join(user),
            }
            for _ in 0..random.random_range(0..12) {
                table.step(&mut random);
            }
        }
        table.settle(&mut random);
        let users = table.members.keys().copied().collect();
        let later = table.now + std::time::Duration::from_secs(60);
        assert!(table.group.overdue(&users, &users, later).is_empty(), "nobody waits");
        assert_eq!(table.group.refused, 0);
        table.agree();
    }
}

#[test]
fn member_left_alone_before_commit_begins_group() {
    let mut random = StdRng::seed_from_u64(1);
    let mut table = Table::new();
    table.join(1);
    table.join(2);
    table.leave(1);
    table.settle(&mut random);
    table.agree();
    table.join(3);
    table.settle(&mut random);
    table.agree();
    assert_eq!(table.group.epoch, 1);
}
