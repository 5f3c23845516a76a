//! Sentence embeddings on this machine: MiniLM, or another small BERT, by candle.
//!
//! Entry type: [`MiniLm`]. The model is read from a folder as its publishers pack it: `config.json`,
//! `tokenizer.json`, `model.safetensors`. It is loaded with the first texts and works on threads
//! for blocking work.
//! **Never**: downloads a model.

mod bert;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use candle_core::{DType, Device};
use candle_nn::VarBuilder;
use futures::{FutureExt, future::BoxFuture};
use tokenizers::{Tokenizer, TruncationParams};

use self::bert::{Bert, Shape};
use crate::provider::{Embedder, Error, Kind};

/// The files of a model.
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];
/// Word pieces of a text that are read; what follows is cut off.
const MAX_PIECES: usize = 256;

/// An embedding model in a folder.
#[derive(Clone)]
pub struct MiniLm(Arc<Inner>);

struct Inner {
    folder: PathBuf,
    model: OnceLock<Model>,
    /// One loads it, the others wait.
    loading: Mutex<()>,
}

struct Model {
    tokenizer: Tokenizer,
    bert: Bert,
    dimension: usize,
}

impl MiniLm {
    /// The model in `folder`; only looks whether its files are there.
    ///
    /// # Errors
    /// [`Kind::Missing`] naming the file that is not there.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        if let Some(file) = FILES.iter().find(|file| !folder.join(file).is_file()) {
            let what = format!("there is no '{file}' in '{}'", folder.display());
            let way_out = format!("the folder of a model has {}", FILES.join(", "));
            return Err(Error::new(Kind::Missing, format!("{what} ({way_out})")));
        }
        let (model, loading) = (OnceLock::new(), Mutex::default());
        Ok(Self(Arc::new(Inner { folder: folder.to_owned(), model, loading })))
    }
}

impl Embedder for MiniLm {
    fn name(&self) -> &str {
        "minilm"
    }

    fn dimension(&self) -> Option<usize> {
        self.0.model.get().map(|model| model.dimension)
    }

    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>> {
        let (inner, texts) = (Arc::clone(&self.0), texts.to_vec());
        let work = move || {
            let model = inner.model()?;
            texts.iter().map(|text| model.embed(text)).collect()
        };
        async move {
            let done = tokio::task::spawn_blocking(work).await;
            done.unwrap_or_else(|_| {
                let what = "the local embedding model broke (please report this)";
                Err(Error::new(Kind::Unavailable, what))
            })
        }
        .boxed()
    }
}

impl Inner {
    fn model(&self) -> Result<&Model, Error> {
        let _one = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = self.model.get() {
            return Ok(model);
        }
        let model = Model::load(&self.folder)?;
        Ok(self.model.get_or_init(|| model))
    }
}

impl Model {
    fn load(folder: &Path) -> Result<Self, Error> {
        let [config, pieces, weights] = FILES.map(|file| folder.join(file));
        let shape: Shape = serde_json::from_slice(&read(&config)?)
            .map_err(|error| broken(&config, &error.to_string()))?;
        let mut tokenizer = Tokenizer::from_bytes(read(&pieces)?)
            .map_err(|error| broken(&pieces, &error.to_string()))?;
        tokenizer.with_padding(None);
        let max_length = MAX_PIECES.min(shape.max_position_embeddings);
        let cut = TruncationParams { max_length, ..TruncationParams::default() };
        tokenizer
            .with_truncation(Some(cut))
            .map_err(|error| broken(&pieces, &error.to_string()))?;
        let dimension = shape.hidden_size;
        let tensors = read(&weights)?;
        let bert = VarBuilder::from_buffered_safetensors(tensors, DType::F32, &Device::Cpu)
            .and_then(|tensors| Bert::load(&shape, &tensors))
            .map_err(|error| broken(&weights, &error.to_string()))?;
        Ok(Self { tokenizer, bert, dimension })
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>, Error> {
        let pieces = self.tokenizer.encode(text, true).map_err(|_| unread())?;
        self.bert.embed(pieces.get_ids()).map_err(|_| unread())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| {
        let what = format!("cannot read '{}': {error}", path.display());
        Error::new(Kind::Missing, what)
    })
}

fn broken(path: &Path, what: &str) -> Error {
    let way_out = "take the files of a BERT sentence model as they were published";
    let what = format!("'{}' is not what the model needs: {what} ({way_out})", path.display());
    Error::new(Kind::Missing, what)
}

fn unread() -> Error {
    Error::new(Kind::Protocol, "the local embedding model could not read the text")
}

#[cfg(test)]
mod tests;
