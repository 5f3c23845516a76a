//! Options of a transcription, and its result.

use crate::window::Window;

/// Settings of one transcription.
#[derive(Clone, Debug, PartialEq)]
pub struct Options<'a> {
    /// Text that the model takes for what was said before: names and words it cannot know, as in
    /// "Names: Thorin, Elara. Fireball." Only the last 223 tokens count.
    pub prompt: &'a str,
    /// Code of the language, `"de"`. `None`: a multilingual model detects it (which costs one
    /// token's time with a prompt), an English one hears English.
    pub language: Option<&'a str>,
    /// Part of the encoder's window that is computed.
    pub window: Window,
    /// Threads that work at the same time, the caller's own included; 1 spawns none, 0 counts as 1.
    pub threads: usize,
    /// Most tokens of a text, besides the limit of 8 and another 10 per second of sound.
    pub max_tokens: usize,
    /// Search for a likelier text if the greedy one is unsure. `None`: never.
    pub search: Option<Search>,
    /// Mean log-probability below which sound with speech is transcribed again with
    /// [`Window::Full`], as after a guard has cut the text. `None`: never.
    pub fall_back_below: Option<f32>,
}

impl Default for Options<'_> {
    /// No prompt, language detection, the thinned window, one thread, at most 224 tokens, no second
    /// try.
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

/// Beam search over the same sound if the first text was unsure. Costs a text's decoding once per
/// beam, and no encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Texts followed at once; 0 counts as 1.
    pub beams: usize,
    /// Searches if the mean log-probability is below this, or a guard has cut the text, and there
    /// is speech.
    pub below: f32,
}

impl Search {
    /// True if the first text is unsure.
    #[must_use]
    pub fn is_wanted(&self, mean_log_probability: f32, cut_by_guard: Option<Guard>) -> bool {
        cut_by_guard.is_some() || mean_log_probability < self.below
    }
}

/// Reason for a text cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The model repeated itself: up to 12 tokens three times in a row, or one or two tokens five
    /// times. The text ends after the first time.
    Loop,
    /// The text had more tokens than [`Options::max_tokens`] or the length of the sound allows.
    Length,
}

/// Result of a transcription.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// The text, without blanks around it.
    pub text: String,
    /// The tokens of the text, without special ones.
    pub tokens: Vec<u32>,
    /// Probability (0 to 1) of no speech, from the scores before the first token.
    pub no_speech: f32,
    /// Mean of the natural log-probabilities of all tokens and the end; 0 is certain, below -1 is
    /// guessing.
    pub mean_log_probability: f32,
    /// The guard that cut the text short.
    pub cut_by_guard: Option<Guard>,
    /// Code of the language, requested or detected.
    pub language: String,
    /// True for a second try with the full window.
    pub fell_back: bool,
    /// True if [`Options::search`] found it.
    pub searched: bool,
}

impl Transcript {
    /// True if this is more likely made up from silence or noise than heard: `no_speech` above 0.9,
    /// or above 0.6 with `mean_log_probability` below -0.5. The README says which sounds it
    /// catches; a voice detector in front is still needed.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.no_speech > 0.9 || self.no_speech > 0.6 && self.mean_log_probability < -0.5
    }
}
