//! Time as a table's speakers have it.
//!
//! Entry type: [`SoundClock`]. A frame counts from when it was spoken, not from when the table got
//! to it: a table that is late hears no silence where there was none, and recordings that are fed
//! faster or slower than they play mean the same on any machine.
//! **Never**: reads a clock.

use std::time::Duration;

use tokio::time::Instant;

/// How far the sound of a table has been heard.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoundClock {
    newest: Option<Instant>,
    /// Frames wait to be heard.
    pub behind: bool,
}

/// A time by the clock and by the sound that was heard until then.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    clock: Instant,
    sound: Option<Instant>,
}

impl SoundClock {
    /// A frame that was spoken at `at` is heard.
    pub fn heard(&mut self, at: Instant) {
        self.newest = Some(self.newest.map_or(at, |newest| newest.max(at)));
    }

    /// Until when it is known who spoke and who was silent.
    pub fn time(&self, now: Instant) -> Instant {
        match self.newest {
            Some(newest) if self.behind => newest,
            Some(newest) => newest.max(now),
            None => now,
        }
    }

    /// Now, by both.
    pub fn moment(&self, now: Instant) -> Moment {
        Moment { clock: now, sound: self.newest }
    }
}

impl Moment {
    /// Time since `earlier`: the shorter of what the clock says and of the sound in between.
    pub fn since(self, earlier: Self) -> Duration {
        let clock = self.clock.saturating_duration_since(earlier.clock);
        let sound = self.sound.zip(earlier.sound);
        sound.map_or(clock, |(to, from)| clock.min(to.saturating_duration_since(from)))
    }
}
