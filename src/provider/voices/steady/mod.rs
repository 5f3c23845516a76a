//! Ends sentences whose sound is too slow, silent or without end.
//!
//! Entry type: [`Steady`], which wraps each voice service, because a service's timeout only limits
//! the wait for its next bytes. A sentence fails when its sound, from the first on, lags two
//! seconds behind playback ([`Pace`]), when [`SILENCE`] of it is below -60 dBFS, or when it lasts
//! longer than its text can take ([`longest`]); an NPC's second voice takes over. **Never**: counts
//! time in which no sound was requested; times the first sound.

use std::{sync::Arc, time::Duration};

use futures::{
    StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use tokio::time::{Instant, timeout_at};

use crate::{
    audio::FRAME,
    domain::Voice,
    provider::{Error, Kind, OneShot, Pace, Pcm, SpeakRequest},
};

/// Longest silence in a sentence; pauses between clauses take half a second.
const SILENCE: Duration = Duration::from_secs(2);
/// Root mean square of samples at -60 dBFS.
const FLOOR: f64 = 32.767;
/// Shortest time to speak a letter, at double speed. Silence after a sentence of at least that
/// length is its end; some services send seconds of it.
const LETTER: Duration = Duration::from_millis(25);
/// Longest time to speak a byte of text at normal speed: twice that of slow readers. Counts bytes,
/// because a letter of three bytes may be a syllable.
const BYTE: Duration = Duration::from_millis(150);
/// Added for each figure: "777" takes as long as a clause.
const FIGURE: Duration = Duration::from_secs(1);
/// Added to a sentence for its pauses.
const BESIDE: Duration = Duration::from_secs(5);
/// Slowest speed that a voice may have.
const SLOWEST: f32 = 0.5;

pub struct Steady {
    service: Arc<dyn OneShot>,
    is_paced: bool,
}

impl Steady {
    pub const fn new(service: Arc<dyn OneShot>) -> Self {
        Self { service, is_paced: true }
    }

    /// Limits silence and length of the sound, but not its pace.
    pub const fn at_any_pace(service: Arc<dyn OneShot>) -> Self {
        Self { service, is_paced: false }
    }
}

impl OneShot for Steady {
    fn name(&self) -> &str {
        self.service.name()
    }

    fn priced_as(&self) -> Option<&str> {
        self.service.priced_as()
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let letters = u32::try_from(request.text.chars().count()).unwrap_or(u32::MAX);
        let sentence = Sentence {
            service: self.service.name().to_owned(),
            voice: request.voice.voice_id.clone(),
            shortest: LETTER.saturating_mul(letters),
            left: longest(&request),
            sound: self.service.speak(request),
            pace: self.is_paced.then(Pace::default),
            audible: Audible::default(),
        };
        stream::try_unfold(sentence, Sentence::next).boxed()
    }

    fn lacks(&self, voice: &Voice) -> Option<Error> {
        self.service.lacks(voice)
    }

    fn warm(&self, voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        self.service.warm(voice)
    }
}

struct Sentence {
    service: String,
    voice: String,
    shortest: Duration,
    /// Longest sound that may still come.
    left: Duration,
    sound: BoxStream<'static, Result<Pcm, Error>>,
    /// `None`: it may be slow.
    pace: Option<Pace>,
    audible: Audible,
}

impl Sentence {
    async fn next(mut self) -> Result<Option<(Pcm, Self)>, Error> {
        let asked = Instant::now();
        let until = self.pace.as_mut().and_then(|pace| pace.until(asked));
        let said = match until {
            // The clock first: chunks without sound would starve it.
            Some(until) if until <= asked => return Err(self.slow()),
            Some(until) => timeout_at(until, self.sound.next()).await.map_err(|_| self.slow())?,
            None => self.sound.next().await,
        };
        let Some(mut pcm) = said.transpose()? else { return Ok(None) };
        if let Some(pace) = &mut self.pace {
            pace.take(pcm.rate.duration_of(pcm.samples.len()), Instant::now());
        }
        if !self.fits(&mut pcm) {
            self.sound = stream::iter([Err(self.endless())]).boxed();
        }
        if let Some(end) = self.audible.take(&pcm) {
            pcm.samples.truncate(end);
            let is_whole = self.audible.sounded >= self.shortest;
            let rest = (!is_whole).then(|| Err(self.silent()));
            self.sound = stream::iter(rest).boxed();
        }
        Ok(Some((pcm, self)))
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

    fn slow(&self) -> Error {
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

/// Longest plausible sound for the text of `request`.
fn longest(request: &SpeakRequest) -> Duration {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let figures = request.text.chars().filter(|it| it.is_numeric()).count();
    let words = BYTE.saturating_mul(count(request.text.len()));
    let words = words.saturating_add(FIGURE.saturating_mul(count(figures)));
    // Some services speak no faster than normal, and pauses stay as long.
    let speed = f64::from(request.voice.speed_factor.max(SLOWEST)).min(1.0);
    words.saturating_add(BESIDE).div_f64(speed)
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

fn is_below_floor(energy: f64, samples: usize) -> bool {
    energy < FLOOR.powi(2) * samples as f64
}

#[cfg(test)]
mod tests;
