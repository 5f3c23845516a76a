//! Clients of OpenAI-compatible services: chat, transcription, speech, embeddings.
//!
//! Entry types: [`Chat`], [`Transcription`], [`Speech`], [`Embeddings`], each made from [`Options`]
//! or, for speech, [`VoiceOptions`]; [`probe`] for a quick check. Request types come from
//! `async-openai`. [`super::remote`] sends requests and reads answers, because its client drops
//! status, `Retry-After`, `[DONE]`, content type and streamed sound.

mod assemble;
mod chat;
mod embeddings;
mod hidden;
mod pcm;
mod request;
mod sound;
mod speech;
mod transcribe;
mod wire;

pub use chat::Chat;
#[cfg(test)]
pub use chat::Reading;
pub use embeddings::Embeddings;
pub use request::OWN_MEMBERS;
pub use speech::{SAMPLE_RATE, SoundFormat, Speech, VOICE_TRAITS, VoiceOptions};
pub use transcribe::Transcription;

pub use super::remote::{CONTEXT_WINDOW, Options};
use super::{
    Error,
    remote::{self, Endpoint},
};

pub const NAME: &str = "openai";
/// OpenAI's own address, the only one known to require a key.
pub const BASE_URL: &str = "https://api.openai.com/v1";

/// Checks that a service answers and knows the model; one line for a report.
pub async fn probe(options: Options) -> Result<String, Error> {
    remote::probe(&Endpoint::new(options)?).await
}
