//! Bare clients against the loopback: what the real Discord takes it takes, what it refuses it refuses.
#![expect(clippy::unwrap_used, reason = "tests")]

mod client;
mod commands;
mod gateway;
mod interactions;
mod rest;
mod shards;
mod voice;
