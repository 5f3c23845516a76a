//! Tests of the whole: the house's rules, the shipped files, and the real program.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what goes wrong here is a failed test"
)]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod ask;
mod bad_input;
mod bot;
mod cli;
mod dev;
mod docs;
mod figures;
mod glossary;
mod hearing;
mod hostile;
mod house;
mod how_to;
mod import;
mod imports;
mod layers;
mod long_sessions;
mod manifests;
mod mcp;
mod mcp_login;
mod memory;
mod model;
mod models;
mod piper;
mod postgres;
mod reloading;
mod rules;
mod sessions;
mod slow_tools;
mod steering;
mod support;
mod third_party;
mod tools;
