//! Default addresses of services that require a key.
//!
//! Entry type: [`Home`].

use crate::provider::{deepgram, gemini, openai, realtime};

/// Address of a known service that needs a key.
#[derive(Clone, Copy)]
pub struct Home {
    /// Its own address, used where none is given.
    pub base_url: &'static str,
    /// The variable that its key is mostly kept in.
    pub variable: &'static str,
    /// It is reached by sockets.
    pub has_sockets: bool,
    /// Default model; empty: the entry must name one.
    pub model: &'static str,
}

impl Home {
    /// OpenAI, and services with its API.
    pub const OPENAI: Self = Self {
        base_url: openai::BASE_URL,
        variable: "OPENAI_API_KEY",
        has_sockets: false,
        model: "",
    };
    /// Deepgram.
    pub const DEEPGRAM: Self = Self {
        base_url: deepgram::BASE_URL,
        variable: "DEEPGRAM_API_KEY",
        has_sockets: true,
        model: "",
    };
    /// OpenAI's speech-to-speech models.
    pub const REALTIME: Self =
        Self { base_url: realtime::BASE_URL, has_sockets: true, ..Self::OPENAI };
    /// Gemini's speech-to-speech models.
    pub const GEMINI: Self = Self {
        base_url: gemini::BASE_URL,
        variable: "GEMINI_API_KEY",
        has_sockets: true,
        model: "",
    };
}
