//! Compares the sound of a service with the time in which it is played.
//!
//! Entry type: [`Pace`]. The wait for the first sound is not timed; from then on sound may lag
//! behind playback by [`BEHIND`] in total. **Never**: reads the clock, or ends anything.

use std::time::Duration;

use tokio::time::Instant;

/// Longest total lag of sound behind playback: listeners hear gaps of this length.
pub const BEHIND: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub struct Pace {
    /// End of playback of all sound so far, calculated at the second time; `None` before any sound.
    played: Option<(Instant, Instant)>,
}

impl Pace {
    /// Deadline for sound requested at `now`; `None` before any sound.
    pub fn until(&mut self, now: Instant) -> Option<Instant> {
        let (end, counted) = self.played?;
        // No sound was requested since: sound ahead was played, and a lag has not grown.
        let end = if end > counted { end.max(now) } else { end + (now - counted) };
        self.played = Some((end, now));
        Some(end + BEHIND)
    }

    /// Adds sound of this `length`, received at `now`.
    pub fn take(&mut self, length: Duration, now: Instant) {
        let begins = (!length.is_zero()).then_some(now);
        let end = self.played.map(|(end, _)| end).or(begins);
        self.played = end.map(|end| (end + length, now));
    }
}
