//! Outside speech and language services: small traits, the clients that fill them, and one registry
//! that opens them.
//!
//! Entry types: [`Registry`], which everybody asks for a service, with the [`Options`] of a
//! configuration; [`SpeechToText`], [`ChatModel`], [`TextToSpeech`], [`Embedder`], [`Error`].
//! **Never**: knowing NPCs' rules, tables or Discord.

mod address;
mod attempts;
mod chat_model;
mod child;
mod embedder;
mod embedders;
mod error;
mod http_client;
pub mod local;
mod models;
pub mod openai;
mod options;
mod outbound;
mod packages;
mod pool;
mod recognisers;
mod registry;
mod respell;
mod service;
mod speech_to_text;
mod text_to_speech;
mod voices;
mod webhook;
mod whisper;

pub use address::{BaseUrl, base_url};
pub use attempts::Attempts;
pub use chat_model::{ChatEvent, ChatModel, ChatRequest, Usage};
pub use embedder::Embedder;
pub use embedders::{EmbedderEntry, EmbedderService};
pub use error::{Error, Kind};
pub use http_client::with_proxy_and_tls;
pub use models::{ModelEntry, ModelService};
pub use options::Options;
pub use outbound::{Outbound, Refused};
pub use packages::{GetError, Getting, PackageSources, RegistryAddress, Step, get_weights};
pub use recognisers::{HereOptions, RecogniserEntry, RecogniserService};
pub use registry::Registry;
pub use respell::respell;
pub use service::{ServiceInfo, Services};
pub use speech_to_text::{SpeechEvent, SpeechToText, SttAbilities};
pub use text_to_speech::{DefaultId, Pcm, SpeakRequest, TextToSpeech, VoiceIds, VoiceTraits};
#[cfg(feature = "measure")]
pub use voices::Piper;
pub use voices::{PiperOptions, VoiceEntry, VoiceService};
pub use webhook::{Signed, post_signed};
