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
    /// The first of those, at most so many of a set.
    pub most: usize,
    /// Folder in which the speech of the voices is saved.
    pub kept: Option<PathBuf>,
}

impl Wanted {
    /// Reads `--by`, `--set`, `--voice` and `--sound`, each with the beginning of a name and as often as
    /// wanted, `--every N`, `--keep FOLDER` and `--quick`. What else there is belongs to cargo.
    pub fn of_arguments() -> Self {
        let mut wanted = Self { every: 1, most: usize::MAX, ..Self::default() };
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
                "--every" => {
                    let number = arguments.next().and_then(|it| it.parse().ok());
                    wanted.every = number.expect("a number of sentences");
                    continue;
                }
                "--quick" => {
                    wanted.most = 2;
                    continue;
                }
                _ => continue,
            };
            list.extend(arguments.next());
        }
        if wanted.most < usize::MAX {
            wanted.fill_up();
        }
        wanted
    }

    /// Where nothing is chosen, two sets by two voices are enough to see that it runs.
    fn fill_up(&mut self) {
        for (list, few) in [
            (&mut self.sets, &["dice", "german"][..]),
            (&mut self.voices, &["flite slt", "espeak-ng"][..]),
            (&mut self.sounds, &["clean"][..]),
        ] {
            if list.is_empty() {
                list.extend(few.iter().map(|it| (*it).to_owned()));
            }
        }
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
