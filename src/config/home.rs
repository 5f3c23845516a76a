//! Default addresses of services that need a key. Entry type: [`Home`].

use crate::provider::{deepgram, gemini, openai, realtime};

#[derive(Clone, Copy)]
pub struct Home {
    /// Default address.
    pub base_url: &'static str,
    /// The usual variable of its key.
    pub variable: &'static str,
    /// Uses WebSockets.
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
    pub const DEEPGRAM: Self = Self {
        base_url: deepgram::BASE_URL,
        variable: "DEEPGRAM_API_KEY",
        has_sockets: true,
        model: "",
    };
    pub const REALTIME: Self =
        Self { base_url: realtime::BASE_URL, has_sockets: true, ..Self::OPENAI };
    pub const GEMINI: Self = Self {
        base_url: gemini::BASE_URL,
        variable: "GEMINI_API_KEY",
        has_sockets: true,
        model: "",
    };
}
