//! Speech of players: 48 kHz mono.

use crate::support::sound;

/// `frames` of 20 ms of a voice-like buzz, loud to its end.
pub fn babble(frames: usize) -> Vec<i16> {
    let frames = sound::babble(frames);
    let samples: Vec<i16> = frames.iter().flat_map(|it| it.samples().to_vec()).collect();
    let next = |index: usize| samples.get(index + 1).copied().unwrap_or(0);
    let between = |(index, sample): (usize, &i16)| {
        let (from, to) = (i32::from(*sample), i32::from(next(index)));
        [0, 1, 2].map(|step| i16::try_from(from + (to - from) * step / 3).expect("between"))
    };
    samples.iter().enumerate().flat_map(between).collect()
}
