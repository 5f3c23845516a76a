//! Sound -> how much of it is voice, and the scripted words that have been said by then.

use std::collections::VecDeque;

/// Samples of a block: 20 ms.
const BLOCK: usize = 320;
/// Seconds of one.
pub const SECONDS: f64 = 0.02;
/// Louder than this on average is voice.
const VOICE: u32 = 300;
/// Voice that one word takes, in seconds.
const WORD: f64 = 0.15;

/// The sound of a socket, cut into blocks.
#[derive(Default)]
pub struct Sound {
    rest: Vec<i16>,
    /// Seconds so far.
    pub at: f64,
}

impl Sound {
    /// The blocks that are whole now: whether there is voice in each.
    pub fn push(&mut self, samples: &[i16]) -> Vec<bool> {
        self.rest.extend_from_slice(samples);
        let whole = self.rest.len() / BLOCK * BLOCK;
        let samples: Vec<i16> = self.rest.drain(..whole).collect();
        samples.chunks(BLOCK).map(is_voice).collect()
    }
}

fn is_voice(block: &[i16]) -> bool {
    let sum: u32 = block.iter().map(|sample| u32::from(sample.unsigned_abs())).sum();
    sum / u32::try_from(BLOCK).expect("small") > VOICE
}

/// The words of one segment, as they are said.
#[derive(Default)]
pub struct Segment {
    words: Vec<String>,
    /// Seconds of voice in it.
    pub voice: f64,
}

impl Segment {
    /// The next segment of `utterance`; without one nothing is understood.
    pub fn next(utterance: &mut VecDeque<String>) -> Self {
        let text = utterance.pop_front();
        let words = text.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        Self { words, voice: 0.0 }
    }

    /// Words said so far.
    pub fn so_far(&self) -> String {
        let count = (0..self.words.len()).take_while(|it| (*it as f64) * WORD < self.voice).count();
        self.words[..count].join(" ")
    }

    /// All of it.
    pub fn whole(&self) -> String {
        self.words.join(" ")
    }
}
