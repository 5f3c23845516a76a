//! The reorder buffer: one speaker's packets, back in order.
//!
//! Entry type: [`Reorder`]. [`Reorder::push`] takes packets as they arrive, [`Reorder::poll`]
//! returns them in sequence, each once. Packets in order pass at once; only a gap waits, for 40 ms
//! at first, counted from the arrival of the earliest packet behind it. When the wait is over, the
//! missing packets come out as [`Next::Lost`]. A packet that arrives after that is dropped and
//! lengthens the wait by its lateness plus 10 ms, up to 120 ms; 250 packets in order (5 s of
//! speech) shorten it by a tenth, down to 10 ms. A jump of 50 sequence numbers (a second of speech)
//! is a new stream: packets at hand pass without waiting for gaps. Time comes from the caller:
//! **never** reads a clock or decodes.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

const WAIT: Duration = Duration::from_millis(40);
/// Bounds of the wait.
const WAIT_MIN: Duration = Duration::from_millis(10);
const WAIT_MAX: Duration = Duration::from_millis(120);
const MARGIN: Duration = Duration::from_millis(10);
/// Packets in order that shorten the wait by a tenth.
const CALM: u32 = 250;
/// Sequence numbers; a longer jump is a new stream.
const JUMP: u16 = 50;
/// Remembered losses, to tell late packets from repeated ones.
const LOST_KEPT: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub sequence: u16,
    pub timestamp: u32,
    pub at: Instant,
    pub opus: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Packet(Packet),
    /// Given up. Its follower may hold a coarser copy (Opus in-band FEC, RFC 6716 §2.1.7).
    Lost {
        /// The next Opus packet, if it has arrived.
        follower: Option<Vec<u8>>,
    },
}

#[derive(Debug)]
pub struct Reorder {
    next: Option<u16>,
    /// Later than `next`, by sequence number.
    ahead: Vec<Packet>,
    ready: VecDeque<Next>,
    wait: Duration,
    in_order: u32,
    /// Given up lately, with the time.
    lost: VecDeque<(u16, Instant)>,
}

impl Default for Reorder {
    fn default() -> Self {
        Self {
            next: None,
            ahead: Vec::new(),
            ready: VecDeque::new(),
            wait: WAIT,
            in_order: 0,
            lost: VecDeque::new(),
        }
    }
}

impl Reorder {
    /// Takes a packet; drops repeated and late ones.
    pub fn push(&mut self, packet: Packet) {
        let next = *self.next.get_or_insert(packet.sequence);
        let ahead = packet.sequence.wrapping_sub(next);
        let behind = next.wrapping_sub(packet.sequence);
        if ahead == 0 {
            self.pass(packet);
            self.drain();
        } else if ahead < JUMP {
            let place = self.ahead.partition_point(|it| it.sequence.wrapping_sub(next) < ahead);
            if self.ahead.get(place).is_none_or(|it| it.sequence != packet.sequence) {
                self.ahead.insert(place, packet);
            }
        } else if behind < JUMP {
            self.came_late(&packet);
        } else {
            self.restart(packet);
        }
    }

    /// Next output at `now`; call until `None`.
    pub fn poll(&mut self, now: Instant) -> Option<Next> {
        if let Some(next) = self.ready.pop_front() {
            return Some(next);
        }
        if self.wake_at().is_some_and(|at| at <= now) {
            self.give_up(now);
            return self.ready.pop_front();
        }
        None
    }

    /// When a missing packet is given up.
    pub fn wake_at(&self) -> Option<Instant> {
        self.ahead.iter().map(|packet| packet.at).min().map(|at| at + self.wait)
    }

    fn pass(&mut self, packet: Packet) {
        self.next = Some(packet.sequence.wrapping_add(1));
        self.in_order += 1;
        if self.in_order >= CALM {
            self.in_order = 0;
            self.wait = (self.wait * 9 / 10).max(WAIT_MIN);
        }
        self.ready.push_back(Next::Packet(packet));
    }

    fn drain(&mut self) {
        while self.ahead.first().is_some_and(|packet| Some(packet.sequence) == self.next) {
            let packet = self.ahead.remove(0);
            self.pass(packet);
        }
    }

    /// Gives up everything before the first packet at hand.
    fn give_up(&mut self, now: Instant) {
        let (Some(next), Some(first)) = (self.next, self.ahead.first()) else { return };
        let missing = first.sequence.wrapping_sub(next);
        for step in 0..missing {
            let is_last = step + 1 == missing;
            let follower = is_last.then(|| first.opus.clone());
            self.ready.push_back(Next::Lost { follower });
            self.lost.push_back((next.wrapping_add(step), now));
        }
        while self.lost.len() > LOST_KEPT {
            self.lost.pop_front();
        }
        self.in_order = 0;
        self.next = Some(first.sequence);
        self.drain();
    }

    /// Lengthens the wait if the packet was given up too early.
    fn came_late(&mut self, packet: &Packet) {
        if let Some(index) = self.lost.iter().position(|(lost, _)| *lost == packet.sequence)
            && let Some((_, given_up)) = self.lost.remove(index)
        {
            let late = packet.at.saturating_duration_since(given_up);
            self.wait = (self.wait + late + MARGIN).min(WAIT_MAX);
        }
    }

    fn restart(&mut self, packet: Packet) {
        for packet in std::mem::take(&mut self.ahead) {
            self.ready.push_back(Next::Packet(packet));
        }
        self.lost.clear();
        self.pass(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(start: Instant, sequence: u16, ms: u64) -> Packet {
        let timestamp = u32::from(sequence) * 960;
        let at = start + Duration::from_millis(ms);
        Packet { sequence, timestamp, at, opus: vec![u8::try_from(sequence % 256).unwrap()] }
    }

    fn all(reorder: &mut Reorder, now: Instant) -> Vec<Option<u16>> {
        std::iter::from_fn(|| reorder.poll(now))
            .map(|next| match next {
                Next::Packet(packet) => Some(packet.sequence),
                Next::Lost { .. } => None,
            })
            .collect()
    }

    #[test]
    fn ordered_packets_pass_at_once_across_wrap() {
        let start = Instant::now();
        let mut reorder = Reorder::default();
        for (index, sequence) in [65_534, 65_535, 0, 1].into_iter().enumerate() {
            reorder.push(packet(start, sequence, index as u64 * 20));
        }
        assert_eq!(all(&mut reorder, start), [65_534, 65_535, 0, 1].map(Some));
        assert_eq!(reorder.wake_at(), None);
    }

    #[test]
    fn gaps_are_filled_in_order_and_repeats_dropped() {
        let start = Instant::now();
        let mut reorder = Reorder::default();
        for (sequence, ms) in [(1, 0), (3, 20), (3, 21), (4, 25), (1, 26)] {
            reorder.push(packet(start, sequence, ms));
        }
        assert_eq!(all(&mut reorder, start + Duration::from_millis(30)), [Some(1)]);
        assert_eq!(reorder.wake_at(), Some(start + Duration::from_millis(60)));
        reorder.push(packet(start, 2, 40));
        assert_eq!(all(&mut reorder, start + Duration::from_millis(40)), [2, 3, 4].map(Some));
    }

    #[test]
    fn missing_packets_are_lost_with_follower_given() {
        let start = Instant::now();
        let mut reorder = Reorder::default();
        reorder.push(packet(start, 1, 0));
        reorder.push(packet(start, 4, 60));
        all(&mut reorder, start);
        let late = start + Duration::from_millis(101);
        assert_eq!(reorder.poll(late), Some(Next::Lost { follower: None }));
        assert_eq!(reorder.poll(late), Some(Next::Lost { follower: Some(vec![4]) }));
        assert_eq!(all(&mut reorder, late), [Some(4)]);
    }

    #[test]
    fn late_packets_lengthen_wait_up_to_maximum() {
        let start = Instant::now();
        let mut reorder = Reorder::default();
        for round in 0..20u16 {
            let (sequence, ms) = (round * 2, u64::from(round) * 1_000);
            reorder.push(packet(start, sequence, ms));
            reorder.push(packet(start, sequence + 2, ms + 40));
            let now = start + Duration::from_millis(ms + 300);
            all(&mut reorder, now);
            reorder.push(packet(start, sequence + 1, ms + 350));
        }
        reorder.push(packet(start, 60, 0));
        assert_eq!(reorder.wake_at(), Some(start + WAIT_MAX));
    }

    #[test]
    fn jump_is_a_new_stream() {
        let start = Instant::now();
        let mut reorder = Reorder::default();
        for sequence in [10, 12, 9_000] {
            reorder.push(packet(start, sequence, 0));
        }
        assert_eq!(all(&mut reorder, start), [10, 12, 9_000].map(Some));
    }

    proptest::proptest! {
        /// Packets arriving in any order within the wait leave in sequence, each once.
        #[test]
        fn any_order_within_the_wait_is_undone(
            swaps in proptest::collection::vec(0usize..4, 30),
            first in proptest::prelude::any::<u16>(),
        ) {
            let start = Instant::now();
            let mut order: Vec<u16> = (0..30).collect();
            for (index, swap) in swaps.iter().enumerate() {
                let other = (index + swap).clamp(1, 29);
                order.swap(index.max(1), other);
            }
            let mut reorder = Reorder::default();
            for offset in &order {
                reorder.push(packet(start, first.wrapping_add(*offset), 0));
            }
            let expected: Vec<_> = (0..30).map(|it| Some(first.wrapping_add(it))).collect();
            assert_eq!(all(&mut reorder, start), expected);
        }
    }
}
