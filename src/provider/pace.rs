//! Sound of a service against the time in which it is played.
//!
//! Entry type: [`Pace`]. The first sound is not timed; from then on sound may lag its playing by [`BEHIND`]
//! altogether. **Never**: reads the clock, or ends anything.

use std::time::Duration;

use tokio::time::Instant;

/// Time that sound may lag behind its playing, altogether: listeners hear gaps of as much.
pub const BEHIND: Duration = Duration::from_secs(2);

/// Sound so far against the time in which it is played.
#[derive(Debug, Default)]
pub struct Pace {
    /// Time at which all sound so far is played, and time until which that is counted; `None`: no sound
    /// came yet.
    played: Option<(Instant, Instant)>,
}

impl Pace {
    /// Deadline for sound that is asked for `now`; `None`: no sound came yet.
    pub fn until(&mut self, now: Instant) -> Option<Instant> {
        let (end, counted) = self.played?;
        // No sound was wanted in between: sound ahead was played, and a lag has not grown.
        let end = if end > counted { end.max(now) } else { end + (now - counted) };
        self.played = Some((end, now));
        Some(end + BEHIND)
    }

    /// Sound of this length has come `now`.
    pub fn take(&mut self, length: Duration, now: Instant) {
        let begins = (!length.is_zero()).then_some(now);
        let end = self.played.map(|(end, _)| end).or(begins);
        self.played = end.map(|end| (end + length, now));
    }
}
