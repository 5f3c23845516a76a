//! Tokens and their prices.
//!
//! Entry types: [`Usage`], [`Prices`]. Text counts its bytes by 4.

/// Prices of a million tokens.
#[derive(Clone, Copy, Debug)]
pub struct Prices {
    /// Text that is read.
    pub input: f64,
    /// Text that is read from the cache.
    pub cached_input: f64,
    /// Text that is written.
    pub output: f64,
    /// Sound that is heard.
    pub audio_input: f64,
    /// Sound that is heard from the cache.
    pub audio_cached: f64,
    /// Sound that is spoken.
    pub audio_output: f64,
}

impl Prices {
    /// The value of a `price` key.
    pub fn entry(&self) -> String {
        format!(
            "{{ input: {}, cached_input: {}, output: {}, audio_input: {}, audio_cached: {}, \
             audio_output: {} }}",
            self.input,
            self.cached_input,
            self.output,
            self.audio_input,
            self.audio_cached,
            self.audio_output
        )
    }
}

/// Tokens of one answer; cached ones are part of those that are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub text_in: u64,
    pub text_cached: u64,
    pub audio_in: u64,
    pub audio_cached: u64,
    pub text_out: u64,
    pub audio_out: u64,
}

impl Usage {
    /// Its cost at `prices`.
    pub fn cost(&self, prices: &Prices) -> f64 {
        let parts = [
            (self.text_in - self.text_cached, prices.input),
            (self.text_cached, prices.cached_input),
            (self.audio_in - self.audio_cached, prices.audio_input),
            (self.audio_cached, prices.audio_cached),
            (self.text_out, prices.output),
            (self.audio_out, prices.audio_output),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>() / 1e6
    }
}

/// Tokens of so many bytes of text.
pub fn text_tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// Tokens of sound of so many milliseconds, at so many a second.
pub fn sound_tokens(milliseconds: u64, a_second: u64) -> u64 {
    (milliseconds * a_second).div_ceil(1_000)
}
