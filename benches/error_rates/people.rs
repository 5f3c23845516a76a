//! Recordings of people, in the pieces in which a table would hand them on.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::sounds::{Condition, wav};

/// Longest piece of a recording that is heard at once, as a table cuts speech: ten seconds.
const PIECE: usize = 160_000;

/// Speech of a person.
pub struct Recording {
    /// Word for word.
    pub said: String,
    sound: Vec<f32>,
}

/// The folders of recordings: the list in `GLYPHOXA_PEOPLE`.
pub fn folders() -> Vec<PathBuf> {
    env::var_os("GLYPHOXA_PEOPLE").map_or_else(Vec::new, |list| env::split_paths(&list).collect())
}

/// The `NAME.wav` of a folder that have a `NAME.txt`.
pub fn recordings(folder: &Path) -> Vec<Recording> {
    let files = fs::read_dir(folder).expect("GLYPHOXA_PEOPLE names folders");
    let mut files: Vec<PathBuf> = files.filter_map(|it| Some(it.ok()?.path())).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "wav"));
    files.sort();
    let recording = |file: &PathBuf| {
        let said = fs::read_to_string(file.with_extension("txt")).ok()?.trim().to_owned();
        Some(Recording { said, sound: wav(&fs::read(file).expect("a readable file")) })
    };
    files.iter().filter_map(recording).collect()
}

impl Recording {
    /// It in pieces as pauses end them: of at most ten seconds, cut at the quietest 200 ms.
    pub fn pieces(&self, condition: Condition) -> Vec<Vec<i16>> {
        let whole = condition.of(&self.sound);
        let mut sound = whole.as_slice();
        let loudness = |window: &[i16]| window.iter().map(|it| f64::from(*it).powi(2)).sum::<f64>();
        let mut pieces = Vec::new();
        while sound.len() > PIECE {
            let places = (PIECE / 3..PIECE - 3_200).step_by(160);
            let quiet = |at: &usize| loudness(sound.get(*at..at + 3_200).unwrap_or_default());
            let at = places.min_by(|a, b| quiet(a).total_cmp(&quiet(b))).unwrap_or(PIECE);
            let (piece, rest) = sound.split_at(at + 1_600);
            pieces.push(piece.to_vec());
            sound = rest;
        }
        pieces.push(sound.to_vec());
        pieces
    }
}
