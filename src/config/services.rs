//! Known services: default settings, and hosts that need no agreement in their own entries of
//! `providers` with their own key.
//!
//! Entry functions: [`home`], [`is_known`], [`is_own`]. The owner of an account can read everything
//! sent with its key, so other addresses always need agreement. **Never**: resolves a host.

use std::time::Duration;

use crate::provider::{
    SPEECH_FIRST_BYTE, cartesia, deepgram, elevenlabs, gemini, openai, realtime,
};

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
    /// Default timeouts.
    pub first_byte_timeout: Duration,
    pub idle_timeout: Duration,
}

impl Home {
    /// OpenAI, and services with its API.
    pub const OPENAI: Self = Self {
        base_url: openai::BASE_URL,
        variable: "OPENAI_API_KEY",
        has_sockets: false,
        model: "",
        first_byte_timeout: Duration::from_secs(15),
        idle_timeout: Duration::from_secs(10),
    };
    pub const DEEPGRAM: Self = Self {
        base_url: deepgram::BASE_URL,
        variable: "DEEPGRAM_API_KEY",
        has_sockets: true,
        model: "",
        first_byte_timeout: deepgram::FIRST_BYTE_TIMEOUT,
        idle_timeout: deepgram::IDLE_TIMEOUT,
    };
    pub const ELEVENLABS: Self = Self {
        base_url: elevenlabs::BASE_URL,
        variable: "ELEVENLABS_API_KEY",
        has_sockets: true,
        model: elevenlabs::MODEL,
        first_byte_timeout: elevenlabs::FIRST_BYTE_TIMEOUT,
        idle_timeout: elevenlabs::IDLE_TIMEOUT,
    };
    pub const CARTESIA: Self = Self {
        base_url: cartesia::BASE_URL,
        variable: "CARTESIA_API_KEY",
        model: cartesia::MODEL,
        ..Self::ELEVENLABS
    };
    /// Its voices are models of their own; what they cost is listed under its name.
    pub const DEEPGRAM_VOICES: Self = Self { model: deepgram::NAME, ..Self::DEEPGRAM };
    pub const REALTIME: Self = Self {
        base_url: realtime::BASE_URL,
        has_sockets: true,
        first_byte_timeout: SPEECH_FIRST_BYTE,
        ..Self::OPENAI
    };
    pub const GEMINI: Self =
        Self { base_url: gemini::BASE_URL, variable: "GEMINI_API_KEY", ..Self::REALTIME };
}

/// A host, and its services.
struct KnownService {
    /// Names in `providers`; the first has its default address here.
    kinds: &'static [&'static str],
    /// Words in the names of its variables; one with `_` is a whole name.
    words: &'static [&'static str],
    host: &'static str,
}

const fn known(
    kinds: &'static [&'static str],
    words: &'static [&'static str],
    host: &'static str,
) -> KnownService {
    KnownService { kinds, words, host }
}

/// Services with OpenAI's address for chat.
const LIKE_OPENAI: &[&str] = &["openai"];
const KNOWN: &[KnownService] = &[
    known(&["openai", "openai-realtime"], &["openai"], "api.openai.com"),
    known(&["openai", "openai-realtime"], &["openai"], "eu.api.openai.com"),
    known(&["anthropic"], &["anthropic", "claude"], "api.anthropic.com"),
    known(
        &["gemini", "gemini-live", "openai"],
        &["gemini", "google"],
        "generativelanguage.googleapis.com",
    ),
    known(LIKE_OPENAI, &["groq"], "api.groq.com"),
    known(LIKE_OPENAI, &["mistral"], "api.mistral.ai"),
    known(LIKE_OPENAI, &["deepseek"], "api.deepseek.com"),
    known(LIKE_OPENAI, &["openrouter"], "openrouter.ai"),
    known(LIKE_OPENAI, &["together"], "api.together.xyz"),
    known(LIKE_OPENAI, &["cerebras"], "api.cerebras.ai"),
    known(LIKE_OPENAI, &["fireworks"], "api.fireworks.ai"),
    known(LIKE_OPENAI, &["xai"], "api.x.ai"),
    known(LIKE_OPENAI, &["perplexity", "pplx"], "api.perplexity.ai"),
    known(LIKE_OPENAI, &["cohere"], "api.cohere.ai"),
    known(LIKE_OPENAI, &["nvidia"], "integrate.api.nvidia.com"),
    known(LIKE_OPENAI, &["moonshot"], "api.moonshot.ai"),
    known(LIKE_OPENAI, &["sambanova"], "api.sambanova.ai"),
    known(&["deepgram"], &["deepgram", "dg"], "api.deepgram.com"),
    known(&["deepgram"], &["deepgram", "dg"], "api.eu.deepgram.com"),
    known(&["elevenlabs", "openai"], &["eleven", "xi"], "api.elevenlabs.io"),
    known(&["cartesia"], &["cartesia"], "api.cartesia.ai"),
    known(&["brave"], &["brave"], "api.search.brave.com"),
    known(&["tavily"], &["tavily"], "api.tavily.com"),
    known(&[DISCORD], &["discord", "bot_token"], "discord.com"),
];
/// Discord, which has no entry in `providers`.
pub const DISCORD: &str = "discord";
/// Names of keys of any service.
const ANY: &[&str] =
    &["api_key", "llm_api_key", "llm_key", "stt_api_key", "stt_key", "tts_api_key", "tts_key"];

/// Host of the service `kind` without an address; `None`: it sends nothing.
pub fn home(kind: &str) -> Option<&'static str> {
    let at_home = |known: &&KnownService| known.kinds.first() == Some(&kind);
    let found = KNOWN.iter().find(at_home);
    found.or_else(|| KNOWN.iter().find(|it| it.kinds.contains(&kind))).map(|it| it.host)
}

/// True if the service `kind` has a server at `address`, encrypted and at the default port.
pub fn is_known(kind: &str, address: &str) -> bool {
    let encrypted = ["https://", "wss://"].iter().find_map(|it| address.strip_prefix(it));
    let authority = encrypted.and_then(|rest| rest.split(['/', '?', '#', '\\']).next());
    let host = authority.map(str::to_ascii_lowercase).unwrap_or_default();
    let host = host.strip_suffix(":443").unwrap_or(&host);
    KNOWN.iter().any(|known| known.host == host && known.kinds.contains(&kind))
}

/// True if `variable` is named like a key of the service `kind` at `host`.
pub fn is_own(variable: &str, kind: &str, host: &str) -> bool {
    let name = variable.to_ascii_lowercase();
    let is_one = |word: &str| match word.contains('_') {
        true => name == word,
        // A short one may be part of any word.
        false => name.split('_').any(|it| it == word) || (word.len() > 4 && name.contains(word)),
    };
    let mut here = KNOWN.iter().filter(|it| it.host == host && it.kinds.contains(&kind));
    here.any(|known| known.words.iter().any(|word| is_one(word)))
        || (kind != DISCORD && ANY.contains(&&*name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{
        ImageService, ModelService, RecogniserService, SearchService, SpeechService, VoiceService,
    };

    #[test]
    fn service_without_home_needs_an_address() {
        let all = [
            ImageService::NAMES,
            ModelService::NAMES,
            RecogniserService::NAMES,
            SearchService::NAMES,
            SpeechService::NAMES,
            VoiceService::NAMES,
        ];
        let homeless = all.concat().into_iter().filter(|kind| home(kind).is_none());
        let mut homeless: Vec<_> = homeless.collect();
        homeless.sort_unstable();
        homeless.dedup();
        // These are on this network or machine.
        let at_home =
            ["espeak", "flite", "kokoro", "local", "piper", "scripted", "searxng", "wyoming"];
        assert_eq!(homeless, at_home);
    }

    #[test]
    fn host_is_known_by_its_service_alone() {
        assert!(is_known("openai", "https://api.groq.com/openai/v1"));
        assert!(is_known("openai-realtime", "wss://api.openai.com:443/v1"));
        let others = [
            ("anthropic", "https://api.openai.com"),
            ("openai", "https://discord.com/api/webhooks/1"),
            ("openai", "http://api.openai.com"),
            ("openai", "https://api.openai.com:8443"),
            ("openai", "https://api.openai.com@words.example"),
            ("openai", "https://api.openai.com.words.example"),
        ];
        for (kind, address) in others {
            assert!(!is_known(kind, address), "{kind} {address}");
        }
    }

    #[test]
    fn variable_belongs_to_the_service_it_names() {
        let own = [
            ("OPENAI_API_KEY", "openai", "api.openai.com"),
            ("CLAUDE_API_KEY", "anthropic", "api.anthropic.com"),
            ("XI_API_KEY", "openai", "api.elevenlabs.io"),
            ("MY_DISCORD_TOKEN", DISCORD, "discord.com"),
            ("BOT_TOKEN", DISCORD, "discord.com"),
            ("LLM_KEY", "openai", "api.groq.com"),
        ];
        for (variable, kind, host) in own {
            assert!(is_own(variable, kind, host), "{variable}");
        }
        let others = [
            ("OPENAI_API_KEY", "openai", "api.groq.com"),
            ("AWS_SECRET_ACCESS_KEY", "openai", "api.openai.com"),
            ("GLYPHOXA_SECRET", "openai", "api.openai.com"),
            ("PROXIMITY_KEY", "openai", "api.elevenlabs.io"),
            ("TELEGRAM_BOT_TOKEN", DISCORD, "discord.com"),
            ("API_KEY", DISCORD, "discord.com"),
        ];
        for (variable, kind, host) in others {
            assert!(!is_own(variable, kind, host), "{variable}");
        }
    }
}
