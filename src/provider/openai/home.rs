//! Name and address of OpenAI-compatible services.
//!
//! Entry function: [`probe`]. **Never**: sends a request that is billed.

use crate::provider::{
    Error,
    remote::{self, Endpoint, Options},
};

pub const NAME: &str = "openai";
/// OpenAI's own address, the only one known to require a key.
pub const BASE_URL: &str = "https://api.openai.com/v1";

/// Checks that a service answers and knows the model; one line for a report.
pub async fn probe(options: Options) -> Result<String, Error> {
    remote::probe(&Endpoint::new(options)?).await
}
