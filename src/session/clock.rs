//! Time as a table's speakers have it.
//!
//! Entry type: [`SoundClock`]. A frame counts from when it was spoken, not from when the table got
//! to it: a table that is late hears no silence where there was none, and recordings that are fed
//! faster or slower than they play mean the same on any machine.
//! **Never**: reads a clock.

use std::{ops::Add, time::Duration};

use tokio::time::Instant;

/// A moment in the sound of a table: when something was spoken. It lies behind the clock where sound
/// is on its way, and may run ahead of it in a recording that is fed faster than it plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SoundTime(pub Instant);

impl SoundTime {
    /// Converts to a `std` instant, for state machines that know no runtime.
    pub fn into_std(self) -> std::time::Instant {
        self.0.into_std()
    }
}

impl Add<Duration> for SoundTime {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0 + time)
    }
}

/// One moment by the clock and in the sound: when a frame came and when it was spoken, or what time
/// it is and until when it is known who spoke.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Monotonic time; deadlines of services count by it.
    pub clock: Instant,
    /// Time in the sound; silence and pauses count by it.
    pub sound: SoundTime,
}

/// Time up to which the sound of a table was received.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoundClock {
    newest: Option<SoundTime>,
    /// Frames wait to be taken.
    pub behind: bool,
}

/// A time by the clock and by the sound that was received until then.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    clock: Instant,
    sound: Option<SoundTime>,
}

impl SoundClock {
    /// A frame that was spoken at `at` is received.
    pub fn received(&mut self, at: SoundTime) {
        self.newest = Some(self.newest.map_or(at, |newest| newest.max(at)));
    }

    /// The clock's time with the time until which it is known who spoke and who was silent.
    pub fn at(&self, now: Instant) -> Received {
        let sound = match self.newest {
            Some(newest) if self.behind => newest,
            Some(newest) => newest.max(SoundTime(now)),
            None => SoundTime(now),
        };
        Received { clock: now, sound }
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
        sound.map_or(clock, |(to, from)| clock.min(to.0.saturating_duration_since(from.0)))
    }
}
