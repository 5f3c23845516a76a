//! Keys of services: `providers`, and the embedder of tools.

use super::WAIT;
use crate::{
    provider::{EmbedderService, ModelService, RecogniserService, VoiceService},
    yaml::{Key, Kind, Shape},
};

/// Who hears, thinks and speaks.
pub static PROVIDERS: Shape = Shape {
    title: "Providers",
    keys: &[
        Key::new("stt", Kind::Shape(&STT), "Speech to text."),
        Key::new("llm", Kind::Shape(&LLM), "The chat model."),
        Key::new("tts", Kind::Shape(&TTS), "Voices of NPCs that name no provider."),
    ],
};

/// Base address of an OpenAI-compatible service.
const BASE_URL: Key = Key::new(
    "base_url",
    Kind::Filled,
    "Address of an OpenAI-compatible service, version included (\"http://127.0.0.1:11434/v1\"); \
     default: OpenAI.",
);
/// What a service is paid by.
const API_KEY: Key =
    Key::new("api_key", Kind::Text, "Its key; best from the environment: ${OPENAI_API_KEY}.");
/// Which of a service's models is asked.
const MODEL: Key = Key::new("model", Kind::Filled, "The model, as the service names it.");
/// Whether it is paid.
const FREE: Key = Key::new(
    "free",
    Kind::Flag,
    "It costs nothing; default: true on this machine and private networks when no price is listed.",
);
/// How long it may take to begin.
const FIRST_BYTE: Key =
    Key::new("first_byte_timeout_ms", WAIT, "Longest wait for the first byte; default 15000.");
/// How long it may pause.
const IDLE: Key =
    Key::new("idle_timeout_ms", WAIT, "Longest silence inside an answer; default 10000.");
/// Speech to text.
pub static STT: Shape = Shape {
    title: "Speech to text",
    keys: &[
        Key::new("name", Kind::Word(RecogniserService::NAMES), "Service; default local."),
        BASE_URL,
        API_KEY,
        MODEL,
        Key::new("language", Kind::Filled, "ISO 639-1 code spoken; default: the table's."),
        FREE,
        FIRST_BYTE,
        IDLE,
    ],
};

/// The chat model.
pub static LLM: Shape = Shape {
    title: "Chat model",
    keys: &[
        Key::new("name", Kind::Word(ModelService::NAMES), "Service; default scripted."),
        BASE_URL,
        API_KEY,
        MODEL,
        Key::new(
            "max_tokens",
            Kind::Whole { min: 1, max: 100_000 },
            "Longest answer in tokens; default 300.",
        ),
        Key::new(
            "context_window",
            Kind::Whole { min: 1_024, max: 100_000_000 },
            "Tokens the model has room for, the answer included, as its server is set up; a \
             conversation that fills three quarters of it is summed up; default 32768.",
        ),
        Key::new("temperature", Kind::Number { min: 0.0, max: 2.0 }, "Sampling temperature."),
        FREE,
        FIRST_BYTE,
        IDLE,
        Key::new(
            "extra_body",
            Kind::Names(&Kind::Any),
            "Further members of the request (reasoning_effort: low).",
        ),
    ],
};

/// Text to speech.
pub static TTS: Shape = Shape {
    title: "Text to speech",
    keys: &[
        Key::new("name", Kind::Word(VoiceService::NAMES), "Service; default flite."),
        BASE_URL,
        API_KEY,
        MODEL,
        FREE,
        FIRST_BYTE,
        IDLE,
    ],
};

/// What compares meanings.
pub static EMBEDDER: Shape = Shape {
    title: "Embedder",
    keys: &[
        Key::required(
            "name",
            Kind::Word(EmbedderService::NAMES),
            "openai: any server with OpenAI's embeddings address; minilm: on this machine, in \
             builds with the feature `minilm`.",
        ),
        BASE_URL,
        API_KEY,
        MODEL,
        FREE,
        FIRST_BYTE,
        IDLE,
        Key::new(
            "folder",
            Kind::Filled,
            "For minilm: the folder of config.json, tokenizer.json and model.safetensors, relative \
             to this file.",
        ),
    ],
};
