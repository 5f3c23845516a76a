//! Clients of OpenAI-compatible services: chat, transcription, speech, embeddings.
//!
//! Entry types: [`Chat`], [`Transcription`], [`Speech`], [`Embeddings`], each made from
//! [`Options`]; [`probe`] for a quick check. Request types come from `async-openai`.
//! [`super::remote`] sends requests and reads answers, because its client drops status,
//! `Retry-After`, `[DONE]`, content type and streamed sound.

mod assemble;
mod chat;
mod embeddings;
mod hidden;
mod home;
mod pcm;
mod request;
mod speech;
mod transcribe;
mod wire;

pub use chat::Chat;
#[cfg(test)]
pub use chat::Reading;
pub use embeddings::Embeddings;
pub use home::{BASE_URL, NAME, probe};
pub use request::OWN_MEMBERS;
pub use speech::{Speech, VOICE_TRAITS};
pub use transcribe::Transcription;

pub use super::remote::{CONTEXT_WINDOW, Options};
