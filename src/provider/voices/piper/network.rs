//! A Piper network and how it is run.
//!
//! Entry type: [`Network`]. If the file allows it, it works in two steps: the sentence to a row of
//! vectors, quickly, and these to sound piece by piece, so that the first sound comes long before
//! the last. Otherwise a sentence is one piece. The caller catches panics of the runtime.

use std::ops::Range;

use rten::{Model, ModelOptions, NodeId, OpRegistry, ValueOrView};
use rten_tensor::{NdTensor, prelude::*};

use super::{operations::OPERATIONS, settings::Settings};
use crate::provider::voices::neural::{
    fields::{Fields, GRAPH, NODE, node},
    files::look_over,
    spoken::{NetworkError, sound},
};

/// Vectors around a piece that affect its sound. With fewer, the difference to a sentence in one
/// piece exceeds rounding (`pieces_are_the_whole`).
const AROUND: usize = 12;
/// Most vectors of one sentence; 256 samples each.
const MOST_VECTORS: usize = 30_000;
/// End of the name of the node at which sound synthesis begins.
const READER: &[u8] = b"dec/conv_pre/Conv";

pub struct Network {
    model: Model,
    input: NodeId,
    lengths: NodeId,
    scales: NodeId,
    speaker: Option<NodeId>,
    output: NodeId,
    /// Node whose vectors become sound in pieces.
    vectors: Option<NodeId>,
}

/// Input of the network for one piece of speech.
#[derive(Clone, Debug)]
pub struct Said {
    pub numbers: Vec<i32>,
    /// Randomness of the sound, length of sounds, randomness of their lengths.
    pub scales: [f32; 3],
    pub speaker: i32,
}

pub enum Speech {
    Whole(Vec<f32>),
    /// One row of vectors for each number.
    Vectors(NdTensor<f32, 3>),
}

impl Network {
    pub fn load(bytes: Vec<u8>, settings: &Settings) -> Result<Self, NetworkError> {
        look_over(&bytes)?;
        let vectors = decoder_input(&bytes).map(str::to_owned);
        // From memory, because an ONNX file could name other files.
        let model = ModelOptions::with_ops(OpRegistry::with_ops(OPERATIONS)).load(bytes)?;
        let node = |name| model.find_node(name).ok_or(NetworkError::Lacks(name));
        let speaker = model.find_node("sid");
        if speaker.is_none() && settings.n_speakers > 1 {
            return Err(NetworkError::Lacks("sid"));
        }
        Ok(Self {
            input: node("input")?,
            lengths: node("input_lengths")?,
            scales: node("scales")?,
            speaker,
            output: model.output_ids().first().copied().ok_or(NetworkError::Lacks("output"))?,
            vectors: vectors.and_then(|name| model.find_node(&name)),
            model,
        })
    }

    pub fn begin(&self, said: &Said) -> Result<Speech, NetworkError> {
        let n = said.numbers.len();
        let count = i32::try_from(n).map_err(|_| NetworkError::NoSound)?;
        let mut inputs: Vec<(NodeId, ValueOrView)> = vec![
            (self.input, NdTensor::from_data([1, n], said.numbers.clone()).into()),
            (self.lengths, NdTensor::from_data([1], vec![count]).into()),
            (self.scales, NdTensor::from_data([3], said.scales.to_vec()).into()),
        ];
        inputs.extend(self.speaking(said.speaker));
        let Some(vectors) = self.vectors else {
            return Ok(Speech::Whole(sound(self.model.run(inputs, &[self.output], None)?)?));
        };
        let made = self.model.run(inputs, &[vectors], None)?.into_iter().next();
        let vectors = made.and_then(|value| NdTensor::<f32, 3>::try_from(value).ok());
        let fits =
            |it: &NdTensor<f32, 3>| it.size(0) == 1 && (1..=MOST_VECTORS).contains(&it.size(2));
        vectors.filter(fits).map(Speech::Vectors).ok_or(NetworkError::NoSound)
    }

    pub fn sound(
        &self,
        vectors: &NdTensor<f32, 3>,
        wanted: Range<usize>,
        speaker: i32,
    ) -> Result<Vec<f32>, NetworkError> {
        let input = self.vectors.ok_or(NetworkError::NoSound)?;
        let Range { start: from, end: to } = wanted;
        let (first, last) = (from.saturating_sub(AROUND), (to + AROUND).min(vectors.size(2)));
        if first >= last || from > to {
            return Err(NetworkError::NoSound);
        }
        let piece = vectors.slice((.., .., first..last)).to_tensor();
        let mut inputs: Vec<(NodeId, ValueOrView)> = vec![(input, piece.into())];
        inputs.extend(self.speaking(speaker));
        let samples = sound(self.model.run(inputs, &[self.output], None)?)?;
        let each = samples.len() / (last - first);
        let wanted = (from - first) * each..(to - first) * each;
        samples.get(wanted).map(<[f32]>::to_vec).ok_or(NetworkError::NoSound)
    }

    fn speaking(&self, speaker: i32) -> Option<(NodeId, ValueOrView<'static>)> {
        self.speaker.map(|input| (input, NdTensor::from_data([1], vec![speaker]).into()))
    }
}

/// Name of the input of sound synthesis in the ONNX file `bytes`.
///
/// A network's last part, HiFi-GAN, turns a row of vectors into sound and sees only a few vectors
/// around each, so it can work in pieces. Its input has different names in different voices, but
/// its reader does not. Anything unclear means `None`.
pub fn decoder_input(bytes: &[u8]) -> Option<&str> {
    let graph = Fields::of(bytes).bytes(GRAPH).next()?;
    let reads = |it: &&[u8]| Fields::of(it).bytes(node::NAME).any(|name| name.ends_with(READER));
    let reader = Fields::of(graph).bytes(NODE).find(reads)?;
    let input = Fields::of(reader).bytes(node::INPUT).next()?;
    std::str::from_utf8(input).ok()
}
