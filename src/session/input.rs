//! Sound that enters a table.
//!
//! Entry type: [`VoiceInput`].

use tokio::sync::oneshot;

use super::{clock::SoundTime, speakers::SpeakerId};
use crate::audio::Frame;

#[derive(Debug)]
pub struct VoiceFrame {
    pub speaker: SpeakerId,
    pub at: SoundTime,
    /// 16 kHz.
    pub frame: Frame,
}

#[derive(Debug)]
pub enum VoiceInput {
    Frame(VoiceFrame),
    /// Answered once all previous sound is understood, answered and played. Ignores speech in
    /// progress.
    Settle(oneshot::Sender<()>),
}
