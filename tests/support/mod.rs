//! Parts that the tests of the real program share.

pub mod answers;
pub mod anthropic_server;
pub mod browser;
pub mod cartesia;
pub mod cast;
#[expect(dead_code, reason = "the providers' own tests use the rest")]
pub mod chat_server;
#[expect(dead_code, reason = "the provider's own tests use the rest")]
pub mod deepgram;
pub mod deepgram_voice;
pub mod ears;
#[expect(dead_code, reason = "the service's own tests use the rest")]
pub mod elevenlabs;
pub mod extent;
pub mod gemini;
pub mod hearing;
#[expect(dead_code, reason = "the clients' own tests use the rest")]
pub mod images;
pub mod outside;
pub mod own_thread;
pub mod postgres;
pub mod processes;
pub mod program;
pub mod prometheus;
pub mod protected;
pub mod realtime;
#[expect(dead_code, reason = "the clients' own tests use the rest")]
pub mod searches;
pub mod skipped;
pub mod socket_server;
pub mod speech;
#[expect(dead_code, reason = "the bench of Piper uses the rest")]
pub mod timbre;
pub mod tones;
#[expect(dead_code, reason = "not all of it is scripted or looked at yet")]
pub mod voice_models;
pub mod web_server;
pub mod weights;
#[expect(dead_code, reason = "the provider's own tests use the rest")]
pub mod wyoming;

pub use extent::whole;

/// An address without a listener: no system hands out its port.
pub const NOBODY: &str = "127.0.0.1:1";

/// Waits for `work` in a test without a runtime.
pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}
