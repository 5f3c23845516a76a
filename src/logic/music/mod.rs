//! Music and ambience: a table's tracks, the orders to play them, and their mix.
//!
//! Entry types: [`Track`], [`Library`], [`MusicOrder`] and [`Mixer`]. **Never**: opens or decodes a
//! file.

mod library;
mod mixer;
mod moods;
mod playing;
mod shipped;
mod title;
mod wish;

use std::{path::PathBuf, sync::Arc};

use serde::Serialize;

pub use mixer::{Mixer, MusicFrame};
pub use playing::Samples;
pub use shipped::shipped_sound;
pub use wish::{MusicWish, WishContext, wishes, wishes_within};

/// Layer of the mix. A new track replaces only that of its own layer; effects play once, beside
/// everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// One track at a time, crossfaded.
    Music,
    /// Rain, murmur, fire: one at a time, under the music.
    Ambience,
    /// A one-shot of the soundboard.
    Effect,
}

impl Layer {
    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Music => "music",
            Self::Ambience => "ambience",
            Self::Effect => "effect",
        }
    }
}

/// A sound file of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The file, or for a shipped track a name that [`shipped_sound`] knows.
    pub file: PathBuf,
    /// Shown to people; unique within a library.
    pub title: String,
    /// Words that request the track ("tavern", "battle").
    pub moods: Vec<String>,
    /// Layer of the mix.
    pub layer: Layer,
    /// Repeats without a gap.
    pub is_looped: bool,
    /// Gain in dB: the sum of loudness levelling and the owner's `volume`.
    pub gain_db: f32,
    /// The author's credit.
    pub credits: Option<String>,
}

#[cfg(test)]
impl Track {
    /// Looped music with this title and file name, without anything else.
    pub fn plain(title: &str) -> Self {
        Self {
            file: title.into(),
            title: title.to_owned(),
            moods: Vec::new(),
            layer: Layer::Music,
            is_looped: true,
            gain_db: 0.0,
            credits: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    pub tracks: Vec<Arc<Track>>,
}

/// An order to a table's music.
#[derive(Clone, Debug, PartialEq)]
pub enum MusicOrder {
    /// Plays a track in its layer.
    Play(Arc<Track>),
    /// Fades everything out.
    Stop,
    /// In percent, 0 to 100.
    Volume(u8),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MusicStatus {
    /// Titles by layer, without effects.
    pub playing: Vec<(Layer, String)>,
    /// In percent, 0 to 100.
    pub volume: u8,
}

#[cfg(test)]
mod tests;
