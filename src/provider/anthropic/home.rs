//! Name and address of the service, and how it wants to be asked.
//!
//! Entry functions: [`endpoint`], [`probe`]. **Never**: asks for anything that is billed.

use super::Options;
use crate::provider::{
    Error,
    remote::{self, Endpoint, Manner},
};

/// The name of the service in files and reports.
pub const NAME: &str = "anthropic";
/// Its own address.
pub const BASE_URL: &str = "https://api.anthropic.com/v1";

/// The version of the API that is spoken: in it no request has sampling parameters.
const MANNER: Manner = Manner {
    key: "x-api-key",
    before_key: "",
    headers: &[("anthropic-version", "2026-10-21")],
    models: "/models?limit=1000",
};

/// The way to the service.
///
/// # Errors
/// An address or key that cannot be used.
pub fn endpoint(options: &Options) -> Result<Endpoint, Error> {
    Endpoint::in_manner(options.reach.clone(), MANNER)
}

/// Looks whether the service answers and knows the model; one line for a report.
///
/// # Errors
/// It cannot be used; the error includes the fix.
pub async fn probe(options: &Options) -> Result<String, Error> {
    remote::probe(&endpoint(options)?).await
}
