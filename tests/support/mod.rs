//! What the tests of the real program share.

#[expect(dead_code, reason = "the providers' own tests use the rest")]
pub mod chat_server;
pub mod hearing;
pub mod postgres;
pub mod processes;
pub mod program;
pub mod protected;
pub mod speech;
pub mod weights;
