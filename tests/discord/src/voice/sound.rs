//! Where a user's sound came from: which of its connections sent it, and when.
//!
//! Entry: [`Sound`], one stretch of it; [`Sounds::note`] adds a frame. A connection that was replaced or
//! left goes on being counted, though what it sends reaches no user.
//! Never keeps sound.

use std::time::Duration;
use tokio::time::Instant;

/// Frames further apart belong to two stretches.
const GAP: Duration = Duration::from_millis(60);
/// Bytes of the longest Opus frame of 20 ms that is silence.
const SILENCE: usize = 3;
/// The end of every frame that is encrypted end to end.
pub(super) const DAVE_MARK: [u8; 2] = [0xfa, 0xfa];

/// A stretch of sound from one connection of a user: frames that are not silence, at most 60 ms apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sound {
    /// The connection's source (SSRC): another after each IDENTIFY, the same after a RESUME.
    pub source: u32,
    /// Arrival of the first frame.
    pub first: Instant,
    /// Arrival of the last frame.
    pub last: Instant,
    /// Number of frames.
    pub frames: u64,
}

impl Sound {
    /// True if `other` is of another connection and came within 60 ms of this.
    fn meets(&self, other: &Self) -> bool {
        let is_near = self.first <= other.last + GAP && other.first <= self.last + GAP;
        self.source != other.source && is_near
    }
}

/// All stretches of a user, in the order of their beginnings.
#[derive(Debug, Default)]
pub(super) struct Sounds(pub Vec<Sound>);

impl Sounds {
    /// Notes a frame; silence is none.
    pub(super) fn note(&mut self, source: u32, payload: &[u8], at: Instant) {
        if !is_sound(payload) {
            return;
        }
        let latest = self.0.iter_mut().rev().find(|it| it.source == source);
        match latest.filter(|it| at <= it.last + GAP) {
            Some(sound) => (sound.last, sound.frames) = (at, sound.frames + 1),
            None => self.0.push(Sound { source, first: at, last: at, frames: 1 }),
        }
    }

    /// Pairs of stretches that came from two connections at once.
    pub(super) fn at_once(&self) -> Vec<(Sound, Sound)> {
        let pairs = self.0.iter().enumerate().flat_map(|(at, one)| {
            let later = self.0.iter().skip(at + 1).filter(move |other| one.meets(other));
            later.map(move |other| (*one, *other))
        });
        pairs.collect()
    }
}

/// True if a frame is more than silence, which shows in its length, encrypted or not.
fn is_sound(payload: &[u8]) -> bool {
    let opus = match payload {
        // What DAVE adds ends with its own length, and the mark.
        [.., added, one, two] if [*one, *two] == DAVE_MARK => {
            payload.len().saturating_sub(usize::from(*added))
        }
        plain => plain.len(),
    };
    opus > SILENCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sources_at_once_are_found() {
        let start = Instant::now();
        let mut sounds = Sounds::default();
        // Milliseconds at which each source sends a frame.
        let frames = [(7, 0), (7, 20), (7, 80), (8, 141), (7, 141), (8, 161), (9, 400), (9, 461)];
        for (source, at) in frames {
            sounds.note(source, b"sound", start + Duration::from_millis(at));
        }
        let all = sounds.0.iter().map(|it| {
            let ms = |at: Instant| (at - start).as_millis();
            (it.source, ms(it.first), ms(it.last), it.frames)
        });
        let expected =
            [(7, 0, 80, 3), (8, 141, 161, 2), (7, 141, 141, 1), (9, 400, 400, 1), (9, 461, 461, 1)];
        assert_eq!(all.collect::<Vec<_>>(), expected);
        assert_eq!(sounds.at_once(), [(sounds.0[1], sounds.0[2])]);
    }

    #[test]
    fn silence_is_no_sound_encrypted_or_not() {
        let encrypted = |opus: &[u8]| {
            // A tag of 8 bytes, a nonce of 1, the length of all of it, the mark.
            [opus, &[0; 9], &[12], &DAVE_MARK].concat()
        };
        for silence in [[0xf8, 0xff, 0xfe], [0xfc, 0xff, 0xfe]] {
            assert!(!is_sound(&silence) && !is_sound(&encrypted(&silence)));
        }
        assert!(is_sound(b"opus") && is_sound(&encrypted(b"opus")));
        assert!(!is_sound(&[255, 0xfa, 0xfa]) && !is_sound(&[]));
    }
}
