//! One sentence of a Kokoro voice, computed piece by piece on demand.
//!
//! Entry type: [`Speaking`].

use std::{collections::VecDeque, time::Duration};

use super::{
    alphabet::English,
    library::{Ready, called},
    network::RATE,
    pieces::pieces,
};
use crate::provider::{
    Error, SpeakRequest,
    respell::respell,
    voices::neural::{clauses::clauses, cores::unusable, spoken::Making},
};

/// Loudness below which a sample is silence.
const SILENCE: f32 = 0.01;
/// Silence kept before and after a piece: Kokoro adds more than a sentence has inside.
const BEFORE: Duration = Duration::from_millis(40);
const BEHIND: Duration = Duration::from_millis(200);

pub struct Speaking {
    id: String,
    ready: Ready,
    speed: f32,
    pieces: VecDeque<Vec<i32>>,
}

impl Speaking {
    /// Finds the phonemes of `request`. Fails without espeak-ng.
    pub async fn new(ready: Ready, request: &SpeakRequest) -> Result<Self, Error> {
        let (id, speed) = (request.voice.voice_id.clone(), request.voice.speed_factor);
        let english = English::of(&id);
        let said = respell(&request.text, &request.pronunciation);
        let clauses = clauses(&said, english.espeak()).await?;
        let pieces = pieces(&clauses, english, ready.speed().0).into();
        Ok(Self { id, ready, speed, pieces })
    }
}

impl Making for Speaking {
    fn made(&mut self) -> Result<Option<Vec<f32>>, Error> {
        let Some(piece) = self.pieces.pop_front() else { return Ok(None) };
        let samples = self.ready.network()?.speak(&piece, &self.ready.style, self.speed);
        let samples = samples.map_err(|error| unusable(&called(&self.id), error))?;
        Ok(Some(without_silence(samples)))
    }
}

fn without_silence(mut samples: Vec<f32>) -> Vec<f32> {
    let is_loud = |sample: &f32| sample.abs() > SILENCE;
    let Some(first) = samples.iter().position(is_loud) else { return Vec::new() };
    let last = samples.iter().rposition(is_loud).unwrap_or(first);
    samples.truncate(last + 1 + RATE.samples_in(BEHIND));
    samples.drain(..first.saturating_sub(RATE.samples_in(BEFORE)));
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_around_a_piece_is_short() {
        let seconds = |n: usize| vec![0.001; 24_000 * n];
        let said = [0.5, 0.0, 0.0, -0.5];
        let long = [seconds(1), said.to_vec(), seconds(2)].concat();
        let cut = without_silence(long);
        assert_eq!(cut.len(), 24_000 / 25 + 4 + 24_000 / 5);
        assert_eq!(cut[24_000 / 25..][..4], said);
        assert_eq!(without_silence(said.to_vec()), said);
        assert!(without_silence(seconds(1)).is_empty() && without_silence(Vec::new()).is_empty());
    }
}
