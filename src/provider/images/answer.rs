//! Answers of picture services: their files and their counts.
//!
//! Entry functions: [`parsed`], [`picture`], [`used`]. **Never**: believes a count that cannot be true.

use serde_json::Value;
use tokio::task::spawn_blocking;

use super::clean::cleaned;
use crate::{
    logic::budget::Consumption,
    provider::{Bound, Kind, NoPicture, Picture, bounds::VALUES, remote::Endpoint},
};

/// Fewest output tokens that a service can have counted for a picture.
const FEWEST_TOKENS: u64 = 64;
/// Most tokens that a service can have counted for one.
const MOST_TOKENS: u64 = 200_000;

/// An answer, and what `read` takes out of it; nothing of what is no JSON. Both are done off the runtime,
/// for pictures are large. Cancel safe.
///
/// # Errors
/// It has more values than an answer may have.
pub async fn parsed<T: Default + Send + 'static>(
    bytes: Vec<u8>,
    read: impl FnOnce(&Value) -> T + Send + 'static,
) -> Result<(Value, T), Bound> {
    let work = move || {
        VALUES.check_values(&bytes)?;
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let found = read(&answer);
        Ok((answer, found))
    };
    spawn_blocking(work).await.unwrap_or_else(|_| Ok(Default::default()))
}

/// A picture, or tokens of a refusal, as a service counts them: none of what cannot be true.
pub fn used(pictures: u64, input_tokens: Option<u64>, output_tokens: Option<u64>) -> Consumption {
    let counted = input_tokens.unwrap_or_default().min(MOST_TOKENS);
    let made = output_tokens.unwrap_or_default();
    let is_credible = pictures == 0 || (FEWEST_TOKENS..=MOST_TOKENS).contains(&made);
    let output_tokens = if is_credible { made.min(MOST_TOKENS) } else { 0 };
    Consumption { pictures, input_tokens: counted, output_tokens, ..Consumption::default() }
}

/// The file `bytes` of a service as a picture that may be shown; anything else is the service's fault.
///
/// # Errors
/// [`Kind::Protocol`]: the file is no picture within the bounds.
pub async fn picture(
    endpoint: &Endpoint,
    bytes: Vec<u8>,
    used: Consumption,
) -> Result<Picture, NoPicture> {
    match cleaned(bytes).await {
        Ok((bytes, mime)) => Ok(Picture { bytes, mime, used }),
        Err(why) => {
            let why = format!("no usable picture: {why}");
            Err(endpoint.peer.error(Kind::Protocol, &why, "try another model").into())
        }
    }
}
