//! Speed of Kokoro on this machine, measured with a short sentence.
//!
//! Entry function: [`measured`].

use std::{fmt, time::Duration};

use crate::provider::{Error, Kind};

/// Default limit: with less headroom, a sentence would have gaps whenever something else runs.
pub const SLOWEST: f32 = 0.8;
/// Attempts, because the machine may be busy; the best counts.
const TRIES: usize = 3;

/// Seconds of computing per second of sound.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Speed(pub f32);

impl Speed {
    pub fn of(took: Duration, sound: Duration) -> Self {
        Self(took.as_secs_f32() / sound.as_secs_f32().max(0.001))
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} s for a second of speech", self.0)
    }
}

/// Measures `speak`, which returns the length of its sound, with the clock `now`. The best of a few
/// attempts counts; stops at the first that is at most `slowest`.
pub fn measured<E>(
    slowest: f32,
    mut now: impl FnMut() -> Duration,
    mut speak: impl FnMut() -> Result<Duration, E>,
) -> Result<Speed, E> {
    let mut best = Speed(f32::INFINITY);
    for _ in 0..TRIES {
        let begun = now();
        let sound = speak()?;
        let speed = Speed::of(now().saturating_sub(begun), sound);
        best = if speed < best { speed } else { best };
        if best.0 <= slowest {
            break;
        }
    }
    Ok(best)
}

pub fn too_slow(speed: Speed, slowest: f32) -> Error {
    let text = format!(
        "kokoro is too slow on this machine: it takes {speed}, and more than \"{slowest:.2}\" leaves \
         gaps (use a piper or flite voice, or raise providers.slowest_voice)"
    );
    Error::new(Kind::Unavailable, text)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The speed measured if seconds of sound take this long, one after the other, and the number
    /// of measurements.
    fn verdict(slowest: f32, takes: &[f32]) -> (Speed, usize) {
        let mut clock = Duration::ZERO;
        let mut asked = 0;
        let mut begins = true;
        let now = || {
            if !begins {
                clock += Duration::from_secs_f32(takes[asked] * 2.0);
                asked += 1;
            }
            begins = !begins;
            clock
        };
        let speed = measured(slowest, now, || Ok::<_, Infallible>(Duration::from_secs(2)));
        (speed.unwrap(), asked)
    }

    #[test]
    fn speed_is_measured_again_only_if_too_slow() {
        assert_eq!(verdict(0.8, &[0.5]), (Speed(0.5), 1));
        assert_eq!(verdict(0.8, &[2.0, 0.75]), (Speed(0.75), 2));
        assert_eq!(verdict(0.8, &[2.0, 1.5, 1.75]), (Speed(1.5), 3));
        assert_eq!(verdict(2.0, &[2.0]), (Speed(2.0), 1));
        assert!(Speed::of(Duration::from_secs(1), Duration::ZERO).0 > 100.0);
    }

    #[test]
    fn verdict_names_the_figure_and_the_ways_out() {
        let error = too_slow(Speed(1.304), SLOWEST);
        assert_eq!(
            error.to_string(),
            "kokoro is too slow on this machine: it takes 1.30 s for a second of speech, and more \
             than \"0.80\" leaves gaps (use a piper or flite voice, or raise providers.slowest_voice)"
        );
        let broken = measured(0.8, || Duration::ZERO, || Err::<Duration, _>("broken"));
        assert_eq!(broken, Err("broken"));
    }
}
