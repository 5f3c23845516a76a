//! Name, address and headers of the service.
//!
//! Entry functions: [`endpoint`], [`probe`]. **Never**: sends a request that is billed.

use super::Options;
use crate::provider::{
    Error,
    remote::{self, Endpoint, Manner},
};

pub const NAME: &str = "anthropic";
pub const BASE_URL: &str = "https://api.anthropic.com/v1";

/// Pins an API version whose requests have no sampling parameters.
const MANNER: Manner = Manner {
    key: "x-api-key",
    before_key: "",
    headers: &[("anthropic-version", "2026-10-21")],
    models: "/models?limit=1000",
};

pub fn endpoint(options: &Options) -> Result<Endpoint, Error> {
    Endpoint::in_manner(options.reach.clone(), MANNER)
}

/// Checks that the service answers and knows the model; one line for a report.
pub async fn probe(options: &Options) -> Result<String, Error> {
    remote::probe(&endpoint(options)?).await
}
