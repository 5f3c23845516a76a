//! Records what was said. Entry type: [`TranscriptWriter`].

mod deleted;
mod deletion_files;
mod line;
mod of;
mod spill;
mod task;
#[cfg(test)]
mod tests;
mod writer;

pub use deletion_files::DeletionFiles;
pub use of::Transcript;
pub use spill::waits as lines_wait;
pub use task::TranscriptOptions;
pub use writer::{NotWritten, TranscriptWriter};
