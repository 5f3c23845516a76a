//! Finding tracks by words.

use std::sync::Arc;

use super::{Library, Track};
use crate::logic::words::fold;

impl Library {
    /// The tracks that `words` ask for by title or mood, the best first.
    pub fn find(&self, words: &str) -> Vec<Arc<Track>> {
        let wanted = fold(words);
        let is_meant = |track: &&Arc<Track>| {
            fold(&track.title) == wanted || track.moods.iter().any(|mood| fold(mood) == wanted)
        };
        self.tracks.iter().filter(is_meant).cloned().collect()
    }
}
