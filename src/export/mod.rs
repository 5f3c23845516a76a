//! Files for people and other programs: transcripts and character cards. Values in, text out.
//!
//! Entry functions: [`markdown`], [`web_vtt`], [`tagged_json`] (transcripts), [`card()`]; entry type:
//! [`FileNames`]. **Never**: opens a file, or writes an NPC's secrets.

mod card;
mod file_names;
mod transcript;

pub use card::card;
pub use file_names::FileNames;
pub use transcript::{Evening, SaidLine, markdown, tagged_json, web_vtt};
