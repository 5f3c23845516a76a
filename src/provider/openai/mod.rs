//! Clients of OpenAI-compatible services: chat, transcription, speech, embeddings.
//!
//! Entry types: [`Chat`], [`Transcription`], [`Speech`], [`Embeddings`], each made from [`Options`];
//! [`probe`] for a quick look at a service. `async-openai` has the types of what is sent;
//! requests are sent and answers read by us ([`super::remote`]), because its client drops what other servers need: status
//! and `Retry-After`, `[DONE]`, content type, sound as it comes.
//! **Never**: guessing what a model meant, speaking its reasoning, printing a key or a prompt.

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
