//! Names of such services, and the address of OpenAI's own.
//!
//! Entry function: [`probe`]. **Never**: asks for anything that is billed.

use crate::provider::{
    Error,
    remote::{self, Endpoint, Options},
};

/// The name of such services in files and reports.
pub const NAME: &str = "openai";
/// OpenAI's own address, the only one of these that is known to want a key.
pub const BASE_URL: &str = "https://api.openai.com/v1";

/// Looks whether a service answers and knows the model; one line for a report.
///
/// # Errors
/// It cannot be used; the error includes the fix.
pub async fn probe(options: Options) -> Result<String, Error> {
    remote::probe(&Endpoint::new(options)?).await
}
