//! Decodes all speakers of a channel to frames for the table.
//!
//! Entry function: [`receive`], on its own task. **Never**: waits for the table; frames that find
//! its queue full are dropped and counted.

use std::{
    collections::{HashMap, hash_map::Entry},
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    audience::{Audience, UserId},
    decoding::{Counts, Decoding, Spoken},
    reorder::Packet,
};
use crate::{
    figures::Figures,
    session::{SpeakerId, VoiceFrame, VoiceInput},
};

/// Packets waiting for the decoder: ten speakers for half a second.
pub const PACKET_CAPACITY: usize = 256;
/// A decoder without packets for this long is freed.
const STALE: Duration = Duration::from_secs(60);
const REPORT_EVERY: Duration = Duration::from_millis(500);
/// Opus that ends speech. It is never encrypted end to end, so it also comes from users whose sound
/// songbird cannot decrypt and drops without a word: it is no sign that they are heard.
const SILENCE: [u8; 3] = [0xf8, 0xff, 0xfe];

#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// Arrival of the last packet that holds sound.
    pub last: Instant,
    pub last_good: Option<Instant>,
    pub counts: Counts,
}

/// Reception of all speakers.
#[derive(Clone, Debug, Default)]
pub struct ReceptionReport {
    /// By user; entries go after a minute of silence.
    pub speakers: HashMap<UserId, Reception>,
    /// Frames dropped because the table's queue was full.
    pub crowded_out: u64,
}

pub struct ReceiverChannels {
    /// Packets of users who may be heard.
    pub packets: mpsc::Receiver<(UserId, Packet)>,
    /// Input of the table; frames that find it full are dropped and counted.
    pub voice: mpsc::Sender<VoiceInput>,
    /// Updated every 500 ms.
    pub report: watch::Sender<ReceptionReport>,
    /// Counts lost packets.
    pub figures: Figures,
}

struct VoiceReceiver {
    speakers: HashMap<UserId, SpeakerDecoder>,
    voice: mpsc::Sender<VoiceInput>,
    figures: Figures,
    crowded_out: u64,
}

struct SpeakerDecoder {
    decoding: Decoding,
    reception: Reception,
}

/// Decodes packets until `stop`, or until all senders are gone.
pub async fn receive(channels: ReceiverChannels, audience: Audience, stop: CancellationToken) {
    let ReceiverChannels { mut packets, voice, report, figures } = channels;
    let mut receiver = VoiceReceiver { speakers: HashMap::new(), voice, figures, crowded_out: 0 };
    let mut report_at = Instant::now() + REPORT_EVERY;
    loop {
        let wake = receiver.wake_at().map_or(report_at, |at| at.min(report_at));
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            packet = packets.recv() => {
                let Some((user, packet)) = packet else { return };
                // The user may have opted out while this packet waited.
                if audience.receives(user) {
                    receiver.packet(user, packet);
                }
            }
            () = sleep_until(wake) => {}
        }
        let now = Instant::now();
        receiver.drain(now);
        if now >= report_at {
            report_at = now + REPORT_EVERY;
            receiver.speakers.retain(|user, it| {
                now.duration_since(it.reception.last) < STALE && audience.receives(*user)
            });
            report.send_replace(receiver.report());
        }
    }
}

impl VoiceReceiver {
    fn wake_at(&self) -> Option<Instant> {
        self.speakers.values().filter_map(|it| it.decoding.wake_at()).min()
    }

    fn packet(&mut self, user: UserId, packet: Packet) {
        let sounds = packet.opus != SILENCE;
        let SpeakerDecoder { decoding, reception } = match self.speakers.entry(user) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if !sounds => return,
            Entry::Vacant(new) => match Decoding::new() {
                Ok(decoding) => {
                    let counts = Counts::default();
                    let reception = Reception { last: packet.at, last_good: None, counts };
                    new.insert(SpeakerDecoder { decoding, reception })
                }
                Err(error) => return tracing::error!(%error, "no decoder for a speaker"),
            },
        };
        if sounds {
            reception.last = packet.at;
        }
        decoding.push(packet);
    }

    fn drain(&mut self, now: Instant) {
        let (mut lost, mut broken) = (0, 0);
        for (user, SpeakerDecoder { decoding, reception }) in &mut self.speakers {
            decoding.drain(now, |spoken| {
                reception.last_good = Some(now);
                let Spoken { at, frame } = spoken;
                let frame = VoiceFrame { speaker: SpeakerId(*user), at, frame };
                if self.voice.try_send(VoiceInput::Frame(frame)).is_err() {
                    self.crowded_out += 1;
                }
            });
            let before = std::mem::replace(&mut reception.counts, decoding.counts);
            lost += decoding.counts.lost.saturating_sub(before.lost);
            broken += decoding.counts.broken.saturating_sub(before.broken);
        }
        self.figures.voice_packets(lost, broken);
    }

    fn report(&self) -> ReceptionReport {
        let speakers = self.speakers.iter().map(|(user, it)| (*user, it.reception)).collect();
        ReceptionReport { speakers, crowded_out: self.crowded_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(at: Instant, opus: &[u8]) -> Packet {
        Packet { sequence: 7, timestamp: 0, at, opus: opus.to_vec() }
    }

    #[test]
    fn silence_is_no_sign_of_being_heard() {
        let ((voice, _frames), figures) = (mpsc::channel(1), Figures::default());
        let speakers = HashMap::new();
        let mut receiver = VoiceReceiver { speakers, voice, figures, crowded_out: 0 };
        let start = Instant::now();
        receiver.packet(1, packet(start, &SILENCE));
        assert!(receiver.report().speakers.is_empty());
        receiver.packet(1, packet(start, b"sound"));
        receiver.packet(1, packet(start + STALE, &SILENCE));
        assert_eq!(receiver.report().speakers[&1].last, start);
    }
}
