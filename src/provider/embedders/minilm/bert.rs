//! A BERT encoder whose last layer is averaged: what sentence models of that family are.
//!
//! Entry type: [`Bert`]. Devlin et al. 2018; pooling and names of tensors as in Sentence-BERT.
//! **Never**: trains, pads or masks: one text at a time.

use candle_core::{Device, Module, Result, Tensor};
use candle_nn::{
    Embedding, LayerNorm, Linear, VarBuilder, embedding, layer_norm, linear, ops::softmax_last_dim,
};
use serde::Deserialize;

/// How large the model is; `config.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Shape {
    /// Length of its vectors.
    pub hidden_size: usize,
    /// Longest text in word pieces.
    pub max_position_embeddings: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    vocab_size: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
}

/// The encoder: word pieces to one vector each.
pub struct Bert {
    words: Embedding,
    positions: Embedding,
    /// The same for every piece: there is one text.
    segment: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl Bert {
    /// # Errors
    /// A tensor that is missing or has another shape.
    pub fn load(shape: &Shape, tensors: &VarBuilder) -> Result<Self> {
        // Some publishers put the encoder into a box of its own.
        let tensors = if tensors.contains_tensor("embeddings.word_embeddings.weight") {
            tensors.clone()
        } else {
            tensors.pp("bert")
        };
        let (hidden, all) = (shape.hidden_size, tensors.pp("embeddings"));
        let segments = embedding(shape.type_vocab_size, hidden, all.pp("token_type_embeddings"))?;
        let layers = (0..shape.num_hidden_layers)
            .map(|n| Layer::load(shape, &tensors.pp("encoder.layer").pp(n)));
        Ok(Self {
            words: embedding(shape.vocab_size, hidden, all.pp("word_embeddings"))?,
            positions: embedding(
                shape.max_position_embeddings,
                hidden,
                all.pp("position_embeddings"),
            )?,
            segment: segments.embeddings().get(0)?,
            norm: layer_norm(hidden, shape.layer_norm_eps, all.pp("LayerNorm"))?,
            layers: layers.collect::<Result<_>>()?,
        })
    }

    /// The average of what the last layer makes of the word pieces `ids`.
    ///
    /// # Errors
    /// An id that is no word piece, or more of them than the model reads.
    pub fn embed(&self, ids: &[u32]) -> Result<Vec<f32>> {
        let length = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        let words = self.words.forward(&Tensor::new(ids, &Device::Cpu)?)?;
        let positions = self.positions.forward(&Tensor::arange(0, length, &Device::Cpu)?)?;
        let sum = (words + positions)?.broadcast_add(&self.segment)?;
        let mut state = self.norm.forward(&sum)?;
        for layer in &self.layers {
            state = layer.forward(&state)?;
        }
        state.mean(0)?.to_vec1()
    }
}

/// Attention, then two linear maps; each is added to what came in.
struct Layer {
    heads: usize,
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: LayerNorm,
    wide: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

impl Layer {
    fn load(shape: &Shape, tensors: &VarBuilder) -> Result<Self> {
        let (hidden, wide) = (shape.hidden_size, shape.intermediate_size);
        let norm = |name: &str| layer_norm(hidden, shape.layer_norm_eps, tensors.pp(name));
        let square = |name: &str| linear(hidden, hidden, tensors.pp(name));
        Ok(Self {
            heads: shape.num_attention_heads.max(1),
            query: square("attention.self.query")?,
            key: square("attention.self.key")?,
            value: square("attention.self.value")?,
            attended: square("attention.output.dense")?,
            attended_norm: norm("attention.output.LayerNorm")?,
            wide: linear(hidden, wide, tensors.pp("intermediate.dense"))?,
            narrow: linear(wide, hidden, tensors.pp("output.dense"))?,
            norm: norm("output.LayerNorm")?,
        })
    }

    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let (pieces, hidden) = input.dims2()?;
        let each = hidden / self.heads;
        let split = |map: &Linear| {
            map.forward(input)?.reshape((pieces, self.heads, each))?.transpose(0, 1)?.contiguous()
        };
        let (query, key, value) = (split(&self.query)?, split(&self.key)?, split(&self.value)?);
        #[expect(clippy::cast_precision_loss, reason = "a head has some dozens of numbers")]
        let scale = (each as f64).sqrt().recip();
        let weights = (query.matmul(&key.t()?)? * scale)?;
        let seen = softmax_last_dim(&weights)?.matmul(&value)?;
        let seen = seen.transpose(0, 1)?.contiguous()?.reshape((pieces, hidden))?;
        let seen = self.attended_norm.forward(&(self.attended.forward(&seen)? + input)?)?;
        let thought = self.narrow.forward(&self.wide.forward(&seen)?.gelu_erf()?)?;
        self.norm.forward(&(thought + seen)?)
    }
}
