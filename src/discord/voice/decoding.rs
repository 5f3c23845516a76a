//! Decodes one speaker's Opus packets to 20 ms frames, 16 kHz mono i16.
//!
//! Entry type: [`Decoding`]. **Never**: waits, or passes on broken packets.

use tokio::time::Instant;

use super::{
    pace::SpokenAt,
    reorder::{Next, Packet, Reorder},
};
use crate::{
    audio::{FRAME, Frame, Framer, OpusDecoder, OpusError, SampleRate},
    session::SoundTime,
};

/// Sample rate of the recognisers.
const RATE: SampleRate = SampleRate::HZ_16000;
/// Samples of the longest Opus packet, 120 ms (RFC 6716 §2.1.4).
const PACKET_SAMPLES: usize = 1_920;
/// Lost packets in a row that are concealed; then silence.
const CONCEALED: u32 = 5;

#[derive(Debug)]
pub struct Spoken {
    pub at: SoundTime,
    /// 20 ms at 16 kHz.
    pub frame: Frame,
}

/// Packet counts of a speaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Received, in order.
    pub packets: u64,
    /// Given up.
    pub lost: u64,
    /// Received but not decodable.
    pub broken: u64,
}

pub struct Decoding {
    reorder: Reorder,
    spoken_at: SpokenAt,
    decoder: OpusDecoder,
    framer: Framer,
    /// Frames of the current packet; kept to reuse the allocation.
    cut: Vec<Frame>,
    lost_in_a_row: u32,
    last_at: Option<Instant>,
    pub counts: Counts,
}

impl Decoding {
    /// Fails without memory for a decoder.
    pub fn new() -> Result<Self, OpusError> {
        Ok(Self {
            reorder: Reorder::default(),
            spoken_at: SpokenAt::default(),
            decoder: OpusDecoder::new(RATE)?,
            framer: Framer::new(RATE),
            cut: Vec::new(),
            lost_in_a_row: 0,
            last_at: None,
            counts: Counts::default(),
        })
    }

    pub fn push(&mut self, packet: Packet) {
        self.reorder.push(packet);
    }

    /// Next time at which it needs a call without a packet.
    pub fn wake_at(&self) -> Option<Instant> {
        self.reorder.wake_at()
    }

    /// Passes every due frame to `take`.
    pub fn drain(&mut self, now: Instant, mut take: impl FnMut(Spoken)) {
        let mut pcm = [0; PACKET_SAMPLES];
        while let Some(next) = self.reorder.poll(now) {
            let (at, decoded) = match next {
                Next::Packet(packet) => {
                    self.lost_in_a_row = 0;
                    self.counts.packets += 1;
                    let at = self.spoken_at.of(packet.timestamp, packet.at);
                    (at, self.decoder.decode(&packet.opus, &mut pcm))
                }
                Next::Lost { follower } => {
                    self.counts.lost += 1;
                    self.lost_in_a_row += 1;
                    if self.lost_in_a_row > CONCEALED {
                        continue;
                    }
                    let at = self.last_at.map_or(now, |last| last + FRAME);
                    let missing = pcm.get_mut(..RATE.frame_len()).unwrap_or_default();
                    (at, self.decoder.conceal(follower.as_deref(), missing))
                }
            };
            match decoded {
                Ok(count) => {
                    self.last_at = Some(at);
                    self.cut(at, pcm.get(..count).unwrap_or_default(), &mut take);
                }
                Err(_) => self.counts.broken += 1,
            }
        }
    }

    fn cut(&mut self, at: Instant, samples: &[i16], take: &mut impl FnMut(Spoken)) {
        self.framer.push(samples, &mut self.cut);
        let mut at = SoundTime(at);
        for frame in self.cut.drain(..) {
            take(Spoken { at, frame });
            at = at + FRAME;
        }
    }
}
