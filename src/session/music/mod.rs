//! A table's music: decoding, and the player shared by table and face.
//!
//! Entry types: [`MusicPlayer`], and [`TableMusic`], the table's side of it.

mod decoding;
mod player;
mod table_music;

pub use player::{MusicPlayer, Under};
pub use table_music::TableMusic;

#[cfg(test)]
mod tests;
