#![doc = include_str!("../README.md")]
#![deny(missing_docs, clippy::missing_errors_doc)]

mod archive;
mod attention;
mod beams;
mod decoder;
mod encoder;
mod error;
mod kernels;
mod layers;
mod mel;
mod model;
mod options;
mod tokens;
mod transcribe;
mod window;
mod work;

#[cfg(test)]
mod tests;

pub use error::{LoadError, TranscribeError};
pub use model::{Model, Scratch};
pub use options::{Guard, Options, Search, Transcript};
pub use window::Window;
