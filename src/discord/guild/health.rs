//! Detects that the bot is deaf or mute.
//!
//! Entry type: [`Health`], fed by the guild's task every second. **Never**: repairs anything
//! itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;

/// Longest silence of a user who, Discord says, speaks.
const SILENT_FOR: Duration = Duration::from_secs(3);
/// Between two attempts to repair the same connection.
const REPAIR_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub struct Health {
    /// Users who speak according to Discord, and since when.
    speaking: BTreeMap<u64, Instant>,
    /// Number of packets without a known user, and since when it grows.
    unclaimed: (u64, Option<Instant>),
    repaired: Option<Instant>,
    crowded: u64,
    complained: BTreeSet<u64>,
}

#[derive(Clone, Copy, Debug)]
pub struct Packets {
    /// Arrival of the last one that holds sound.
    pub last: Instant,
    /// Arrival of the last decodable one.
    pub last_good: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ailment {
    /// No packet arrives although a user speaks: reconnect.
    Deaf,
    /// This user cannot be heard, others can.
    DeafTo(u64),
    /// Packets of this user cannot be decoded.
    Garbled(u64),
}

impl Health {
    pub fn speaks(&mut self, now: Instant, user: u64) {
        self.speaking.entry(user).or_insert(now);
    }

    pub fn left(&mut self, user: u64) {
        self.speaking.remove(&user);
        self.complained.remove(&user);
    }

    /// Faults at `now`, each reported once until it is over. `received`: packets of users who may
    /// be heard; `unclaimed`: number of packets without a known user.
    pub fn look(
        &mut self,
        now: Instant,
        received: &BTreeMap<u64, Packets>,
        unclaimed: u64,
    ) -> Vec<Ailment> {
        let mut found = Vec::new();
        let newest = received.values().map(|it| it.last).max();
        let due: Vec<(u64, Instant)> = self
            .speaking
            .iter()
            .filter(|(_, since)| now.duration_since(**since) >= SILENT_FOR)
            .map(|(user, since)| (*user, *since))
            .collect();
        for (user, since) in due {
            self.speaking.remove(&user);
            if received.get(&user).is_some_and(|it| it.last >= since) {
                self.complained.remove(&user);
            } else if newest.is_some_and(|newest| newest >= since) {
                found.extend(self.complained.insert(user).then_some(Ailment::DeafTo(user)));
            } else if self.may_repair(now) {
                found.push(Ailment::Deaf);
            }
        }
        if self.is_unclaimed_for_long(now, unclaimed) && self.may_repair(now) {
            found.push(Ailment::Deaf);
        }
        for (user, packets) in received {
            let recent = now.duration_since(packets.last) < SILENT_FOR;
            let good = packets.last_good.is_some_and(|at| now.duration_since(at) < SILENT_FOR);
            if recent && !good && packets.last_good.is_some_and(|at| packets.last > at) {
                found.extend(self.complained.insert(*user).then_some(Ailment::Garbled(*user)));
            }
        }
        found
    }

    /// True if `count`, the number of dropped frames, has grown.
    pub fn is_crowded(&mut self, count: u64) -> bool {
        std::mem::replace(&mut self.crowded, count) < count
    }

    fn may_repair(&mut self, now: Instant) -> bool {
        let may = self.repaired.is_none_or(|at| now.duration_since(at) >= REPAIR_EVERY);
        if may {
            self.repaired = Some(now);
        }
        may
    }

    fn is_unclaimed_for_long(&mut self, now: Instant, count: u64) -> bool {
        let (known, since) = self.unclaimed;
        let since = if count > known { Some(since.unwrap_or(now)) } else { None };
        self.unclaimed = (count, since);
        since.is_some_and(|since| now.duration_since(since) >= SILENT_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(at: Instant) -> Packets {
        Packets { last: at, last_good: Some(at) }
    }

    #[test]
    fn speaker_with_packets_raises_no_complaint() {
        let (start, mut health) = (Instant::now(), Health::default());
        health.speaks(start, 1);
        let at = |s| start + Duration::from_secs(s);
        let received = [(1, packets(at(1)))].into();
        assert_eq!(health.look(at(4), &received, 0), []);
    }

    #[test]
    fn deaf_to_everybody_is_repaired_once_a_minute() {
        let (start, mut health) = (Instant::now(), Health::default());
        let at = |s| start + Duration::from_secs(s);
        health.speaks(start, 1);
        assert_eq!(health.look(at(2), &BTreeMap::new(), 0), []);
        assert_eq!(health.look(at(3), &BTreeMap::new(), 0), [Ailment::Deaf]);
        health.speaks(at(5), 1);
        assert_eq!(health.look(at(9), &BTreeMap::new(), 0), []);
        health.speaks(at(70), 1);
        assert_eq!(health.look(at(74), &BTreeMap::new(), 0), [Ailment::Deaf]);
    }

    #[test]
    fn deaf_to_one_is_said_once_until_they_are_heard() {
        let (start, mut health) = (Instant::now(), Health::default());
        let at = |s| start + Duration::from_secs(s);
        let others = |s| [(2, packets(at(s)))].into();
        health.speaks(start, 1);
        assert_eq!(health.look(at(3), &others(2), 0), [Ailment::DeafTo(1)]);
        health.speaks(at(4), 1);
        assert_eq!(health.look(at(8), &others(7), 0), []);
        health.speaks(at(9), 1);
        assert_eq!(health.look(at(13), &[(1, packets(at(10)))].into(), 0), []);
        health.speaks(at(14), 1);
        assert_eq!(health.look(at(18), &others(17), 0), [Ailment::DeafTo(1)]);
    }

    #[test]
    fn unknown_packets_mean_deaf_bad_ones_garbled() {
        let (start, mut health) = (Instant::now(), Health::default());
        let at = |s| start + Duration::from_secs(s);
        for s in 0..3 {
            assert_eq!(health.look(at(s), &BTreeMap::new(), 50 * (s + 1)), []);
        }
        assert_eq!(health.look(at(3), &BTreeMap::new(), 200), [Ailment::Deaf]);
        let garbled = Packets { last: at(20), last_good: Some(at(10)) };
        assert_eq!(health.look(at(20), &[(5, garbled)].into(), 200), [Ailment::Garbled(5)]);
    }
}
