//! Records what was said. Entry type: [`TranscriptWriter`].

mod deletions;
mod line;
mod spill;
mod task;
#[cfg(test)]
mod tests;
mod writer;

pub use deletions::DeletionFiles;
pub use line::Transcript;
pub use spill::waits as lines_wait;
pub use task::TranscriptOptions;
pub use writer::{NotWritten, TranscriptWriter};
