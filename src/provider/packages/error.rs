//! Errors of package downloads.

use crate::{
    provider::outbound::Refused,
    weights::{Digest, InstallError},
};

/// Reason model files were not downloaded; none of them is in place then.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// Nothing is sent there.
    #[error("Glyphoxa may not contact {address}: {why} (name another place in models.sources)")]
    Refused {
        /// Without what is secret.
        address: String,
        /// Reason for the refusal.
        why: Refused,
    },
    /// No connection came about.
    #[error(
        "{address} cannot be reached: {why} (is this machine online? models.index, models.npm, \
         models.hugging_face and models.sources name other places)"
    )]
    Unreachable {
        /// Without what is secret.
        address: String,
        /// The innermost reason.
        why: String,
    },
    /// It answers with an error.
    #[error("{address} answers with {status} (name another place in models.sources)")]
    Status {
        /// Without what is secret.
        address: String,
        /// The status code of HTTP.
        status: u16,
    },
    /// It sends us on and on.
    #[error("{0} redirects too often (name another place in models.sources)")]
    Redirects(String),
    /// The list of a registry cannot be read.
    #[error("{address} lists no files: {why} (does models.index name a package index?)")]
    List {
        /// Without what is secret.
        address: String,
        /// The problem, in a few words.
        why: &'static str,
    },
    /// A registry does not have the package, or not any more.
    #[error("{address} does not list {file} (name another place in models.sources)")]
    NotListed {
        /// Without what is secret.
        address: String,
        /// Name of the package's file.
        file: String,
    },
    /// It is not the package that is meant.
    #[error(
        "{file} is not the expected package: {why} (nothing was installed; name another place in \
         models.sources)"
    )]
    Other {
        /// Name of the package's file.
        file: String,
        /// Difference that was found.
        why: Difference,
    },
    /// The connection broke, and again.
    #[error(
        "{file} stopped after {have} of {bytes} bytes: {why} (the download so far is kept: try \
         again to resume)"
    )]
    Cut {
        /// Name of the package's file.
        file: String,
        /// Bytes that came.
        have: u64,
        /// Bytes that there are of it.
        bytes: u64,
        /// The innermost reason.
        why: String,
    },
    /// Neither the registry has the files, nor their publisher.
    #[error("{registry}; their publisher: {publisher}")]
    Nowhere {
        /// Error of the registry.
        registry: Box<GetError>,
        /// Error of the publisher.
        publisher: Box<GetError>,
    },
    /// It cannot be put in place.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// A fault of the program itself.
    #[error("internal error: {0} (try again; if it persists, please report it)")]
    Fault(#[from] tokio::task::JoinError),
}

impl GetError {
    /// True if another place may have what this one has not.
    pub(super) const fn is_of_origin(&self) -> bool {
        !matches!(self, Self::Install(_) | Self::Fault(_))
    }
}

/// Difference between a package and its description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// The server says so before it sends it.
    #[error("it has {0} bytes instead of {1}")]
    Length(u64, u64),
    /// It goes on.
    #[error("it has more than {0} bytes")]
    Longer(u64),
    /// The registry says so.
    #[error("the index gives its sha256 as {0}")]
    Listed(String),
    /// It has come, and is another one.
    #[error("its sha256 is {0} instead of {1}")]
    Hash(Digest, Digest),
}
