//! Watches the sound of one sentence: its pace, its silence and its length.
//!
//! Entry type: [`Watch`], for voices of one request a sentence ([`super::steady`]) and those that
//! stream ([`super::socket`]), because a service's timeout only limits the wait for its next bytes.
//! A sentence fails when its sound, from the first on, lags two seconds behind playback
//! ([`Pace`]), when [`SILENCE`] of it is below -60 dBFS, or when it lasts longer than its text can
//! take ([`longest_sound`]); the next of its voices takes over. **Never**: counts time in which no sound
//! was requested; times the first sound.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    audio::FRAME,
    domain::Voice,
    logic::longest_sound::longest_sound,
    provider::{Error, Kind, Pace, Pcm},
};

/// Longest silence in a sentence; pauses between clauses take half a second.
const SILENCE: Duration = Duration::from_secs(2);
/// Root mean square of samples at -60 dBFS.
const FLOOR: f64 = 32.767;
/// Shortest time to speak a letter, at double speed. Silence after a sentence of at least that
/// length is its end; some services send seconds of it.
const LETTER: Duration = Duration::from_millis(25);

pub struct Watch {
    service: String,
    voice: String,
    shortest: Duration,
    /// Longest sound that may still come.
    left: Duration,
    /// `None`: it may be slow.
    pace: Option<Pace>,
    audible: Audible,
}

/// Use of the sound that follows.
#[derive(Debug)]
pub enum Rest {
    Wanted,
    /// The sentence is whole; what follows is silence.
    Unwanted,
    /// The sentence has failed.
    Refused(Error),
}

impl Watch {
    /// Watches `text`, spoken by this `voice` of the service with this name.
    pub fn new(service: &str, voice: &Voice, text: &str) -> Self {
        let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        Self {
            service: service.to_owned(),
            voice: voice.voice_id.clone(),
            shortest: LETTER.saturating_mul(letters),
            left: longest_sound(text, voice.speed_factor),
            pace: Some(Pace::default()),
            audible: Audible::default(),
        }
    }

    #[must_use]
    pub fn at_any_pace(self) -> Self {
        Self { pace: None, ..self }
    }

    /// Deadline for sound requested at `now`; `None`: no pace, or before any sound.
    pub fn until(&mut self, now: Instant) -> Option<Instant> {
        self.pace.as_mut().and_then(|pace| pace.until(now))
    }

    /// Takes sound received at `now`, and cuts it where a limit is reached.
    pub fn take(&mut self, pcm: &mut Pcm, now: Instant) -> Rest {
        if let Some(pace) = &mut self.pace {
            pace.take(pcm.rate.duration_of(pcm.samples.len()), now);
        }
        let fits = self.fits(pcm);
        if let Some(end) = self.audible.take(pcm) {
            pcm.samples.truncate(end);
            let is_whole = self.audible.sounded >= self.shortest;
            return if is_whole { Rest::Unwanted } else { Rest::Refused(self.silent()) };
        }
        if fits { Rest::Wanted } else { Rest::Refused(self.endless()) }
    }

    /// Cuts `pcm` at the longest length of the sentence; true if all of it fits.
    fn fits(&mut self, pcm: &mut Pcm) -> bool {
        let length = pcm.rate.duration_of(pcm.samples.len());
        let fits = length <= self.left;
        if !fits {
            pcm.samples.truncate(pcm.rate.samples_in(self.left));
        }
        self.left = self.left.saturating_sub(length);
        fits
    }

    /// Error for sound that has not come by [`Self::until`].
    pub fn slow(&self) -> Error {
        let what = "its sound comes more slowly than it is played";
        self.error(Kind::Interrupted, what, "use another voice, or find out what keeps it busy")
    }

    fn silent(&self) -> Error {
        let what = format!("it sends {} s of silence", SILENCE.as_secs());
        self.error(Kind::Protocol, &what, "use another voice, or look at the service's log")
    }

    fn endless(&self) -> Error {
        let what = "its sound goes on for longer than the sentence can take";
        self.error(Kind::Protocol, what, "use another voice, or look at the service's log")
    }

    fn error(&self, kind: Kind, what: &str, fix: &str) -> Error {
        let Self { service, voice, .. } = self;
        Error::new(kind, format!("'{service}', voice '{voice}': {what} ({fix})"))
    }
}

/// Audible length of the sound, and the silence after it, frame by frame.
#[derive(Default)]
struct Audible {
    /// Sum of squares of the current frame's samples, and their number.
    energy: f64,
    samples: usize,
    silence: Duration,
    sounded: Duration,
}

impl Audible {
    /// Adds sound; returns the number of its samples after which the silence is too long.
    fn take(&mut self, pcm: &Pcm) -> Option<usize> {
        let frame = pcm.rate.frame_len();
        for (at, sample) in pcm.samples.iter().enumerate() {
            self.energy += f64::from(*sample).powi(2);
            self.samples += 1;
            if self.samples < frame {
                continue;
            }
            if is_below_floor(self.energy, self.samples) {
                self.silence += FRAME;
            } else {
                self.silence = Duration::ZERO;
                self.sounded += FRAME;
            }
            (self.energy, self.samples) = (0.0, 0);
            if self.silence >= SILENCE {
                return Some(at + 1);
            }
        }
        None
    }
}

/// True if all of some sound is below -60 dBFS.
pub fn is_silent(samples: &[i16]) -> bool {
    let energy = samples.iter().map(|sample| f64::from(*sample).powi(2)).sum();
    is_below_floor(energy, samples.len())
}

fn is_below_floor(energy: f64, samples: usize) -> bool {
    energy < FLOOR.powi(2) * samples as f64
}
