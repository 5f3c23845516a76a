//! A playing track with its fade.
//!
//! Entry types: [`Samples`], its sound, and [`PlayingTrack`]. The mixer decides when it plays.

use std::{sync::Arc, time::Duration};

use super::{Layer, Track};
use crate::audio::{FRAME, FRAME_SAMPLES_48K, Gain, SampleRate, factor_of};

/// Largest gain accepted, in dB; more is a mistake.
const MOST_GAIN_DB: f32 = 40.0;
/// Fade of a track that is one too many: a frame, long enough to avoid a click.
const CUT: Duration = FRAME;

/// The sound of a track: 48 kHz mono, in order.
pub trait Samples: Send {
    /// Copies the next samples to the front of `into` and returns their number. Never waits;
    /// missing samples come with a later call.
    fn read(&mut self, into: &mut [i16]) -> usize;

    /// True once everything was read and no more will come.
    fn is_over(&self) -> bool;

    /// Waits for `count` samples or the end of the sound. For recordings only.
    fn wait(&self, count: usize);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Sounding,
    Leaving,
    /// Fades out within the next frame.
    Cut,
}

pub struct PlayingTrack {
    track: Arc<Track>,
    source: Box<dyn Samples>,
    level: f32,
    fade: Gain,
    stage: Stage,
    /// The frame being mixed; silent where the source is behind.
    frame: [i16; FRAME_SAMPLES_48K],
    count: usize,
    /// Where the source begins.
    from: Duration,
    /// Samples read from the source.
    passed: usize,
}

impl PlayingTrack {
    /// `source` begins at `from` in the track.
    pub fn new(track: Arc<Track>, source: Box<dyn Samples>, from: Duration) -> Self {
        let db = if track.gain_db.is_finite() { track.gain_db } else { 0.0 };
        Self {
            level: factor_of(db.clamp(-MOST_GAIN_DB, MOST_GAIN_DB)),
            track,
            source,
            fade: Gain::new(SampleRate::HZ_48000),
            stage: Stage::Waiting,
            frame: [0; FRAME_SAMPLES_48K],
            count: 0,
            from,
            passed: 0,
        }
    }

    /// Time into the track, with all rounds of a loop.
    pub fn position(&self) -> Duration {
        self.from.saturating_add(SampleRate::HZ_48000.duration_of(self.passed))
    }

    pub fn title(&self) -> &str {
        &self.track.title
    }

    pub fn layer(&self) -> Layer {
        self.track.layer
    }

    /// True until its first samples are audible.
    pub fn is_waiting(&self) -> bool {
        self.stage == Stage::Waiting
    }

    pub fn is_leaving(&self) -> bool {
        matches!(self.stage, Stage::Leaving | Stage::Cut)
    }

    /// True if it ends with the next frame.
    pub fn is_cut(&self) -> bool {
        self.stage == Stage::Cut
    }

    /// True if the frame read contains its first samples.
    pub fn may_begin(&self) -> bool {
        self.is_waiting() && self.count > 0
    }

    pub fn is_over(&self) -> bool {
        self.source.is_over() || self.is_leaving() && !self.fade.is_ramping()
    }

    pub fn read(&mut self) {
        self.count = self.source.read(&mut self.frame).min(self.frame.len());
        self.passed += self.count;
        self.frame.iter_mut().skip(self.count).for_each(|sample| *sample = 0);
    }

    pub fn wait(&self) {
        self.source.wait(FRAME_SAMPLES_48K);
    }

    /// Starts with the frame read, fading in over `over`.
    pub fn begin(&mut self, over: Duration) {
        self.stage = Stage::Sounding;
        if !over.is_zero() {
            self.fade.ramp_to(f32::NEG_INFINITY, Duration::ZERO);
            self.fade.ramp_to(0.0, over);
        }
    }

    /// Fades out over `over`, from the current point of any fade.
    pub fn leave(&mut self, over: Duration) {
        if !self.is_leaving() {
            self.stage = Stage::Leaving;
            self.fade.ramp_to(f32::NEG_INFINITY, over);
        }
    }

    /// Fades out within the next frame; false if it was never audible and can be dropped at once.
    pub fn cut(&mut self) -> bool {
        let was_audible = !self.is_waiting();
        self.stage = Stage::Cut;
        self.fade.ramp_to(f32::NEG_INFINITY, CUT);
        was_audible
    }

    pub fn add_to(&mut self, sum: &mut [f32; FRAME_SAMPLES_48K]) {
        if self.is_waiting() {
            return;
        }
        for (sum, sample) in sum.iter_mut().zip(self.frame) {
            *sum += f32::from(sample) * self.level * self.fade.step();
        }
    }
}
