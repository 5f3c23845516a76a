//! One sentence of a Piper voice, computed piece by piece on demand.
//!
//! Entry type: [`Speaking`].

use std::{collections::VecDeque, sync::Arc, time::Duration};

use rten_tensor::{NdTensor, prelude::*};

use super::{
    files::Name,
    library::{Loaded, called},
    network::{Said, Speech},
    numbers::pieces,
};
use crate::{
    audio::SampleRate,
    provider::{
        Error, Kind, SpeakRequest,
        respell::respell,
        voices::neural::{
            clauses::clauses,
            cores::unusable,
            spoken::{Making, NetworkError},
        },
    },
};

/// Length of the first piece, which plays while the next is computed.
const FIRST: Duration = Duration::from_millis(350);
/// Longest piece; a cancelled sentence wastes at most this.
const LONGEST: Duration = Duration::from_millis(1_200);
/// Samples per vector in released voices; only affects the length of pieces.
const HOP: usize = 256;
/// Limits of a voice's own length scale divided by the speed.
const LENGTHS: (f32, f32) = (0.1, 10.0);
/// Most speakers named in an error.
const FEW: usize = 8;

pub struct Speaking {
    id: String,
    voice: Arc<Loaded>,
    scales: [f32; 3],
    speaker: i32,
    pieces: VecDeque<Vec<i32>>,
    /// Vectors of the current piece, and how many of them are sound already.
    vectors: Option<(NdTensor<f32, 3>, usize)>,
    length: usize,
}

impl Speaking {
    /// Finds the phonemes of `request`. Fails without espeak-ng or that speaker.
    pub async fn new(voice: Arc<Loaded>, request: &SpeakRequest) -> Result<Self, Error> {
        let wanted = &request.voice;
        let settings = &voice.settings;
        let asked = Name::of(&wanted.voice_id).and_then(|name| name.speaker);
        let speaker =
            settings.speaker(asked).ok_or_else(|| no_speaker(&voice, &wanted.voice_id))?;
        let length = settings.length / wanted.speed_factor.max(0.01);
        let scales = [settings.noise, length.clamp(LENGTHS.0, LENGTHS.1), settings.noise_w];
        let said = respell(&request.text, &request.pronunciation);
        let pieces = pieces(&clauses(&said, &settings.espeak).await?, settings).into();
        let length = vectors_in(FIRST, settings.rate);
        let (id, vectors) = (wanted.voice_id.clone(), None);
        Ok(Self { id, scales, speaker, pieces, vectors, length, voice })
    }

    fn next(&mut self) -> Result<Option<Vec<f32>>, NetworkError> {
        let network = &self.voice.network;
        let (vectors, from) = match self.vectors.take() {
            Some(begun) => begun,
            None => {
                let Some(numbers) = self.pieces.pop_front() else { return Ok(None) };
                let said = Said { numbers, scales: self.scales, speaker: self.speaker };
                match network.begin(&said)? {
                    Speech::Whole(samples) => return Ok(Some(samples)),
                    Speech::Vectors(vectors) => (vectors, 0),
                }
            }
        };
        let to = (from + self.length).min(vectors.size(2));
        let samples = network.sound(&vectors, from..to, self.speaker)?;
        // Half as long again, because it is computed while the one before plays.
        let longest = vectors_in(LONGEST, self.voice.settings.rate);
        self.length = (self.length + self.length / 2).min(longest);
        self.vectors = (to < vectors.size(2)).then_some((vectors, to));
        Ok(Some(samples))
    }
}

impl Making for Speaking {
    fn made(&mut self) -> Result<Option<Vec<f32>>, Error> {
        self.next().map_err(|error| unusable(&called(&self.id), error))
    }
}

fn vectors_in(length: Duration, rate: SampleRate) -> usize {
    (rate.samples_in(length) / HOP).max(1)
}

fn no_speaker(voice: &Loaded, id: &str) -> Error {
    let Loaded { settings, .. } = voice;
    let mut names: Vec<&str> = settings.speakers.keys().map(String::as_str).collect();
    names.sort_unstable();
    names.truncate(FEW);
    let listed =
        if names.is_empty() { String::new() } else { format!("; some are {}", names.join(", ")) };
    let last = settings.n_speakers - 1;
    let text = format!(
        "the voice of \"{id}\" has no such speaker (its speakers have the numbers 0 to {last}{listed})"
    );
    Error::new(Kind::InvalidRequest, text)
}
