//! Outside speech and language services: small traits, their clients, and one registry that opens
//! them.
//!
//! Entry types: [`Registry`], which opens services named by [`Options`]; [`Chain`], services in
//! order of preference; the traits [`SpeechToText`], [`ChatModel`], [`TextToSpeech`], [`Embedder`],
//! [`TurnJudge`], [`WebSearch`]; [`Pages`] and [`Error`]. **Never**: knows NPCs' rules, tables or
//! Discord.

mod address;
pub mod anthropic;
mod attempts;
mod bounds;
mod chain;
mod chat_model;
mod child;
mod collector;
mod contracts;
mod decoded;
pub mod deepgram;
mod embedders;
mod entries;
mod error;
pub mod gemini;
mod http_client;
mod images;
mod models;
mod nearest;
mod one_shot;
pub mod openai;
mod options;
mod outbound;
mod pace;
mod packages;
mod pages;
pub mod realtime;
mod recognisers;
mod registry;
mod remote;
mod respell;
mod searches;
mod service;
mod services;
mod smart_turn;
mod sockets;
mod speech_to_speech;
mod speech_to_text;
mod text_to_speech;
mod usage;
mod voices;
mod webhook;
mod whisper;
pub mod wyoming;

pub use address::{BaseUrl, base_url, tcp_address};
pub use attempts::{Attempts, Payer};
pub use bounds::{Bound, TURN_TEXT};
pub use chain::{Asked, Candidate, Chain, Queue};
pub use chat_model::{ChatEvent, ChatModel, ChatRequest, CutOff, Usage};
pub use collector::Collector;
pub use contracts::{
    Embedder, ImageModel, ImageRequest, NoPicture, Picture, TurnJudge, WebResult, WebSearch,
};
pub use embedders::EmbedderEntry;
pub use entries::{EntryList, NamedEntry};
pub use error::{Error, Kind};
pub use http_client::with_proxy_and_tls;
pub use images::{FIRST_BYTE_TIMEOUT as PICTURE_FIRST_BYTE, ImageEntry, ImageService};
pub use models::{ModelEntry, ModelService};
pub use nearest::nearest_names;
pub use one_shot::{OneByOne, OneShot};
pub use options::Options;
pub use outbound::{Outbound, Refused};
pub use pace::Pace;
pub use packages::{
    GetError, Getting, PackageSources, Registries, RegistryAddress, Step, get_weights,
};
pub use pages::{AllowedHost, Page, PageError, Pages};
pub use recognisers::{HereOptions, RecogniserEntry, RecogniserService};
pub use registry::Registry;
#[cfg(test)]
pub use remote::Reader;
pub use respell::respell;
pub use searches::{Safe, SearchOptions, SearchService, probe as probe_search};
pub use service::ServiceInfo;
pub use services::{NpcService, OutsidePrograms, Services};
pub use smart_turn::{FILE as SMART_TURN_FILE, NAME as SMART_TURN};
pub use speech_to_speech::{
    FIRST_BYTE_TIMEOUT as SPEECH_FIRST_BYTE, IDLE as SPEECH_IDLE, Options as SpeechOptions,
    SPEECH_WAITING, SpeechAbilities, SpeechControl, SpeechDone, SpeechEnding, SpeechEvents,
    SpeechItem, SpeechItemId, SpeechOrder, SpeechService, SpeechSession, SpeechSessionEvent,
    SpeechSetup, SpeechToSpeech, SpeechUsage, probe::probe as probe_speech,
};
pub use speech_to_text::{SpeechEvent, SpeechToText, SttAbilities};
pub use text_to_speech::{
    DefaultId, Pcm, Sentence, SpeakRequest, Spoken, Synthesis, SynthesisSetup, TextToSpeech,
    VoiceIds, VoiceTraits, WordEnd,
};
pub use usage::{Counted, Larger};
pub use voices::{
    Cores, DeepgramVoiceOptions, Kokoro, KokoroOptions, ListedVoice, OpenVoice, Piper,
    PiperOptions, Replacement, SLOWEST, StreamedVoiceOptions, VoiceEntry, VoiceList, VoiceService,
    cartesia, elevenlabs, language_code,
};
pub use webhook::{Signed, post_signed};
