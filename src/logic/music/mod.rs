//! Music and ambience: the tracks of a table, orders to play them, and how they sound together.
//!
//! Entry types: [`Track`], [`Library`], [`MusicOrder`], and [`Mixer`], which makes their sound.
//! **Never**: opens or decodes a file.

mod library;
mod limiter;
mod mixer;
mod moods;
mod playing;
mod shipped;
mod wish;

use std::{path::PathBuf, sync::Arc};

use serde::Serialize;

pub use mixer::{Mixer, MusicFrame};
pub use playing::Samples;
pub use shipped::shipped_sound;
pub use wish::{MusicWish, WishContext, wishes, wishes_within};

/// Layer of the mix that a track sounds in. A new track replaces only the one in its own layer; effects
/// sound once, beside everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// One piece at a time, crossfaded.
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

/// One sound file of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The file; of a shipped track a name that [`shipped_sound`] knows.
    pub file: PathBuf,
    /// Shown to people; unique within a library.
    pub title: String,
    /// Words by which models and people ask for it ("tavern", "battle").
    pub moods: Vec<String>,
    /// Its layer.
    pub layer: Layer,
    /// It begins again at its end, without a gap.
    pub is_looped: bool,
    /// Added to its level, in dB: the sum of loudness levelling and the owner's `volume`.
    pub gain_db: f32,
    /// Author to thank.
    pub credits: Option<String>,
}

#[cfg(test)]
impl Track {
    /// Looped music of this title with nothing else to it; its file has that name too.
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

/// All tracks that a table may play.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    /// In the order in which they are listed.
    pub tracks: Vec<Arc<Track>>,
}

/// An order to the music of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum MusicOrder {
    /// Plays a track in its layer.
    Play(Arc<Track>),
    /// Fades everything out.
    Stop,
    /// Sets the volume, 0 to 100 percent.
    Volume(u8),
}

/// Music at a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MusicStatus {
    /// Titles, by layer; effects are left out.
    pub playing: Vec<(Layer, String)>,
    /// 0 to 100 percent.
    pub volume: u8,
}

#[cfg(test)]
mod tests;
