//! RTP and the encryption between one client and the voice server, the same on both ends.
//!
//! Entry: [`Transport::seal`] and [`Transport::open`]. The RTP header and the first four bytes of
//! a header extension are authenticated but readable; the rest of the extension and the payload
//! are encrypted; four bytes of nonce follow the tag.
//! Never looks into the payload.

use aes_gcm::{Aes256Gcm, aead::AeadInPlace, aead::KeyInit};
use chacha20poly1305::XChaCha20Poly1305;

/// Bytes of an RTP header without sources and extension.
const HEADER: usize = 12;
/// Bytes of an authentication tag, in both modes.
const TAG: usize = 16;
/// Bytes of the nonce at the end of a packet.
const NONCE: usize = 4;
/// The payload type Discord has given to Opus.
pub(crate) const OPUS: u8 = 120;

/// Encryption of packets between a client and the voice server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `aead_aes256_gcm_rtpsize`, which Discord prefers.
    Aes256Gcm,
    /// `aead_xchacha20_poly1305_rtpsize`, which every client must know.
    XChaCha20Poly1305,
}

impl Mode {
    /// Both modes, the preferred one first.
    pub const ALL: [Self; 2] = [Self::Aes256Gcm, Self::XChaCha20Poly1305];

    /// The name in READY and SELECT PROTOCOL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes256Gcm => "aead_aes256_gcm_rtpsize",
            Self::XChaCha20Poly1305 => "aead_xchacha20_poly1305_rtpsize",
        }
    }

    /// The mode of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// Header of an RTP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rtp {
    /// Type of the payload; [`OPUS`] for sound.
    pub payload_type: u8,
    /// Counts packets of one source.
    pub seq: u16,
    /// Time at 48 kHz.
    pub timestamp: u32,
    /// The source.
    pub ssrc: u32,
}

impl Rtp {
    /// Reads the fixed part, if `packet` is RTP (version 2, payload types below RTCP's).
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let (&first, rest) = packet.split_first()?;
        let kind = *rest.first()?;
        let word = |at: usize| packet.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
        let seq = packet.get(2..4)?.try_into().ok().map(u16::from_be_bytes)?;
        let rtcp = (192..=223).contains(&kind);
        (first >> 6 == 2 && !rtcp && packet.len() > HEADER + TAG + NONCE).then_some(())?;
        Some(Self { payload_type: kind & 0x7f, seq, timestamp: word(4)?, ssrc: word(8)? })
    }

    /// The header's bytes; `extended` announces an extension of one word.
    fn write(self, extended: bool) -> Vec<u8> {
        let mut header = vec![if extended { 0x90 } else { 0x80 }, self.payload_type];
        header.extend_from_slice(&self.seq.to_be_bytes());
        header.extend_from_slice(&self.timestamp.to_be_bytes());
        header.extend_from_slice(&self.ssrc.to_be_bytes());
        if extended {
            header.extend_from_slice(&[0xbe, 0xde, 0, 1]);
        }
        header
    }
}

/// The cipher of one mode, with its key.
enum Cipher {
    /// AES-256-GCM.
    Aes(Box<Aes256Gcm>),
    /// XChaCha20-Poly1305.
    XChaCha(XChaCha20Poly1305),
}

/// One client's line to the voice server.
pub(crate) struct Transport {
    /// With the line's key.
    cipher: Cipher,
    /// Of the next packet sealed here.
    nonce: u32,
}

impl Transport {
    /// A line with this key; nonces count from `nonce`.
    pub(crate) fn new(mode: Mode, key: &[u8; 32], nonce: u32) -> Self {
        let cipher = match mode {
            Mode::Aes256Gcm => Cipher::Aes(Box::new(Aes256Gcm::new(key.into()))),
            Mode::XChaCha20Poly1305 => Cipher::XChaCha(XChaCha20Poly1305::new(key.into())),
        };
        Self { cipher, nonce }
    }

    /// A whole packet: header, payload encrypted, tag, nonce. `extended` adds a header extension
    /// of one word (audio level), as browsers send.
    pub(crate) fn seal(&mut self, rtp: Rtp, payload: &[u8], extended: bool) -> Option<Vec<u8>> {
        let mut packet = rtp.write(extended);
        let mut body = if extended { vec![0x10, 0xff, 0, 0] } else { Vec::new() };
        body.extend_from_slice(payload);
        let short = self.nonce.to_be_bytes();
        self.nonce = self.nonce.wrapping_add(1);
        let tag = match &self.cipher {
            Cipher::Aes(cipher) => {
                cipher.encrypt_in_place_detached(&padded::<12>(short).into(), &packet, &mut body)
            }
            Cipher::XChaCha(cipher) => {
                cipher.encrypt_in_place_detached(&padded::<24>(short).into(), &packet, &mut body)
            }
        }
        .ok()?;
        packet.extend_from_slice(&body);
        packet.extend_from_slice(&tag);
        packet.extend_from_slice(&short);
        Some(packet)
    }

    /// Payload of a packet, without header extension and padding; `None` if it was not sealed with this
    /// line's key or is no RTP.
    pub(crate) fn open(&self, packet: &[u8]) -> Option<(Rtp, Vec<u8>)> {
        let rtp = Rtp::read(packet)?;
        let first = *packet.first()?;
        let (sources, extended, padding) = (first & 0x0f, first & 0x10 != 0, first & 0x20 != 0);
        let plain = HEADER + 4 * usize::from(sources) + if extended { 4 } else { 0 };
        let (header, sealed) = packet.split_at_checked(plain)?;
        let (sealed, short) = sealed.split_at_checked(sealed.len().checked_sub(NONCE)?)?;
        let (body, tag) = sealed.split_at_checked(sealed.len().checked_sub(TAG)?)?;
        let (tag, short): ([u8; TAG], [u8; NONCE]) = (tag.try_into().ok()?, short.try_into().ok()?);
        let mut body = body.to_vec();
        match &self.cipher {
            Cipher::Aes(cipher) => {
                let nonce = padded::<12>(short).into();
                cipher.decrypt_in_place_detached(&nonce, header, &mut body, &tag.into())
            }
            Cipher::XChaCha(cipher) => {
                let nonce = padded::<24>(short).into();
                cipher.decrypt_in_place_detached(&nonce, header, &mut body, &tag.into())
            }
        }
        .ok()?;
        if extended {
            let words = u16::from_be_bytes(header.get(plain - 2..)?.try_into().ok()?);
            body.drain(..(4 * usize::from(words)).min(body.len()));
        }
        if padding {
            let unused = usize::from(*body.last()?);
            body.truncate(body.len().checked_sub(unused)?);
        }
        Some((rtp, body))
    }
}

/// The nonce in full: the packet's four bytes, then zeros.
fn padded<const N: usize>(short: [u8; NONCE]) -> [u8; N] {
    let mut nonce = [0; N];
    nonce.iter_mut().zip(short).for_each(|(to, from)| *to = from);
    nonce
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTP: Rtp = Rtp { payload_type: OPUS, seq: 7, timestamp: 960, ssrc: 11 };

    #[test]
    fn sealed_packets_open_only_with_their_key() {
        for mode in Mode::ALL {
            for extended in [false, true] {
                let mut line = Transport::new(mode, &[7; 32], u32::MAX);
                let first = line.seal(RTP, b"sound", extended).unwrap();
                let second = line.seal(RTP, b"sound", extended).unwrap();
                assert_ne!(first, second, "nonces differ");
                for packet in [&first, &second] {
                    assert_eq!(line.open(packet), Some((RTP, b"sound".to_vec())));
                }
                assert_eq!(Transport::new(mode, &[8; 32], 0).open(&first), None);
                let mut broken = first.clone();
                broken[5] ^= 1;
                assert_eq!(line.open(&broken), None, "the header is authenticated");
                for end in 0..first.len() {
                    assert_eq!(line.open(&first[..end]), None);
                }
            }
        }
    }
}
