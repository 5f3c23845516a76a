//! Answers of picture services: their files and token counts.
//!
//! Entry functions: [`parsed`], [`picture`], [`used`]. **Never**: believes an implausible count.

use serde_json::Value;
use tokio::task::spawn_blocking;

use super::clean::cleaned;
use crate::{
    logic::budget::Consumption,
    provider::{Bound, Kind, NoPicture, Picture, bounds::VALUES, remote::Endpoint},
};

/// Fewest plausible output tokens for a picture.
const FEWEST_TOKENS: u64 = 64;
/// Most plausible output tokens for a picture.
const MOST_TOKENS: u64 = 200_000;

/// Parses an answer and applies `read`; the default if it is no JSON. Runs off the runtime, because
/// pictures are large. Fails if the answer has too many values. Cancel safe.
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

/// Use for pictures or a refusal, without implausible counts.
pub fn used(pictures: u64, input_tokens: Option<u64>, output_tokens: Option<u64>) -> Consumption {
    let counted = input_tokens.unwrap_or_default().min(MOST_TOKENS);
    let made = output_tokens.unwrap_or_default();
    let is_credible = pictures == 0 || (FEWEST_TOKENS..=MOST_TOKENS).contains(&made);
    let output_tokens = if is_credible { made.min(MOST_TOKENS) } else { 0 };
    Consumption { pictures, input_tokens: counted, output_tokens, ..Consumption::default() }
}

/// Re-encodes `bytes`. A file that is no picture within the bounds is a [`Kind::Protocol`] error.
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
