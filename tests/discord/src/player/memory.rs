//! Sound that a player has heard, per user.
//!
//! Entry: [`Memory::hear`], then [`Memory::continuous`] and the questions about times.
//! Never keeps more than [`KEPT`] packets of a user.

use davey::OPUS_SILENCE_PACKET;
use std::{
    collections::{HashMap, VecDeque},
    time::Instant,
};

/// Loudness (rms, full scale 32,768) from which a packet counts as audible: −50 dB.
pub const AUDIBLE: f64 = 100.0;
/// Two minutes.
const KEPT: usize = 6000;
/// Samples of a packet.
pub(super) const FRAME: usize = 960;
/// The longest pause that is kept as long as it was, in samples.
const PAUSE: u32 = 96_000;
/// Lost packets in a row that are concealed.
const CONCEALED: u16 = 5;
/// Samples of the longest packet Opus knows.
const LONGEST: usize = 5760;

/// One packet of a user's sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Time of arrival.
    pub arrival: Instant,
    /// Its number; starts again with each connection of the speaker.
    pub seq: u16,
    /// Its time at 48 kHz.
    pub timestamp: u32,
    /// The source it came from.
    pub ssrc: u32,
    /// Decoded in order of arrival: 48 kHz mono.
    pub pcm: Vec<i16>,
    /// Loudness of `pcm` (rms, full scale 32,768).
    pub rms: f64,
    /// True if it is the frame that says silence.
    pub silence: bool,
    /// Opus data, as received.
    opus: Vec<u8>,
}

/// One user's sound.
#[derive(Default)]
struct Voice {
    /// In order of arrival.
    packets: VecDeque<Packet>,
    /// Of the source heard last.
    decoder: Option<(u32, opus2::Decoder)>,
}

/// All that was heard.
#[derive(Default)]
pub(super) struct Memory(HashMap<u64, Voice>);

/// Loudness of samples.
pub(super) fn rms(pcm: &[i16]) -> f64 {
    let energy: f64 = pcm.iter().map(|sample| f64::from(*sample).powi(2)).sum();
    (energy / f64::from(u32::try_from(pcm.len().max(1)).unwrap_or(u32::MAX))).sqrt()
}

/// A decoder of Discord's sound.
fn decoder() -> Option<opus2::Decoder> {
    opus2::Decoder::new(48_000, opus2::Channels::Mono).ok()
}

/// Decodes one packet; conceals a lost one if it is empty.
fn decoded(decoder: &mut opus2::Decoder, opus: &[u8]) -> Vec<i16> {
    let mut pcm = vec![0; if opus.is_empty() { FRAME } else { LONGEST }];
    let length = decoder.decode(opus, &mut pcm, false).unwrap_or_default();
    pcm.truncate(length);
    pcm
}

impl Memory {
    /// Forgets all packets; decoders go on with their streams, as a person's do.
    pub(super) fn clear(&mut self) {
        self.0.values_mut().for_each(|voice| voice.packets.clear());
    }

    /// One packet has come: when, from which source, with which number and time.
    pub(super) fn hear(
        &mut self,
        user: u64,
        arrival: Instant,
        (ssrc, seq, timestamp): (u32, u16, u32),
        opus: Vec<u8>,
    ) {
        let voice = self.0.entry(user).or_default();
        if voice.decoder.as_ref().is_none_or(|(of, _)| *of != ssrc) {
            voice.decoder = decoder().map(|decoder| (ssrc, decoder));
        }
        let Some((_, decoder)) = &mut voice.decoder else { return };
        let pcm = decoded(decoder, &opus);
        let (rms, silence) = (rms(&pcm), opus == OPUS_SILENCE_PACKET);
        if voice.packets.len() >= KEPT {
            voice.packets.pop_front();
        }
        voice.packets.push_back(Packet { arrival, seq, timestamp, ssrc, pcm, rms, silence, opus });
    }

    /// The packets of a user.
    pub(super) fn packets(&self, user: u64) -> Vec<Packet> {
        self.0.get(&user).map(|voice| voice.packets.iter().cloned().collect()).unwrap_or_default()
    }

    /// The first packet after a moment that is as wanted: when it came.
    pub(super) fn first_after(
        &self,
        user: u64,
        moment: Instant,
        wanted: impl Fn(&Packet) -> bool,
    ) -> Option<Instant> {
        let mut packets = self.0.get(&user)?.packets.iter();
        packets.find(|packet| packet.arrival >= moment && wanted(packet)).map(|found| found.arrival)
    }

    /// The last audible packet before a moment: when it came.
    pub(super) fn last_audible_before(&self, user: u64, moment: Instant) -> Option<Instant> {
        let mut packets = self.0.get(&user)?.packets.iter().rev();
        packets
            .find(|packet| packet.arrival < moment && packet.rms >= AUDIBLE)
            .map(|found| found.arrival)
    }

    /// One run of sound, as a person would have heard it.
    pub(super) fn continuous(&self, user: u64) -> Vec<i16> {
        let Some(voice) = self.0.get(&user) else { return Vec::new() };
        let mut sound = Vec::new();
        let packets: Vec<&Packet> = voice.packets.iter().collect();
        for source in packets.chunk_by(|one, next| one.ssrc == next.ssrc) {
            source_sound(source, &mut sound);
        }
        sound
    }
}

/// The sound of one source, in order of its numbers.
fn source_sound(packets: &[&Packet], sound: &mut Vec<i16>) {
    let (Some(first), Some(mut decoder)) = (packets.first(), decoder()) else { return };
    // Numbers wrap; what is close after the first is close after it in this order, too.
    let start = first.seq.wrapping_sub(1000);
    let mut ordered: Vec<(u64, &Packet)> = Vec::with_capacity(packets.len());
    let mut last = 1000;
    for packet in packets {
        let step = packet.seq.wrapping_sub(start).wrapping_sub(low(last));
        let ahead = step < u16::MAX / 2;
        let number = if ahead {
            last + u64::from(step)
        } else {
            last.saturating_sub(u64::from(step.wrapping_neg()))
        };
        last = last.max(number);
        ordered.push((number, packet));
    }
    ordered.sort_by_key(|(number, _)| *number);
    ordered.dedup_by_key(|(number, _)| *number);
    let mut before: Option<(u64, &Packet)> = None;
    for (number, packet) in ordered {
        if let Some((last, earlier)) = before {
            let lost = number - last - 1;
            if lost > 0 && lost <= u64::from(CONCEALED) {
                for _ in 0..lost {
                    sound.extend(decoded(&mut decoder, &[]));
                }
            } else {
                let length = u32::try_from(earlier.pcm.len()).unwrap_or_default();
                let gap = packet.timestamp.wrapping_sub(earlier.timestamp).wrapping_sub(length);
                let pause = if gap < u32::MAX / 2 { gap.min(PAUSE) } else { 0 };
                sound.extend(std::iter::repeat_n(0, usize::try_from(pause).unwrap_or_default()));
            }
        }
        sound.extend(decoded(&mut decoder, &packet.opus));
        before = Some((number, packet));
    }
}

/// The lower 16 bits.
fn low(number: u64) -> u16 {
    let [.., high, low] = number.to_be_bytes();
    u16::from_be_bytes([high, low])
}
