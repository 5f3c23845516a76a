//! Errors of reading archives.
//!
//! Entry type: [`ArchiveError`].

/// Reason an archive was refused. Its text does not repeat the member's name: that is the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    #[error("damaged or incomplete ZIP: {0}")]
    Broken(String),
    #[error("the ZIP has more than {0} files")]
    Members(usize),
    #[error("the path of this file leads out of the ZIP")]
    Outside(String),
    #[error("this is a link or a device, not a file")]
    Link(String),
    #[error("this file is encrypted")]
    Encrypted(String),
    #[error("this file is packed by a method other than 'deflate'")]
    Method(String),
    #[error("this file unpacks to far more than its size in the ZIP")]
    Bomb(String),
    #[error("the files in the ZIP are larger than {} MB together", .0 / 1_000_000)]
    Inflated(u64),
}

impl ArchiveError {
    /// Name of the member that has the fault, if it is one's.
    pub fn member(&self) -> Option<&str> {
        match self {
            Self::Broken(_) | Self::Members(_) | Self::Inflated(_) => None,
            Self::Outside(name)
            | Self::Link(name)
            | Self::Encrypted(name)
            | Self::Method(name)
            | Self::Bomb(name) => Some(name),
        }
    }

    pub fn way_out(&self) -> &'static str {
        match self {
            Self::Broken(_) => "export or download it again",
            Self::Members(_) | Self::Inflated(_) => "split it, or leave pictures and sound out",
            Self::Outside(_) | Self::Link(_) => "pack the folder again, without links",
            Self::Encrypted(_) => "pack it again without a password",
            Self::Method(_) => "unpack it and import the folder",
            Self::Bomb(_) => "leave this file out",
        }
    }
}
