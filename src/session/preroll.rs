//! Sound from before speech was noticed, which belongs to what is said then.
//!
//! Entry type: [`Preroll`].

use std::collections::VecDeque;

use crate::audio::Frame;

/// Its length in frames: 200 ms.
pub const PREROLL_FRAMES: usize = 10;

/// The last [`PREROLL_FRAMES`] frames before a voice.
#[derive(Debug, Default)]
pub struct Preroll(VecDeque<Frame>);

impl Preroll {
    /// Keeps 20 ms more.
    pub fn keep(&mut self, frame: &Frame) {
        if self.0.len() == PREROLL_FRAMES {
            self.0.pop_front();
        }
        self.0.push_back(frame.clone());
    }

    /// Takes the stored frames, the oldest first, and leaves none.
    pub fn take(&mut self) -> VecDeque<Frame> {
        std::mem::take(&mut self.0)
    }
}
