//! Music at a table: its files, decoded ahead, and the player that the table and its face share.
//!
//! Entry types: [`MusicPlayer`], and [`TableMusic`], the table's side of it. **Never**: finds or levels
//! tracks; the library knows them.

mod decoding;
mod player;
mod table_music;

pub use player::{MusicPlayer, Under};
pub use table_music::TableMusic;

#[cfg(test)]
mod tests;
