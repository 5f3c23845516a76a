//! The ambience embedded in the program; `assets/music/make.py` makes it.

use std::{path::Path, sync::Arc};

use super::{Layer, Library, Track};

/// Prefix of the paths of shipped tracks, which are no files on disk.
const PREFIX: &str = "glyphoxa:";

/// A shipped loop, at the level that other tracks are brought to.
struct Shipped {
    name: &'static str,
    title: &'static str,
    moods: &'static [&'static str],
    layer: Layer,
    /// Ogg Opus that loops without a gap.
    sound: &'static [u8],
}

const ALL: &[Shipped] = &[
    Shipped {
        name: "rain.opus",
        title: "Rain",
        moods: &["rain"],
        layer: Layer::Ambience,
        sound: include_bytes!("../../../assets/music/rain.opus"),
    },
    Shipped {
        name: "tavern.opus",
        title: "Tavern murmur",
        moods: &["tavern"],
        layer: Layer::Ambience,
        sound: include_bytes!("../../../assets/music/tavern.opus"),
    },
    Shipped {
        name: "fire.opus",
        title: "Campfire",
        moods: &["fire", "calm"],
        layer: Layer::Ambience,
        sound: include_bytes!("../../../assets/music/fire.opus"),
    },
    Shipped {
        name: "wind.opus",
        title: "Wind",
        moods: &["wind"],
        layer: Layer::Ambience,
        sound: include_bytes!("../../../assets/music/wind.opus"),
    },
    Shipped {
        name: "dungeon.opus",
        title: "Dungeon drips",
        moods: &["dungeon", "spooky"],
        layer: Layer::Ambience,
        sound: include_bytes!("../../../assets/music/dungeon.opus"),
    },
    Shipped {
        name: "drums.opus",
        title: "Battle drums",
        moods: &["battle"],
        layer: Layer::Music,
        sound: include_bytes!("../../../assets/music/drums.opus"),
    },
];

impl Library {
    pub fn shipped() -> Self {
        let track = |it: &Shipped| {
            Arc::new(Track {
                file: format!("{PREFIX}{}", it.name).into(),
                title: it.title.to_owned(),
                moods: it.moods.iter().map(|&mood| mood.to_owned()).collect(),
                layer: it.layer,
                is_looped: true,
                gain_db: 0.0,
                credits: None,
            })
        };
        Self { tracks: ALL.iter().map(track).collect() }
    }
}

/// The Ogg Opus of a shipped track; `None` for a file on disk.
pub fn shipped_sound(file: &Path) -> Option<&'static [u8]> {
    let name = file.to_str()?.strip_prefix(PREFIX)?;
    ALL.iter().find(|it| it.name == name).map(|it| it.sound)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::audio::{Loudness, SampleRate, TARGET_LUFS, decode};

    fn samples(track: &Track) -> Vec<i16> {
        let sound = shipped_sound(&track.file).unwrap();
        let mut samples = Vec::new();
        let mut take = |piece: &[i16]| {
            samples.extend_from_slice(piece);
            Ok(())
        };
        decode(Cursor::new(sound), None, Some(SampleRate::HZ_48000), &mut take).unwrap();
        samples
    }

    #[test]
    fn every_shipped_loop_meets_its_beginning() {
        for track in Library::shipped().tracks {
            let samples: Vec<i32> = samples(&track).into_iter().map(i32::from).collect();
            assert_eq!(samples.len() % 480, 0, "{}: its end is cut", track.title);
            assert!((960_000..1_920_000).contains(&samples.len()), "{}", track.title);
            let step = |pair: &[i32]| (pair[1] - pair[0]).abs();
            let largest = samples.windows(2).map(step).max().unwrap();
            let seam = step(&[samples[samples.len() - 1], samples[0]]);
            assert!(seam * 2 < largest, "{}: {seam} of {largest}", track.title);
        }
    }

    #[test]
    fn every_shipped_loop_is_as_loud_as_voices() {
        for track in Library::shipped().tracks {
            let mut loudness = Loudness::new(SampleRate::HZ_48000).unwrap();
            loudness.push(&samples(&track));
            let lufs = loudness.lufs().unwrap() + f64::from(track.gain_db);
            println!("{}: {lufs:.1} LUFS", track.title);
            assert!((lufs - f64::from(TARGET_LUFS)).abs() <= 1.0, "{}: {lufs} LUFS", track.title);
        }
    }

    #[test]
    fn shipped_loops_are_small_together() {
        let bytes: usize = ALL.iter().map(|it| it.sound.len()).sum();
        assert!(bytes <= 2_000_000, "{bytes}");
        assert_eq!(shipped_sound(Path::new("rain.opus")), None);
    }
}
