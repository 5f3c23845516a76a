//! A model and its loading.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use crate::archive::Archive;
use crate::decoder::{self, Decoder};
use crate::encoder::{self, Encoder};
use crate::error::LoadError;
use crate::mel::{Frontend, HOP, Mel};
use crate::tokens::Tokens;

/// The largest tokenizer.json has 4 MB.
const MOST_JSON: u64 = 32 << 20;

/// A loaded model; immutable, can be shared among threads (`Arc<Model>`).
///
/// About 90 MB for the sizes called tiny, 180 MB for base: the encoder in f32, the decoder in int8.
pub struct Model {
    pub(crate) frontend: Frontend,
    pub(crate) encoder: Encoder,
    pub(crate) decoder: Decoder,
    pub(crate) tokens: Tokens,
}

/// Buffers of one transcription at a time, reusable for the next, with any model.
///
/// Starts empty and grows to the needs of the longest sound: 10 to 40 MB.
#[derive(Default)]
pub struct Scratch {
    pub(crate) mel: Mel,
    pub(crate) encoder: encoder::Room,
    pub(crate) decoder: decoder::Room,
}

impl Scratch {
    /// Creates empty buffers, which grow on use.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Model {
    /// Loads `model.bin`, `tokenizer.json` and `config.json` of a folder in a few tenths of a
    /// second.
    ///
    /// # Errors
    /// [`LoadError`] for any unusable file; loading never panics, nor takes much more memory than
    /// the files have bytes.
    pub fn load(folder: impl AsRef<Path>) -> Result<Self, LoadError> {
        let folder = folder.as_ref();
        let json = |name| {
            let (file, path) = open(folder, name)?;
            let mut text = Vec::new();
            let read = file.take(MOST_JSON + 1).read_to_end(&mut text);
            read.map_err(|source| LoadError::File { path: path.clone(), source })?;
            if text.len() as u64 > MOST_JSON {
                return Err(LoadError::Large { path, most: MOST_JSON });
            }
            Ok(text)
        };
        let (tokenizer, config) = (json("tokenizer.json")?, json("config.json")?);
        Self::read(open(folder, "model.bin")?.0, &tokenizer, &config)
    }

    /// Loads a model from a reader of the weights and the texts of both JSON files.
    ///
    /// # Errors
    /// Like [`Model::load`].
    pub fn read(
        weights: impl Read + Seek,
        tokenizer: &[u8],
        config: &[u8],
    ) -> Result<Self, LoadError> {
        let mut archive = Archive::open(weights)?;
        let decoder = Decoder::load(&mut archive)?;
        let encoder = Encoder::load(&mut archive)?;
        if encoder.heads.width != decoder.width() {
            return Err(LoadError::Shape {
                name: "encoder/position_encodings/encodings".to_owned(),
                found: vec![encoder.positions, encoder.heads.width],
                wanted: format!("as wide as the decoder ({})", decoder.width()),
            });
        }
        let tokens = Tokens::read(tokenizer, config, decoder.vocabulary())?;
        let frontend = Frontend::new(encoder.bands);
        Ok(Self { frontend, encoder, decoder, tokens })
    }

    /// Loads a model from bytes in memory.
    ///
    /// # Errors
    /// Like [`Model::load`].
    pub fn from_bytes(weights: &[u8], tokenizer: &[u8], config: &[u8]) -> Result<Self, LoadError> {
        Self::read(Cursor::new(weights), tokenizer, config)
    }

    /// True if the model knows languages besides English.
    #[must_use]
    pub fn is_multilingual(&self) -> bool {
        !self.tokens.languages.is_empty()
    }

    /// Codes of the model's languages.
    pub fn languages(&self) -> impl Iterator<Item = &str> {
        let known = self.tokens.languages.iter().map(|(code, _)| code.as_str());
        known.chain((!self.is_multilingual()).then_some("en"))
    }

    /// Longest sound in samples, 480,000 (30 s) for all released models.
    #[must_use]
    pub fn max_samples(&self) -> usize {
        self.encoder.positions * 2 * HOP
    }

    /// Number of tokens of a text used as prompt; only the last [`Model::max_prompt`] count.
    #[must_use]
    pub fn prompt_length(&self, text: &str) -> usize {
        self.prompt(text).len()
    }

    /// Most tokens of a prompt, 223 for all released models.
    #[must_use]
    pub fn max_prompt(&self) -> usize {
        self.decoder.context / 2 - 1
    }

    /// All tokens of a prompt, which begins with a blank as in the training data.
    pub(crate) fn prompt(&self, text: &str) -> Vec<u32> {
        let text = text.trim();
        if text.is_empty() { Vec::new() } else { self.tokens.encode(&format!(" {text}")) }
    }
}

fn open(folder: &Path, name: &str) -> Result<(File, std::path::PathBuf), LoadError> {
    let path = folder.join(name);
    match File::open(&path) {
        Ok(file) => Ok((file, path)),
        Err(source) => Err(LoadError::File { path, source }),
    }
}
