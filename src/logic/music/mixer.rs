//! Mixes a table's sounds beside speech to one stream of frames.
//!
//! Entry type: [`Mixer`]. One music, one ambience and several effects play together; a new track
//! crossfades with the old one of its layer at equal power. **Never**: opens a file, or waits
//! unless asked to.

use std::{sync::Arc, time::Duration};

use super::{
    Layer, MusicStatus, Track,
    playing::{PlayingTrack, Samples},
};
use crate::audio::{FRAME_SAMPLES_48K, Gain, SampleRate, to_sample};

pub type MusicFrame = [i16; FRAME_SAMPLES_48K];

/// Length of a crossfade, and of the final fade-out.
const FADE: Duration = Duration::from_secs(2);
/// Level under speech.
const DUCK_DB: f32 = -12.0;
const DUCK_RAMP: Duration = Duration::from_millis(40);
const SWELL_RAMP: Duration = Duration::from_millis(600);
const VOLUME_RAMP: Duration = Duration::from_millis(100);
/// Most effects at once; one more ends the oldest.
const MOST_EFFECTS: usize = 8;
/// Most tracks of another layer at once, counting those that fade out.
const MOST_FADING: usize = 4;
/// Full volume, in percent.
const FULL: u8 = 100;

const FULL_SCALE: f32 = 32_768.0;
/// Recovery per sample: 200 ms from silence to full loudness at 48 kHz.
const RELEASE: f32 = 1.0 / 9_600.0;

pub struct Mixer {
    /// In the order of their requests.
    tracks: Vec<PlayingTrack>,
    percent: u8,
    volume: Gain,
    is_ducked: bool,
    duck: Gain,
    limiter: Limiter,
}

impl Mixer {
    /// Silence at full volume.
    pub fn new() -> Self {
        let gain = Gain::new(SampleRate::HZ_48000);
        Self {
            tracks: Vec::new(),
            percent: FULL,
            volume: gain.clone(),
            is_ducked: false,
            duck: gain,
            limiter: Limiter::new(),
        }
    }

    /// Plays `track` as soon as `source` has samples. It then replaces the track of its layer; an
    /// effect plays beside everything.
    pub fn play(&mut self, track: Arc<Track>, source: Box<dyn Samples>) {
        self.play_from(track, source, Duration::ZERO);
    }

    /// Like [`Self::play`], with a `source` that begins at `from` in the track.
    pub fn play_from(&mut self, track: Arc<Track>, source: Box<dyn Samples>, from: Duration) {
        let (layer, is_effect) = (track.layer, track.layer == Layer::Effect);
        self.tracks.retain(|it| is_effect || it.layer() != layer || !it.is_waiting());
        let most = if is_effect { MOST_EFFECTS } else { MOST_FADING };
        let counts = |it: &PlayingTrack| it.layer() == layer && !it.is_cut();
        let count = self.tracks.iter().filter(|it| counts(it)).count();
        let mut excess = (count + 1).saturating_sub(most);
        self.tracks.retain_mut(|it| {
            if excess == 0 || !counts(it) {
                return true;
            }
            excess -= 1;
            it.cut()
        });
        self.tracks.push(PlayingTrack::new(track, source, from));
    }

    pub fn stop(&mut self) {
        self.tracks.retain(|track| !track.is_waiting());
        self.tracks.iter_mut().for_each(|track| track.leave(FADE));
    }

    pub fn silence(&mut self) {
        self.tracks.clear();
        self.settle();
    }

    /// Sets the volume in percent, at most 100. Half the volume is a quarter of the amplitude, to
    /// match perception.
    pub fn set_volume(&mut self, percent: u8) {
        self.percent = percent.min(FULL);
        let share = f32::from(self.percent) / f32::from(FULL);
        self.volume.ramp_to(40.0 * share.log10(), self.over(VOLUME_RAMP));
    }

    pub fn duck(&mut self, is_ducked: bool) {
        if self.is_ducked == is_ducked {
            return;
        }
        self.is_ducked = is_ducked;
        let (db, over) = if is_ducked { (DUCK_DB, DUCK_RAMP) } else { (0.0, SWELL_RAMP) };
        self.duck.ramp_to(db, self.over(over));
    }

    /// Length of a ramp; zero while nothing is audible.
    fn over(&self, way: Duration) -> Duration {
        if self.is_silent() { Duration::ZERO } else { way }
    }

    /// True if nothing plays or is about to.
    pub fn is_silent(&self) -> bool {
        self.tracks.is_empty()
    }

    /// The volume, and the last track requested in each layer. Omits effects.
    pub fn status(&self) -> MusicStatus {
        let playing = self.newest().map(|it| (it.layer(), it.title().to_owned())).collect();
        MusicStatus { playing, volume: self.percent }
    }

    /// Titles of the tracks of [`Self::status`], with the time into each.
    pub fn positions(&self) -> Vec<(String, Duration)> {
        self.newest().map(|it| (it.title().to_owned(), it.position())).collect()
    }

    fn newest(&self) -> impl Iterator<Item = &PlayingTrack> {
        let newest = move |layer: Layer| {
            self.tracks.iter().rev().find(|it| it.layer() == layer && !it.is_leaving())
        };
        [Layer::Music, Layer::Ambience].into_iter().filter_map(newest)
    }

    pub fn wait(&self) {
        self.tracks.iter().for_each(PlayingTrack::wait);
    }

    /// Renders the next 20 ms; false if `into` is silence because nothing plays.
    pub fn render(&mut self, into: &mut MusicFrame) -> bool {
        into.fill(0);
        if self.is_silent() {
            return false;
        }
        self.tracks.iter_mut().for_each(PlayingTrack::read);
        self.cross(Layer::Music);
        self.cross(Layer::Ambience);
        let effects = self.tracks.iter_mut().filter(|it| it.layer() == Layer::Effect);
        effects.filter(|it| it.may_begin()).for_each(|it| it.begin(Duration::ZERO));
        let mut sum = [0.0; FRAME_SAMPLES_48K];
        self.tracks.iter_mut().for_each(|track| track.add_to(&mut sum));
        for (sample, sum) in into.iter_mut().zip(sum) {
            let level = self.volume.step() * self.duck.step();
            *sample = self.limiter.limit(sum * level);
        }
        self.tracks.retain(|track| !track.is_over());
        if self.is_silent() {
            self.settle();
        }
        true
    }

    /// Starts the waiting track of `layer` once it has samples, and fades out the others.
    fn cross(&mut self, layer: Layer) {
        let of = |tracks: &mut [PlayingTrack], act: &mut dyn FnMut(&mut PlayingTrack)| {
            tracks.iter_mut().filter(|it| it.layer() == layer).for_each(act);
        };
        let (mut begins, mut is_alone) = (false, true);
        of(&mut self.tracks, &mut |track| {
            begins |= track.may_begin();
            is_alone &= track.is_waiting();
        });
        if !begins {
            return;
        }
        of(&mut self.tracks, &mut |track| match track.may_begin() {
            true => track.begin(if is_alone { Duration::ZERO } else { FADE }),
            false => track.leave(FADE),
        });
    }

    fn settle(&mut self) {
        self.limiter = Limiter::new();
        self.set_volume(self.percent);
        self.duck.ramp_to(if self.is_ducked { DUCK_DB } else { 0.0 }, Duration::ZERO);
    }
}

/// Keeps a sum of sounds within 16 bits: lowers the gain at a sample that would clip, then lets it
/// recover. Unlike clipping it flattens no peaks, and it needs no look-ahead.
#[derive(Debug)]
struct Limiter {
    factor: f32,
}

impl Limiter {
    const fn new() -> Self {
        Self { factor: 1.0 }
    }

    /// Limits the next sample; NaN becomes silence.
    fn limit(&mut self, value: f32) -> i16 {
        if value.abs() * self.factor > FULL_SCALE && value.is_finite() {
            self.factor = FULL_SCALE / value.abs();
        }
        let sample = to_sample(value * self.factor);
        self.factor = (self.factor + RELEASE).min(1.0);
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_fit_pass_unchanged() {
        let mut limiter = Limiter::new();
        assert!((i16::MIN..=i16::MAX).all(|sample| limiter.limit(f32::from(sample)) == sample));
    }

    #[test]
    fn peak_too_loud_lowers_what_follows() {
        let mut limiter = Limiter::new();
        assert_eq!(limiter.limit(65_536.0), i16::MAX);
        let next = limiter.limit(10_000.0);
        assert!((5_000..5_010).contains(&next), "{next}");
        let last = (0..9_600).map(|_| limiter.limit(10_000.0)).last();
        assert_eq!(last, Some(10_000));
        assert_eq!(limiter.limit(-1e9), i16::MIN);
        assert_eq!(limiter.limit(f32::NAN), 0);
    }
}
