//! The contract of a sound model that tells whether somebody has finished.
//!
//! Entry type: [`TurnJudge`]. **Never**: knows words, or decides when a turn ends.

use tokio::sync::oneshot;

use crate::audio::Frame;

/// Hears whether a speaker has finished.
pub trait TurnJudge: Send + Sync {
    /// Short name for logs ("smart-turn").
    fn name(&self) -> &str;

    /// Judges the probability, from 0 to 1, that `sound` is all its speaker has to say: 16 kHz mono
    /// of one speaker alone, up to 200 ms of silence. `None`: it has too much to do, so that its
    /// answer would come too late. The answer may never come; dropping the receiver gives it up.
    fn judge(&self, sound: Vec<Frame>) -> Option<oneshot::Receiver<f32>>;
}
