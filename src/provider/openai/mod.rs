//! Clients of OpenAI-compatible services: chat, transcription, speech, embeddings.
//!
//! Entry types: [`Chat`], [`Transcription`], [`Speech`], [`Embeddings`], each made from [`Options`];
//! [`probe`] for a quick look at a service. `async-openai` has the types of what is sent;
//! requests are sent and answers read here, because its client drops what other servers need: status
//! and `Retry-After`, `[DONE]`, content type, sound as it comes.
//! **Never**: guessing what a model meant, speaking its reasoning, printing a key or a prompt.

mod assemble;
mod chat;
mod embeddings;
mod endpoint;
mod failure;
mod hidden;
mod options;
mod pcm;
mod request;
mod retry;
mod speech;
mod sse;
mod transcribe;
mod wire;

#[cfg(test)]
#[path = "../../../tests/support/chat_server.rs"]
mod chat_server;

pub use chat::Chat;
pub use embeddings::Embeddings;
pub use endpoint::probe;
pub use options::{BASE_URL, CONTEXT_WINDOW, NAME, Options};
pub use request::OWN_MEMBERS;
pub use speech::{Speech, VOICE_TRAITS};
pub use transcribe::Transcription;
