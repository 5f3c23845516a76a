//! One track that sounds, with its fade.
//!
//! Entry types: [`Samples`], its sound, and [`PlayingTrack`]. **Never**: decides when it sounds; the mixer does.

use std::{sync::Arc, time::Duration};

use super::{Layer, Track};
use crate::audio::{FRAME, FRAME_SAMPLES_48K, Gain, SampleRate, factor_of};

/// Gains of tracks beyond this are mistakes, in dB.
const MOST_GAIN_DB: f32 = 40.0;
/// End of a track that is one too many: a frame, too long for a click.
const CUT: Duration = FRAME;

/// The sound of one track, 48 kHz mono, in order.
pub trait Samples: Send {
    /// Copies the next samples to the front of `into`, as many as are there; how many. Never waits: what
    /// is missing comes with a later call.
    fn read(&mut self, into: &mut [i16]) -> usize;

    /// True when everything was read, and nothing more comes.
    fn is_over(&self) -> bool;

    /// Waits until `count` samples are there, or no more come. Only for those who make a recording.
    fn wait(&self, count: usize);
}

/// Progress of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing of it was heard yet.
    Waiting,
    /// It is heard.
    Sounding,
    /// It fades out.
    Leaving,
    /// It fades out within the next frame.
    Cut,
}

/// One track that sounds.
pub struct PlayingTrack {
    track: Arc<Track>,
    source: Box<dyn Samples>,
    /// Factor of the track's gain.
    level: f32,
    fade: Gain,
    stage: Stage,
    /// The frame that is being mixed; silence where the source is behind.
    frame: [i16; FRAME_SAMPLES_48K],
    /// Number of samples of the frame that came from the source.
    count: usize,
}

impl PlayingTrack {
    /// A track of which nothing is heard yet.
    pub fn new(track: Arc<Track>, source: Box<dyn Samples>) -> Self {
        let db = if track.gain_db.is_finite() { track.gain_db } else { 0.0 };
        Self {
            level: factor_of(db.clamp(-MOST_GAIN_DB, MOST_GAIN_DB)),
            track,
            source,
            fade: Gain::new(SampleRate::HZ_48000),
            stage: Stage::Waiting,
            frame: [0; FRAME_SAMPLES_48K],
            count: 0,
        }
    }

    /// The track's name.
    pub fn title(&self) -> &str {
        &self.track.title
    }

    /// Its layer.
    pub fn layer(&self) -> Layer {
        self.track.layer
    }

    /// True until its first samples are heard.
    pub fn is_waiting(&self) -> bool {
        self.stage == Stage::Waiting
    }

    /// True once it fades out.
    pub fn is_leaving(&self) -> bool {
        matches!(self.stage, Stage::Leaving | Stage::Cut)
    }

    /// True once it ends with the next frame.
    pub fn is_cut(&self) -> bool {
        self.stage == Stage::Cut
    }

    /// True when its first samples are in the frame that was read.
    pub fn may_begin(&self) -> bool {
        self.is_waiting() && self.count > 0
    }

    /// True when nothing of it is left to be heard.
    pub fn is_over(&self) -> bool {
        self.source.is_over() || self.is_leaving() && !self.fade.is_ramping()
    }

    /// Takes the next frame from the source.
    pub fn read(&mut self) {
        self.count = self.source.read(&mut self.frame).min(self.frame.len());
        self.frame.iter_mut().skip(self.count).for_each(|sample| *sample = 0);
    }

    /// Waits until the next frame is there, or the sound ends.
    pub fn wait(&self) {
        self.source.wait(FRAME_SAMPLES_48K);
    }

    /// Is heard from the frame that was read, swelling within `over`.
    pub fn begin(&mut self, over: Duration) {
        self.stage = Stage::Sounding;
        if !over.is_zero() {
            self.fade.ramp_to(f32::NEG_INFINITY, Duration::ZERO);
            self.fade.ramp_to(0.0, over);
        }
    }

    /// Fades out within `over`, from wherever a fade has got to.
    pub fn leave(&mut self, over: Duration) {
        if !self.is_leaving() {
            self.stage = Stage::Leaving;
            self.fade.ramp_to(f32::NEG_INFINITY, over);
        }
    }

    /// Fades out within the next frame; false if nothing of it was heard, and it can go at once.
    pub fn cut(&mut self) -> bool {
        let was_audible = !self.is_waiting();
        self.stage = Stage::Cut;
        self.fade.ramp_to(f32::NEG_INFINITY, CUT);
        was_audible
    }

    /// Adds the frame that was read to `sum`.
    pub fn add_to(&mut self, sum: &mut [f32; FRAME_SAMPLES_48K]) {
        if self.is_waiting() {
            return;
        }
        for (sum, sample) in sum.iter_mut().zip(self.frame) {
            *sum += f32::from(sample) * self.level * self.fade.step();
        }
    }
}
