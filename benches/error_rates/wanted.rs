//! Choice of the measurements.

use std::{env, path::PathBuf};

/// Lists from the command line; an empty one is everything.
#[derive(Default)]
pub struct Wanted {
    recognisers: Vec<String>,
    sets: Vec<String>,
    voices: Vec<String>,
    sounds: Vec<String>,
    /// Every so many of a voice's sentences.
    pub every: usize,
    /// Folder in which the speech of the voices is saved.
    pub kept: Option<PathBuf>,
}

impl Wanted {
    /// Reads `--by`, `--set`, `--voice` and `--sound`, each with the beginning of a name and as often as
    /// wanted, `--keep FOLDER` and `--quick`. What else there is belongs to cargo.
    pub fn of_arguments() -> Self {
        let mut wanted = Self { every: 1, ..Self::default() };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let list = match argument.as_str() {
                "--by" => &mut wanted.recognisers,
                "--set" => &mut wanted.sets,
                "--voice" => &mut wanted.voices,
                "--sound" => &mut wanted.sounds,
                "--keep" => {
                    wanted.kept = arguments.next().map(PathBuf::from);
                    continue;
                }
                "--quick" => {
                    wanted.every = 4;
                    continue;
                }
                _ => continue,
            };
            list.extend(arguments.next());
        }
        wanted
    }

    /// True if this recogniser is to be measured.
    pub fn recogniser(&self, name: &str) -> bool {
        is_in(&self.recognisers, name)
    }

    /// True if this set of sentences is to be measured.
    pub fn set(&self, name: &str) -> bool {
        is_in(&self.sets, name)
    }

    /// True if this voice is to be measured.
    pub fn voice(&self, name: &str) -> bool {
        is_in(&self.voices, name)
    }

    /// True if this sound (clean, noisy, from afar) is to be measured.
    pub fn sound(&self, name: &str) -> bool {
        is_in(&self.sounds, name)
    }
}

fn is_in(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|beginning| name.starts_with(beginning.as_str()))
}
