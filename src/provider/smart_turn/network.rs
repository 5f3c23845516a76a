//! The network: features in, a probability out.
//!
//! Entry type: [`Network`].

use std::sync::Arc;

use rten::{Model, ModelOptions, NodeId, OpRegistry, RunOptions, ThreadPool, op_registry};
use rten_tensor::{NdTensor, prelude::*};

use super::{
    features::{FRAMES, LogMel, MELS},
    trim::{self, Malformed},
};

/// Error when loading or running the network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("cannot build the network: {0}")]
    Load(#[from] rten::LoadError),
    /// Its inputs or outputs differ.
    #[error("the network has no '{0}'")]
    Node(&'static str),
    #[error("the network failed: {0}")]
    Run(#[from] rten::RunError),
    /// The output is not a probability.
    #[error("the network's answer is not a probability")]
    Answer,
}

/// The network with the thread it computes on.
pub struct Network {
    model: Model,
    input: NodeId,
    output: NodeId,
    mel: LogMel,
    threads: Arc<ThreadPool>,
}

impl Network {
    /// Loads the network in `onnx`. Its thread has the caller's priority.
    pub fn load(onnx: &[u8]) -> Result<Self, NetworkError> {
        let model = ModelOptions::with_ops(operations()).load(trim::floats(onnx)?)?;
        let node = |name| model.node_id(name).map_err(|_| NetworkError::Node(name));
        Ok(Self {
            input: node("input_features")?,
            output: node("logits")?,
            model,
            mel: LogMel::default(),
            threads: Arc::new(ThreadPool::with_num_threads(1)),
        })
    }

    /// The probability that `audio`, 16 kHz mono from −1 to 1, is complete.
    pub fn probability(&mut self, audio: &[f32]) -> Result<f32, NetworkError> {
        let features = NdTensor::from_data([1, MELS, FRAMES], self.mel.compute(audio));
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let inputs = vec![(self.input, features.into())];
        let [answer] = self.model.run_n(inputs, [self.output], Some(options))?;
        let answer: NdTensor<f32, 2> = answer.try_into().map_err(|_| NetworkError::Answer)?;
        answer.iter().next().copied().filter(|it| it.is_finite()).ok_or(NetworkError::Answer)
    }
}

/// Operations of the network; others are not linked.
fn operations() -> OpRegistry {
    op_registry!(
        Add,
        Concat,
        Conv,
        DequantizeLinear,
        Div,
        Erf,
        Gather,
        Gemm,
        LayerNormalization,
        MatMul,
        Mul,
        QuantizeLinear,
        ReduceSum,
        Reshape,
        Shape,
        Sigmoid,
        Slice,
        Softmax,
        Tanh,
        Transpose
    )
}
