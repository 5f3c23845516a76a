//! Kokoro's network and how it is run.
//!
//! Entry type: [`Network`]. The caller catches panics of the runtime.

use rten::{Model, ModelOptions, NodeId};
use rten_tensor::NdTensor;

use super::{
    graph::{GraphError, spelled_out},
    pieces::MOST,
    style::Style,
};
use crate::{
    audio::SampleRate,
    provider::voices::neural::{
        files::look_over,
        spoken::{NetworkError, sound},
    },
};

pub const RATE: SampleRate = SampleRate::HZ_24000;
/// Number before and after every piece.
const PAD: i32 = 0;
/// Samples at the beginning of every piece that are wrong: the export divides them by the window of
/// a one-frame sound, so the tenth is a crack.
const CRACK: usize = 10;
/// Limits of its speed, relative to the usual one.
const SPEEDS: (f32, f32) = (0.5, 2.0);

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It uses operations that the runtime lacks.
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error(transparent)]
    Network(#[from] NetworkError),
}

pub struct Network {
    model: Model,
    tokens: NodeId,
    style: NodeId,
    speed: NodeId,
    audio: NodeId,
}

impl Network {
    pub fn load(mut bytes: Vec<u8>) -> Result<Self, LoadError> {
        look_over(&bytes).map_err(NetworkError::from)?;
        spelled_out(&mut bytes)?;
        // From memory, because an ONNX file could name other files. With all operations, because
        // three that it needs cannot be registered alone.
        let options = ModelOptions::with_all_ops();
        let model = options.load(bytes).map_err(NetworkError::from)?;
        let node = |name| model.find_node(name).ok_or(NetworkError::Lacks(name));
        let [tokens, style] = [node("tokens")?, node("style")?];
        let [speed, audio] = [node("speed")?, node("audio")?];
        Ok(Self { tokens, style, speed, audio, model })
    }

    /// The sound of `sounds` in a voice, `speed` times as fast as usual.
    pub fn speak(
        &self,
        sounds: &[i32],
        voice: &Style,
        speed: f32,
    ) -> Result<Vec<f32>, NetworkError> {
        let sounds = sounds.get(..sounds.len().min(MOST)).unwrap_or_default();
        let padded = [&[PAD], sounds, &[PAD]].concat();
        let inputs = vec![
            (self.tokens, NdTensor::from_data([1, padded.len()], padded).into()),
            (self.style, voice.of_length(sounds.len()).into()),
            (self.speed, NdTensor::from_data([1], vec![speed.clamp(SPEEDS.0, SPEEDS.1)]).into()),
        ];
        let mut samples = sound(self.model.run(inputs, &[self.audio], None)?)?;
        samples.iter_mut().take(CRACK).for_each(|sample| *sample = 0.0);
        if samples.iter().all(|sample| sample.is_finite()) {
            Ok(samples)
        } else {
            Err(NetworkError::NoSound)
        }
    }
}
