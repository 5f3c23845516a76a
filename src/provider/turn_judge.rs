//! The contract of a sound model that judges whether a speaker has finished.
//!
//! Entry type: [`TurnJudge`]. **Never**: knows words, or decides when a turn ends.

use tokio::sync::oneshot;

use crate::audio::Frame;

pub trait TurnJudge: Send + Sync {
    /// Short name for logs ("smart-turn").
    fn name(&self) -> &str;

    /// Estimates the probability (0 to 1) that the speaker of `sound` has finished: 16 kHz mono of
    /// one speaker, with up to 200 ms of silence. `None`: it is too busy to answer in time. The
    /// answer may never arrive; dropping the receiver cancels it.
    fn judge(&self, sound: Vec<Frame>) -> Option<oneshot::Receiver<f32>>;
}
