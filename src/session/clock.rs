//! Time in a table's sound.
//!
//! Entry type: [`SoundClock`]. A frame counts from when it was spoken, not from when the table
//! received it. So a late table detects no false silence, and recordings fed faster or slower than
//! real time give the same result on any machine.

use std::{ops::Add, time::Duration};

use tokio::time::Instant;

/// Time at which something was spoken. Lags behind the clock while sound is in transit, and may run
/// ahead of it in a recording that is fed fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SoundTime(pub Instant);

impl SoundTime {
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

/// One moment by the clock and in the sound: when a frame arrived and when it was spoken, or the
/// time now and the time up to which speech is known.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Monotonic time, for deadlines of services.
    pub clock: Instant,
    /// Time in the sound, for silence and pauses.
    pub sound: SoundTime,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SoundClock {
    newest: Option<SoundTime>,
    /// More frames are queued.
    pub behind: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Moment {
    clock: Instant,
    sound: Option<SoundTime>,
}

/// Monotonic and wall clock at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    pub now: Instant,
    /// Unix time in ms; `None`: the table has no wall clock.
    pub unix: Option<i64>,
}

impl Clocks {
    /// Unix time of `at` in ms, or now if it is over; `None` without a wall clock.
    pub fn unix_of(self, at: Instant) -> Option<i64> {
        let left = at.saturating_duration_since(self.now).as_millis();
        Some(self.unix?.saturating_add(i64::try_from(left).unwrap_or(i64::MAX)))
    }

    /// The moment of a Unix time in ms; `None`: it is over, or there is no wall clock.
    pub fn to_come(self, unix: i64) -> Option<Instant> {
        let left = u64::try_from(unix.saturating_sub(self.unix?)).ok().filter(|left| *left > 0)?;
        self.now.checked_add(Duration::from_millis(left))
    }
}

impl SoundClock {
    pub fn received(&mut self, at: SoundTime) {
        self.newest = Some(self.newest.map_or(at, |newest| newest.max(at)));
    }

    /// The time now, and the time up to which speech and silence are known.
    pub fn at(&self, now: Instant) -> Received {
        let sound = match self.newest {
            Some(newest) if self.behind => newest,
            Some(newest) => newest.max(SoundTime(now)),
            None => SoundTime(now),
        };
        Received { clock: now, sound }
    }

    pub fn moment(&self, now: Instant) -> Moment {
        Moment { clock: now, sound: self.newest }
    }
}

impl Moment {
    /// Time since `earlier`: the shorter of clock time and sound time.
    pub fn since(self, earlier: Self) -> Duration {
        let clock = self.clock.saturating_duration_since(earlier.clock);
        let sound = self.sound.zip(earlier.sound);
        sound.map_or(clock, |(to, from)| clock.min(to.0.saturating_duration_since(from.0)))
    }
}
