//! Prices of calls, and spending caps.

use std::collections::BTreeMap;

use crate::domain::Money;

/// Spending caps and prices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetOptions {
    /// Cap of one session, in the price list's currency.
    pub session_max: Option<f64>,
    /// Cap of an owner's month, over all sessions.
    pub month_max: Option<f64>,
    /// By model name.
    pub prices: BTreeMap<String, Price>,
}

/// Price of one model, in units of the currency: per million tokens or characters, per minute, per
/// picture, per request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    pub input: f64,
    pub cached_input: f64,
    pub cache_write: f64,
    pub output: f64,
    /// Sound heard.
    pub audio_input: f64,
    /// Sound read from the provider's cache.
    pub audio_cached: f64,
    /// Sound spoken.
    pub audio_output: f64,
    pub characters: f64,
    pub minute: f64,
    /// For pictures without a token count or token price.
    pub picture: f64,
    pub request: f64,
}

/// Tokens per second of sound, as a service counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoundTokens {
    pub received: u32,
    pub spoken: u32,
    /// An NPC's words also count as text.
    pub with_words: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Consumption {
    /// Includes `cached_tokens` and `written_tokens`.
    pub input_tokens: u64,
    pub cached_tokens: u64,
    /// Written to the provider's cache.
    pub written_tokens: u64,
    pub output_tokens: u64,
    /// Includes `audio_cached`; not part of `input_tokens`.
    pub audio_in: u64,
    pub audio_cached: u64,
    /// Not part of `output_tokens`.
    pub audio_out: u64,
    /// Characters synthesised.
    pub characters: u64,
    /// Seconds of sound heard, or spoken by a voice service.
    pub seconds: f64,
    pub pictures: u64,
    pub requests: u64,
}

impl BudgetOptions {
    /// Cost of `used`; zero for a model without a price.
    pub fn cost(&self, model: &str, used: Consumption) -> Money {
        self.prices.get(model).map_or(Money::ZERO, |price| price.of(used))
    }

    /// The most that a call may cost, with any input at the dearest of plain, cached and written
    /// rates.
    pub fn bound(&self, model: &str, expected: Consumption) -> Money {
        let Some(price) = self.prices.get(model) else { return Money::ZERO };
        let write = if expected.written_tokens > 0 { price.cache_write } else { 0.0 };
        let input = price.input.max(price.cached_input).max(write);
        let audio_input = price.audio_input.max(price.audio_cached);
        let expected =
            Consumption { cached_tokens: 0, written_tokens: 0, audio_cached: 0, ..expected };
        Price { input, audio_input, ..*price }.of(expected)
    }
}

impl Price {
    fn of(&self, used: Consumption) -> Money {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let number = |count: u64| count as f64;
        let millions = |count: u64| number(count) / 1e6;
        let cached = used.cached_tokens.min(used.input_tokens);
        let written = used.written_tokens.min(used.input_tokens - cached);
        let audio_cached = used.audio_cached.min(used.audio_in);
        let by_tokens = self.output > 0.0 && used.output_tokens > 0;
        let pictures = if by_tokens { 0 } else { used.pictures };
        Money::of(
            millions(used.input_tokens - cached - written) * self.input
                + millions(cached) * self.cached_input
                + millions(written) * self.cache_write
                + millions(used.output_tokens) * self.output
                + millions(used.audio_in - audio_cached) * self.audio_input
                + millions(audio_cached) * self.audio_cached
                + millions(used.audio_out) * self.audio_output
                + millions(used.characters) * self.characters
                + used.seconds / 60.0 * self.minute
                + number(pictures) * self.picture
                + number(used.requests) * self.request,
        )
    }
}
