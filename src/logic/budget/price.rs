//! Prices of calls, and spending caps.

use std::collections::BTreeMap;

use crate::domain::Money;

/// Spending caps and prices of models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetOptions {
    /// Hard cap of one session, in the price list's currency; `None`: no cap.
    pub session_max: Option<f64>,
    /// Hard cap of everything an owner spends in a month; `None`: no cap.
    pub month_max: Option<f64>,
    /// Prices by model name.
    pub prices: BTreeMap<String, Price>,
}

/// Price of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Per million tokens read.
    pub input: f64,
    /// Per million tokens read from the provider's cache.
    pub cached_input: f64,
    /// Per million tokens written to the provider's cache.
    pub cache_write: f64,
    /// Per million tokens written.
    pub output: f64,
    /// Per million tokens of sound heard.
    pub audio_input: f64,
    /// Per million tokens of sound read from the provider's cache.
    pub audio_cached: f64,
    /// Per million tokens of sound spoken.
    pub audio_output: f64,
    /// Per million characters spoken.
    pub characters: f64,
    /// Per minute of audio heard.
    pub minute: f64,
    /// Per picture made whose tokens are not counted, or have no price.
    pub picture: f64,
    /// Per search request.
    pub request: f64,
}

/// Tokens of a second of sound, as a service counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoundTokens {
    /// A second of a player's speech.
    pub received: u32,
    /// A second of an NPC's speech.
    pub spoken: u32,
    /// The words of an NPC's speech count as text besides.
    pub with_words: bool,
}

/// Consumption of a call, in billed units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Consumption {
    /// Tokens read, those from the cache included.
    pub input_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cached_tokens: u64,
    /// Of the rest, tokens written to the provider's cache.
    pub written_tokens: u64,
    /// Tokens the model has written.
    pub output_tokens: u64,
    /// Tokens of sound heard, those from the cache included; none of them is one of `input_tokens`.
    pub audio_in: u64,
    /// Of those, read from the provider's cache.
    pub audio_cached: u64,
    /// Tokens of sound spoken; none of them is one of `output_tokens`.
    pub audio_out: u64,
    /// Characters that were synthesized.
    pub characters: u64,
    /// Seconds of audio heard.
    pub seconds: f64,
    /// Pictures made.
    pub pictures: u64,
    /// Search requests.
    pub requests: u64,
}

impl BudgetOptions {
    /// Cost of `used` of `model`; a model without a price is free.
    pub fn cost(&self, model: &str, used: Consumption) -> Money {
        self.prices.get(model).map_or(Money::ZERO, |price| price.of(used))
    }

    /// Most that such a call may cost. Where tokens from the cache cost more than others, or those
    /// written to it, the service may bill any of them so.
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
