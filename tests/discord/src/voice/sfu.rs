//! The UDP socket of one voice server: address discovery, keepalives, and sound from each to all.
//!
//! Entry: [`forward`], until its voice is dropped. A packet from one user is opened with its key
//! and sealed for each other with theirs.
//! Never decodes sound and never opens end-to-end encryption.

use super::{
    Shared,
    seat::Session,
    sound::DAVE_MARK,
    state::{State, Who},
    transport::{OPUS, Rtp},
};
use davey::OPUS_SILENCE_PACKET;
use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::UdpSocket,
    time::{Instant, sleep_until},
};

/// Longer than any packet of Discord's.
const PACKET: usize = 2048;
/// Bytes of an address discovery.
const DISCOVERY: usize = 74;
/// Longest delay of the first speaking update after the first packet: they come by different
/// roads, on a busy machine.
const GRACE: Duration = Duration::from_secs(3);
/// Time after a transition in which plain frames may still be on their way.
const SETTLING: Duration = Duration::from_secs(2);

/// A packet that leaves later.
struct Later {
    /// Time of departure.
    due: Instant,
    /// Breaks ties in the order of arrival.
    number: u64,
    /// Destination.
    to: SocketAddr,
    /// The packet.
    packet: Vec<u8>,
}

impl PartialEq for Later {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Later {}
impl PartialOrd for Later {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Later {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

/// Serves server number `server`.
pub(super) async fn forward(shared: Arc<Shared>, socket: UdpSocket) {
    let mut buffer = [0; PACKET];
    let mut waiting: BinaryHeap<Reverse<Later>> = BinaryHeap::new();
    let mut number = 0;
    loop {
        let due = waiting.peek().map(|Reverse(later)| later.due);
        let leaves = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            received = socket.recv_from(&mut buffer) => {
                let Ok((length, from)) = received else { continue };
                let now = Instant::now();
                let packet = buffer.get(..length).unwrap_or_default();
                for (delay, to, packet) in shared.state().packet(packet, from) {
                    number += 1;
                    waiting.push(Reverse(Later { due: now + delay, number, to, packet }));
                }
            }
            () = leaves => {}
        }
        while waiting.peek().is_some_and(|Reverse(later)| later.due <= Instant::now()) {
            if let Some(Reverse(later)) = waiting.pop() {
                // A packet that cannot leave is lost, as on any network.
                let _lost = socket.send_to(&later.packet, later.to).await;
            }
        }
    }
}

/// A packet, how late it leaves, and for where.
type Outgoing = (Duration, SocketAddr, Vec<u8>);

impl State {
    /// One packet from the network; what leaves for it.
    fn packet(&mut self, packet: &[u8], from: SocketAddr) -> Vec<Outgoing> {
        match packet.len() {
            DISCOVERY if packet.starts_with(&[0, 1, 0, 70]) => self.discovery(packet, from),
            4 | 8 => self.keepalive(packet, from),
            _ => match Rtp::read(packet) {
                Some(rtp) => self.sound(rtp, packet, from),
                None => Vec::new(),
            },
        }
    }

    /// Tells a client under which address it is seen.
    fn discovery(&mut self, packet: &[u8], from: SocketAddr) -> Vec<Outgoing> {
        let source = packet.get(4..8).unwrap_or_default();
        let ssrc = <[u8; 4]>::try_from(source).map(u32::from_be_bytes).unwrap_or_default();
        let Some(who) = self.sources.get(&ssrc).copied() else {
            self.violation(format!("address discovery for source {ssrc}, unknown"));
            return Vec::new();
        };
        if self.cut(who).is_some() {
            return Vec::new();
        }
        let mut answer = vec![0, 2, 0, 70];
        answer.extend_from_slice(source);
        answer.extend_from_slice(from.ip().to_string().as_bytes());
        answer.resize(DISCOVERY - 2, 0);
        answer.extend_from_slice(&from.port().to_be_bytes());
        vec![(Duration::ZERO, from, answer)]
    }

    /// Echoes a keepalive.
    fn keepalive(&mut self, packet: &[u8], from: SocketAddr) -> Vec<Outgoing> {
        let of = |session: &Session| session.address == Some(from);
        let found = self.seats.iter().find(|(_, seat)| seat.session.as_ref().is_some_and(of));
        let Some(who) = found.map(|(who, _)| *who) else { return Vec::new() };
        if self.cut(who).is_some() {
            return Vec::new();
        }
        if let Some(seat) = self.seats.get_mut(&who) {
            seat.counts.keepalives += 1;
        }
        vec![(Duration::ZERO, from, packet.to_vec())]
    }

    /// Sound of one user, for all others in the channel.
    fn sound(&mut self, rtp: Rtp, packet: &[u8], from: SocketAddr) -> Vec<Outgoing> {
        let Some(who) = self.sources.get(&rtp.ssrc).copied() else {
            self.sound_of_past(rtp, packet);
            return Vec::new();
        };
        let cut = self.cut(who).is_some();
        let Some(seat) = self.seats.get_mut(&who) else { return Vec::new() };
        let (channel, Some(session)) = (seat.channel, &mut seat.session) else { return Vec::new() };
        if cut {
            seat.counts.lost += 1;
            return Vec::new();
        }
        if session.address != Some(from) {
            seat.counts.misplaced += 1;
            if seat.counts.misplaced == 1 {
                let place = session.address.map_or_else(
                    || "before SELECT PROTOCOL".to_owned(),
                    |address| format!("from {from}, its client is at {address}"),
                );
                self.violation(format!(
                    "a packet of user {} in guild {} came {place}",
                    who.1, who.0
                ));
            }
            return Vec::new();
        }
        let opened = session.transport.as_ref().and_then(|line| line.open(packet));
        let Some((_, payload)) = opened else {
            seat.counts.undecryptable += 1;
            if seat.counts.undecryptable == 1 {
                let text =
                    format!("a packet of user {} in guild {} does not decrypt", who.1, who.0);
                self.violation(text);
            }
            return Vec::new();
        };
        if !session.spoke {
            seat.counts.before_speaking += 1;
            let early = *session.early.get_or_insert_with(Instant::now);
            if early.elapsed() > GRACE {
                if !std::mem::replace(&mut session.early_reported, true) {
                    let count = seat.counts.before_speaking;
                    let text =
                        format!("user {} sent {count} packets and no speaking update", who.1);
                    self.violation(text);
                }
                return Vec::new();
            }
        }
        if rtp.payload_type != OPUS {
            self.violation(format!("user {} sent payload type {}", who.1, rtp.payload_type));
            return Vec::new();
        }
        self.count(who, &payload);
        self.sounds.entry(who).or_default().note(rtp.ssrc, &payload, Instant::now());
        self.fan_out(who, channel, rtp, payload)
    }

    /// Notes sound from a connection that is over.
    fn sound_of_past(&mut self, rtp: Rtp, packet: &[u8]) {
        let Some((who, line)) = self.lines_over.get(&rtp.ssrc) else { return };
        if let Some((_, payload)) = line.open(packet) {
            self.sounds.entry(*who).or_default().note(rtp.ssrc, &payload, Instant::now());
        }
    }

    /// Counts a frame by how it is encrypted.
    fn count(&mut self, who: Who, payload: &[u8]) {
        let Some(seat) = self.seats.get_mut(&who) else { return };
        seat.counts.packets_in += 1;
        if payload == OPUS_SILENCE_PACKET {
            seat.counts.silence_frames += 1;
        } else if payload.ends_with(&DAVE_MARK) {
            seat.counts.dave_frames += 1;
        } else {
            seat.counts.plain_frames += 1;
            let channel = seat.channel;
            self.plain(who, channel);
        }
    }

    /// A frame that is not encrypted end to end, from a user whose group has long been there.
    fn plain(&mut self, who: Who, channel: u64) {
        let Some(group) = self.groups.get(&(who.0, channel)) else { return };
        let members = group.members();
        let settled = group.settled.is_some_and(|since| since.elapsed() > SETTLING);
        if group.version == 0 || !settled || members.len() < 2 || !members.contains(&who.1) {
            return;
        }
        let Some(session) = self.session(who) else { return };
        if !std::mem::replace(&mut session.plain_reported, true) {
            self.violation(format!(
                "user {} sent sound without DAVE into an encrypted call",
                who.1
            ));
        }
    }

    /// Seals a frame for all others in the channel.
    fn fan_out(&mut self, who: Who, channel: u64, rtp: Rtp, mut payload: Vec<u8>) -> Vec<Outgoing> {
        let faults = self.faults(who);
        let fates = faults.fates(&mut self.random);
        if fates.is_empty()
            && let Some(seat) = self.seats.get_mut(&who)
        {
            seat.counts.lost += 1;
        }
        if faults.wrong_dave_key
            && payload.ends_with(&DAVE_MARK)
            && let Some(first) = payload.first_mut()
        {
            *first ^= 0xff;
        }
        let mut out = Vec::new();
        for user in self.in_channel(who.0, channel) {
            let other = (who.0, user);
            if user == who.1 || self.cut(other).is_some() {
                continue;
            }
            let Some(seat) = self.seats.get_mut(&other) else { continue };
            let Some(session) = &mut seat.session else { continue };
            let (Some(line), Some(to)) = (&mut session.transport, session.address) else {
                continue;
            };
            let Some(mut packet) = line.seal(rtp, &payload, faults.header_extensions) else {
                continue;
            };
            if faults.wrong_transport_key
                && let Some(last) = packet.iter_mut().rev().nth(4)
            {
                *last ^= 0xff;
            }
            seat.counts.packets_out += u64::try_from(fates.len()).unwrap_or_default();
            out.extend(fates.iter().map(|delay| (*delay, to, packet.clone())));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voice::{
        VoiceOptions,
        transport::{Mode, Transport},
    };
    use rand::{SeedableRng as _, rngs::StdRng};
    use tokio::sync::mpsc;

    const WHO: Who = (3003, 1);
    const SSRC: u32 = 7;

    /// A user whose client is at `address`, and a line with its key.
    fn seated(address: SocketAddr) -> (State, Transport) {
        let mut state = State::new(VoiceOptions::default(), vec![address], vec![address]);
        let _admitted = state.admit(WHO, 4004, "s");
        let (outbox, _inbox) = mpsc::channel(1);
        let mut session = Session::new(8, SSRC, (1, outbox), &mut StdRng::seed_from_u64(0));
        let line = || Transport::new(Mode::Aes256Gcm, &session.key, 0);
        let (own, served) = (line(), line());
        session.transport = Some(served);
        session.address = Some(address);
        session.spoke = true;
        state.seats.get_mut(&WHO).unwrap().session = Some(session);
        state.sources.insert(SSRC, WHO);
        (state, own)
    }

    #[test]
    fn replaced_connection_is_counted_and_not_heard() {
        let home = SocketAddr::from(([127, 0, 0, 1], 9));
        let (mut state, mut own) = seated(home);
        let rtp = Rtp { payload_type: OPUS, seq: 0, timestamp: 0, ssrc: SSRC };
        let mut sends = |state: &mut State, payload: &[u8]| {
            let packet = own.seal(rtp, payload, false).unwrap();
            assert!(state.packet(&packet, home).is_empty());
            state.sounds.get(&WHO).map_or(0, |all| all.0.iter().map(|it| it.frames).sum::<u64>())
        };
        assert_eq!(sends(&mut state, &OPUS_SILENCE_PACKET), 0);
        assert_eq!(sends(&mut state, b"sound"), 1);
        let _admitted = state.admit(WHO, 4004, "t");
        assert_eq!(sends(&mut state, b"sound"), 2);
        assert_eq!((state.seats[&WHO].counts.packets_in, state.violations.len()), (0, 0));
    }

    #[test]
    fn refused_packet_is_reported_by_its_cause() {
        let [home, elsewhere] = [9, 10].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let (mut state, mut own) = seated(home);
        let rtp = Rtp { payload_type: OPUS, seq: 0, timestamp: 0, ssrc: SSRC };
        let good = own.seal(rtp, b"sound", false).unwrap();
        let mut stranger = Transport::new(Mode::Aes256Gcm, &[1; 32], 0);
        let strange = stranger.seal(rtp, b"sound", false).unwrap();
        for _ in 0..2 {
            state.packet(&good, home);
            state.packet(&strange, home);
            state.packet(&good, elsewhere);
        }
        let expected = [
            "a packet of user 1 in guild 3003 does not decrypt",
            "a packet of user 1 in guild 3003 came from 127.0.0.1:10, its client is at 127.0.0.1:9",
        ];
        assert_eq!(state.violations, expected, "each cause once");
        let counts = state.seats[&WHO].counts;
        let refused = (counts.undecryptable, counts.misplaced);
        assert_eq!((counts.packets_in, refused), (2, (2, 2)));
    }
}
