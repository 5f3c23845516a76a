//! Keys of services: `providers`, the embedder of tools, and prices.

use super::{MONEY, WAIT, npc::REPLACEMENT};
use crate::{
    provider::{
        ImageService, ModelService, RecogniserService, Safe, SearchService, SpeechService,
        VoiceService, openai::SoundFormat,
    },
    yaml::{Key, Kind, Shape},
};

pub static PROVIDERS: Shape = Shape {
    title: "Providers",
    keys: &[
        Key::new(
            "stt",
            Kind::Either(&[Kind::Shape(&STT), Kind::List(&Kind::Shape(&STT))]),
            "Speech to text, or several services in order of preference: if one fails, the next one \
             gets the whole utterance.",
        ),
        Key::new(
            "llm",
            Kind::Either(&[Kind::Shape(&LLM), Kind::List(&Kind::Shape(&LLM))]),
            "The chat model, or several in order of preference: if one does not answer, the next \
             one is asked.",
        ),
        Key::new(
            "tts",
            Kind::Either(&[Kind::Shape(&TTS), Kind::List(&Kind::Shape(&TTS))]),
            "Voices of NPCs that name no provider; or several services in order of preference: if \
             one does not speak, the next one does.",
        ),
        Key::new(
            "speech_to_speech",
            Kind::Either(&[
                Kind::Shape(&SPEECH_TO_SPEECH),
                Kind::List(&Kind::Shape(&SPEECH_TO_SPEECH)),
            ]),
            "A model that hears the players' own voices and speaks, for NPCs with `engine: s2s`; or \
             a list of several.",
        ),
        Key::new("image", Kind::Shape(&IMAGE), "Pictures that NPCs show with image-gen."),
        Key::new("search", Kind::Shape(&SEARCH), "Searches the web for web-search.search."),
        Key::new("hedge", Kind::Shape(&HEDGE), "Asking two services at once."),
        Key::new(
            "slowest_voice",
            Kind::Number { min: 0.01, max: 10.0 },
            "Seconds a kokoro voice may take for a second of speech, measured on first use; if it \
             takes longer, the voice's fallback speaks. Default 0.8; 10 always uses kokoro.",
        ),
    ],
};

/// Asks the next service after a late first word.
pub static HEDGE: Shape = Shape {
    title: "Hedging",
    keys: &[Key::new(
        "llm",
        Kind::Flag,
        "If a chat model's first word is later than nineteen of twenty earlier ones (of at least \
         20), the next of the list is asked too, and the faster one answers; you pay for both. \
         Default false.",
    )],
};

/// The service, one of `names`.
const fn service(names: &'static [&'static str], doc: &'static str) -> Key {
    Key::new("service", Kind::Word(names), doc)
}

/// Former name of the key `service`.
const fn name(names: &'static [&'static str]) -> Key {
    Key::new("name", Kind::Word(names), "Another name for service.")
}

const PRICE_BESIDE: Key =
    Key::new("price", Kind::Shape(&PRICE), "Its price, if its model is not listed under prices.");
const BASE_URL: Key = Key::new(
    "base_url",
    Kind::Filled,
    "Address of an OpenAI-compatible service, version included (\"http://127.0.0.1:11434/v1\"); \
     default: OpenAI, or Anthropic for the service anthropic. For deepgram, elevenlabs and cartesia \
     without the version; for a Wyoming service tcp://host:port.",
);
const API_KEY: Key =
    Key::new("api_key", Kind::Text, "Its key; best taken from the environment: ${OPENAI_API_KEY}.");
const MODEL: Key = Key::new("model", Kind::Filled, "The model, as the service names it.");
const FREE: Key = Key::new(
    "free",
    Kind::Flag,
    "It costs nothing; default: true on this machine and private networks when no price is listed.",
);
const FIRST_BYTE: Key =
    Key::new("first_byte_timeout_ms", WAIT, "Longest wait for the first byte; default 15000.");
const IDLE: Key =
    Key::new("idle_timeout_ms", WAIT, "Longest silence inside an answer; default 10000.");
/// Keys of recognisers that only Deepgram has.
pub const DEEPGRAM_ONLY: &[&str] = &["eager", "max_streams"];
pub static STT: Shape = Shape {
    title: "Speech to text",
    keys: &[
        service(RecogniserService::NAMES, "Service; default local."),
        name(RecogniserService::NAMES),
        Key::new(
            "as",
            Kind::Filled,
            "Name of this entry in reports, if there are several; default: its model.",
        ),
        BASE_URL,
        API_KEY,
        MODEL,
        Key::new(
            "language",
            Kind::Filled,
            "ISO 639-1 code of the players' language; default: the table's.",
        ),
        Key::new(
            "eager",
            Kind::Either(&[Kind::Number { min: 0.3, max: 0.9 }, Kind::Word(&["off"])]),
            "For deepgram's flux models: confidence in the end of a turn at which the answer \
             starts early, or off; default 0.5.",
        ),
        Key::new(
            "max_streams",
            Kind::Whole { min: 1, max: 10_000 },
            "For deepgram: most streams at a time; default: as many as your plan allows.",
        ),
        FREE,
        PRICE_BESIDE,
        Key::new(
            "first_byte_timeout_ms",
            WAIT,
            "Longest wait for the first byte; default 15000, for deepgram 5000.",
        ),
        Key::new(
            "idle_timeout_ms",
            WAIT,
            "Longest silence inside an answer; default 10000, for deepgram 3000.",
        ),
    ],
};

pub static LLM: Shape = Shape {
    title: "Chat model",
    keys: &[
        service(ModelService::NAMES, "Service; default scripted."),
        name(ModelService::NAMES),
        Key::new(
            "as",
            Kind::Filled,
            "Name of this entry, for NPCs (`llm: fast`) and in reports; default: its model.",
        ),
        BASE_URL,
        API_KEY,
        MODEL,
        Key::new(
            "max_tokens",
            Kind::Whole { min: 1, max: 100_000 },
            "Longest answer in tokens; the first entry in an NPC's order that sets it counts; \
             default 300.",
        ),
        Key::new(
            "context_window",
            Kind::Whole { min: 1_024, max: 100_000_000 },
            "Tokens that fit into the model, including the answer, as configured at its server; a \
             conversation that fills three quarters of it is summarised; default 32768.",
        ),
        Key::new(
            "temperature",
            Kind::Number { min: 0.0, max: 2.0 },
            "Sampling temperature; not available for Anthropic's models.",
        ),
        Key::new(
            "continues",
            Kind::Flag,
            "The server continues an answer that is begun in the last message, as vLLM and \
             llama.cpp do; used by the engine sentence_cascade; default false.",
        ),
        Key::new(
            "thinking_budget",
            Kind::Whole { min: 1_024, max: 100_000 },
            "Tokens an Anthropic model may use for thinking before it answers, in addition to \
             max_tokens; default: as few as it can.",
        ),
        FREE,
        PRICE_BESIDE,
        FIRST_BYTE,
        IDLE,
        Key::new(
            "extra_body",
            Kind::Names(&Kind::Any),
            "Additional members of the request (reasoning_effort: low).",
        ),
    ],
};

/// Keys that only servers with OpenAI's speech address have.
pub const OPENAI_SOUND: &[&str] = &["response_format", "sample_rate"];
pub static TTS: Shape = Shape {
    title: "Text to speech",
    keys: &[
        service(VoiceService::NAMES, "Service; default flite."),
        name(VoiceService::NAMES),
        Key::new(
            "as",
            Kind::Filled,
            "Name of this entry, for NPCs (`voice: { provider: … }`) and in reports; default: its \
             service.",
        ),
        BASE_URL,
        API_KEY,
        Key::new(
            "model",
            Kind::Filled,
            "The model, as the service names it; default for elevenlabs: eleven_flash_v2_5, for \
             cartesia: sonic-3.6.",
        ),
        Key::new(
            "max_streams",
            Kind::Whole { min: 1, max: 10_000 },
            "For elevenlabs, deepgram and cartesia: most voices that speak at a time; default: as \
             many as your plan allows.",
        ),
        Key::new(
            "response_format",
            Kind::Word(SoundFormat::NAMES),
            "For openai: the sound to ask for, pcm or wav; default pcm. Both are read, whichever \
             the server sends.",
        ),
        Key::new(
            "sample_rate",
            Kind::Whole { min: 8_000, max: 48_000 },
            "For openai: rate of sound without a header, in Hz; default 24000.",
        ),
        FREE,
        PRICE_BESIDE,
        Key::new(
            "first_byte_timeout_ms",
            WAIT,
            "Longest wait for the first sound; default 15000, for deepgram 5000, for elevenlabs \
             and cartesia 4000.",
        ),
        Key::new(
            "idle_timeout_ms",
            WAIT,
            "Longest silence inside a sentence; default 10000, for deepgram, elevenlabs and \
             cartesia 3000.",
        ),
        Key::new(
            FALLBACK_VOICES,
            Kind::Names(&Kind::Shape(&REPLACEMENT)),
            "Voices that speak when those of this entry cannot, by voice_id; \"*\" is for every \
             other one. Default: the next entries' voices of the same name, or their own default.",
        ),
    ],
};
pub const FALLBACK_VOICES: &str = "fallback_voices";

/// Service that hears and speaks at once.
pub static SPEECH_TO_SPEECH: Shape = Shape {
    title: "Speech to speech",
    keys: &[
        service(SpeechService::NAMES, "Service; default openai-realtime."),
        name(SpeechService::NAMES),
        Key::new(
            "as",
            Kind::Filled,
            "Name of this entry, for NPCs (`s2s: { provider: … }`) and in reports; default: its \
             service.",
        ),
        Key::new(
            "base_url",
            Kind::Filled,
            "Address of the service; http(s):// or ws(s)://. Version included for openai-realtime, \
             without it for gemini-live. Default: OpenAI's or Google's own.",
        ),
        API_KEY,
        MODEL,
        FREE,
        PRICE_BESIDE,
        Key::new(
            "first_byte_timeout_ms",
            WAIT,
            "Longest wait for the session, after which the cascade answers; default 3000.",
        ),
        Key::new(
            "max_age_min",
            Kind::Whole { min: 1, max: 10_000 },
            "Minutes after which a session is replaced, before the service closes it; default 55, for \
             gemini-live 9.",
        ),
        Key::new(
            "idle_s",
            Kind::Whole { min: 1, max: 86_400 },
            "Seconds without talk after which a session is closed; default 60.",
        ),
    ],
};

pub static IMAGE: Shape = Shape {
    title: "Pictures",
    keys: &[
        service(ImageService::NAMES, "Service; default openai."),
        name(ImageService::NAMES),
        Key::new(
            "base_url",
            Kind::Filled,
            "Address of a server with OpenAI's images address, version included \
             (\"http://127.0.0.1:1234/v1\"), or of Gemini, without the version. Default: OpenAI's or \
             Google's own.",
        ),
        API_KEY,
        Key::new(
            "model",
            Kind::Filled,
            "The model, as the service names it; default gpt-image-2.6-flare, for gemini \
             gemini-nano-banana-2.1; required with another base_url.",
        ),
        FREE,
        PRICE_BESIDE,
        Key::new(
            "first_byte_timeout_ms",
            Kind::Whole { min: 100, max: 55_000 },
            "Longest wait for the first byte; default 55000, which is also the most.",
        ),
        IDLE,
    ],
};

pub static SEARCH: Shape = Shape {
    title: "Web search",
    keys: &[
        service(SearchService::NAMES, "Service; required."),
        name(SearchService::NAMES),
        Key::new(
            "base_url",
            Kind::Filled,
            "Address of the service; required for searxng (http://127.0.0.1:8888), default: the \
             vendor's own.",
        ),
        Key::new(
            "api_key",
            Kind::Text,
            "Its key; best taken from the environment: ${BRAVE_API_KEY}. searxng has none.",
        ),
        Key::new(
            "safe",
            Kind::Word(Safe::NAMES),
            "How strictly results for adults are left out; default strict. tavily has only off.",
        ),
        FREE,
        Key::new(
            "price",
            Kind::Shape(&PRICE),
            "Its price, such as { request: 0.005 }, if the service is not listed under prices.",
        ),
    ],
};

const EMBEDDINGS: &str = "openai";
/// Embedder of earlier versions, for an error with its fix.
pub const MINILM: &str = "minilm";

/// Service that compares meanings.
pub static EMBEDDER: Shape = Shape {
    title: "Embedder",
    keys: &[
        Key::required(
            "name",
            Kind::Word(&[EMBEDDINGS, MINILM]),
            "openai: any server with OpenAI's embeddings address. minilm is no longer supported.",
        ),
        BASE_URL,
        API_KEY,
        MODEL,
        FREE,
        FIRST_BYTE,
        IDLE,
    ],
};

pub static PRICE: Shape = Shape {
    title: "A price",
    keys: &[
        Key::new("input", MONEY, "Per million tokens read."),
        Key::new(
            "cached_input",
            MONEY,
            "Per million tokens read from the service's cache; default: input.",
        ),
        Key::new(
            "cache_write",
            MONEY,
            "Per million tokens written to the service's cache, if that has its own price \
             (Anthropic); default: 1.25 times input.",
        ),
        Key::new("output", MONEY, "Per million tokens written."),
        Key::new(
            "audio_input",
            MONEY,
            "Per million audio tokens heard, at a speech-to-speech service; default: input.",
        ),
        Key::new(
            "audio_cached",
            MONEY,
            "Per million audio tokens read from the service's cache; default: audio_input reduced \
             in the same ratio as cached_input to input.",
        ),
        Key::new("audio_output", MONEY, "Per million audio tokens spoken; default: output."),
        Key::new("characters", MONEY, "Per million characters spoken."),
        Key::new("minute", MONEY, "Per minute heard, or spoken by a voice."),
        Key::new(
            "picture",
            MONEY,
            "Per picture. With output set and a service that counts tokens, the tokens are booked; \
             picture is then only reserved beforehand.",
        ),
        Key::new("request", MONEY, "Per search request."),
    ],
};
