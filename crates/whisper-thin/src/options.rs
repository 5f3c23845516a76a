//! Options of a transcription, and its result.

use crate::window::Window;

/// Settings of one transcription.
#[derive(Clone, Debug, PartialEq)]
pub struct Options<'a> {
    /// Text that the model takes to have been said before: names and words it could not know, as in "Names:
    /// Thorin, Elara. Fireball." Of a long one the last 223 tokens count; empty for none.
    pub prompt: &'a str,
    /// Code of the language, `"de"`. `None`: a multilingual model finds out (which costs one token's time when there
    /// is a prompt), an English one hears English.
    pub language: Option<&'a str>,
    /// Part of the encoder's window that is computed.
    pub window: Window,
    /// Threads that work at the same time, the caller's own included; 1 spawns none, 0 counts as 1.
    pub threads: usize,
    /// Most tokens of a text; besides this bound there are at most 8 and another 10 per second of sound.
    pub max_tokens: usize,
    /// Search for a likelier text where the likeliest tokens make no likely one. `None`: never.
    pub search: Option<Search>,
    /// Threshold of the mean log-probability: below it, or after a guard has cut the text, sound
    /// with speech is transcribed again with [`Window::Full`]. `None`: never.
    pub fall_back_below: Option<f32>,
}

impl Default for Options<'_> {
    /// No prompt, the language found out, the thinned window, one thread, at most 224 tokens, no second try of any kind.
    fn default() -> Self {
        Self {
            prompt: "",
            language: None,
            window: Window::default(),
            threads: 1,
            max_tokens: 224,
            search: None,
            fall_back_below: None,
        }
    }
}

/// A second look at the same sound, where the first was unsure: several texts are followed at once, and the
/// likeliest is taken. It costs as many times a text's decoding as texts are followed, and no encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Texts that are followed; 0 counts as 1.
    pub beams: usize,
    /// It is done when the mean log-probability is below this, or a guard has cut the text, and there is speech.
    pub below: f32,
}

impl Search {
    /// True if what was heard at first is unsure.
    #[must_use]
    pub fn is_wanted(&self, mean_log_probability: f32, cut_by_guard: Option<Guard>) -> bool {
        cut_by_guard.is_some() || mean_log_probability < self.below
    }
}

/// Reason for a text cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The model repeated itself: the same up to 12 tokens three times in a row, one or two tokens five times. The text
    /// ends after the first time.
    Loop,
    /// The text had more tokens than [`Options::max_tokens`] or the length of the sound allows.
    Length,
}

/// Result of a transcription.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// The text, without blanks around it.
    pub text: String,
    /// The tokens of the text, without those that direct the decoder.
    pub tokens: Vec<u32>,
    /// Probability (0 to 1) that there is no speech, as the model sees it before the first token.
    pub no_speech: f32,
    /// Mean of the natural logarithms of the probabilities of all tokens and the end; 0 is certain, below -1 is
    /// guessing.
    pub mean_log_probability: f32,
    /// The guard that has cut the text short, if any.
    pub cut_by_guard: Option<Guard>,
    /// Code of the language, asked for or found.
    pub language: String,
    /// True if this is the second try, with the full window.
    pub fell_back: bool,
    /// True if it was sought as [`Options::search`] says.
    pub searched: bool,
}

impl Transcript {
    /// True if this is more likely made up from silence or noise than heard: `no_speech` above 0.9, or above 0.6
    /// while `mean_log_probability` is below -0.5. The README says what it catches; a voice detector in front is
    /// still needed.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.no_speech > 0.9 || self.no_speech > 0.6 && self.mean_log_probability < -0.5
    }
}
