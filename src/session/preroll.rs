//! Sound from just before a voice was detected, which belongs to the speech.
//!
//! Entry type: [`Preroll`].

use std::collections::VecDeque;

use crate::audio::Frame;

/// 200 ms.
pub const PREROLL_FRAMES: usize = 10;

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
