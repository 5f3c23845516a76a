//! Sound that comes into a table.
//!
//! Entry type: [`VoiceInput`].

use tokio::sync::oneshot;

use super::{clock::SoundTime, speakers::SpeakerId};
use crate::audio::Frame;

/// 20 ms of one speaker.
#[derive(Debug)]
pub struct VoiceFrame {
    /// The person whose voice it is.
    pub speaker: SpeakerId,
    /// Time at which it was spoken.
    pub at: SoundTime,
    /// Its sound at 16 kHz.
    pub frame: Frame,
}

/// Sound, and marks in it.
#[derive(Debug)]
pub enum VoiceInput {
    /// 20 ms of one speaker.
    Frame(VoiceFrame),
    /// Answered when everything before it is heard, answered and played; speech that is still
    /// going on does not count.
    Settle(oneshot::Sender<()>),
}
