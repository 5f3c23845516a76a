//! Sound that enters a table, frame by frame.
//!
//! Entry types: [`VoiceInput`], [`Preroll`], [`FrameResult`].

use std::collections::VecDeque;

use tokio::sync::oneshot;

use super::{clock::SoundTime, speakers::SpeakerId};
use crate::{audio::Frame, logic::vad::Voicing, provider::Error};

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
    /// The speaker has let go of a talk button: their utterance is over.
    Released(SpeakerId),
    /// Answered once all previous sound is understood, answered and played. Ignores speech in
    /// progress.
    Settle(oneshot::Sender<()>),
}

/// 200 ms.
pub const PREROLL_FRAMES: usize = 10;

/// Sound from just before a voice was detected, which belongs to the speech.
#[derive(Debug, Default)]
pub struct Preroll(VecDeque<Frame>);

impl Preroll {
    pub fn keep(&mut self, frame: &Frame) {
        if self.0.len() == PREROLL_FRAMES {
            self.0.pop_front();
        }
        self.0.push_back(frame.clone());
    }

    pub fn take(&mut self) -> VecDeque<Frame> {
        std::mem::take(&mut self.0)
    }
}

pub enum Edge {
    Opened {
        continues: bool,
    },
    Closed,
    /// A click, not an utterance.
    Blip,
}

pub struct FrameResult {
    pub voicing: Voicing,
    pub edge: Option<Edge>,
    /// Error if the budget refused to pay the recogniser.
    pub refused: Option<Error>,
}
