//! Drafts of other programs' files into a campaign: entities and relations into the store, people as NPC
//! files, with a preview of both.
//!
//! Entry function: [`plan()`]; [`plan::Bringing::carry_out`] does it, all or nothing. [`opened`] takes a file that a
//! game master has sent. **Never**: changes what the game master has edited, or shows a model what a file marks
//! as secret.

mod entities;
mod examples;
mod lines;
mod looks;
mod npc_files;
mod people;
mod plan;
mod preview;
mod previewed;
mod sent;
mod voice;
mod written;

#[cfg(test)]
mod tests;

pub use npc_files::{NewFile, NewFiles};
pub use people::Cast;
pub use plan::plan;
pub use previewed::PreviewedFiles;
pub use sent::{NotBrought, Opened, opened};
pub use voice::VoiceOffer;
