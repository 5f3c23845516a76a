//! Keys of music in `glyphoxa.yaml` and in `music.yaml`.

use super::TEXT_OR_TEXTS;
use crate::yaml::{Key, Kind, Shape};

pub static MUSIC: Shape = Shape {
    title: "Music",
    keys: &[Key::new(
        "dirs",
        TEXT_OR_TEXTS,
        "Folders of sound files, relative to this file; the name of a folder inside is a mood. \
         Default: `music` beside this file, if it exists.",
    )],
};

pub static FILE: Shape = Shape {
    title: "Music of a folder",
    keys: &[Key::required(
        "tracks",
        Kind::List(&Kind::Shape(&TRACK)),
        "Files of this folder; those left out are played as they are.",
    )],
};

pub static TRACK: Shape = Shape {
    title: "A track",
    keys: &[
        Key::required("file", Kind::Filled, "Name of the file, in this folder."),
        Key::new(
            "moods",
            TEXT_OR_TEXTS,
            "Words that find it, in any language; default: the names of its folders.",
        ),
        Key::new("title", Kind::Filled, "Title shown to people; default: the file's name."),
        Key::new(
            "volume",
            Kind::Whole { min: 1, max: 400 },
            "Percent of the levelled volume: 50 is 6 dB less, 200 is 6 dB more; default 100.",
        ),
        Key::new(
            "loop",
            Kind::Flag,
            "It begins again at its end; default true, but false for an effect.",
        ),
        Key::new(
            "layer",
            Kind::Word(&["music", "ambience", "effect"]),
            "music and ambience replace what plays in the same layer, an effect sounds once beside \
             both. Default music; in a folder called ambience or effects that one.",
        ),
        Key::new("credits", Kind::Filled, "Author and licence."),
    ],
};
