//! Tests of the whole: the house's rules, the shipped files, and the real program.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what goes wrong here is a failed test"
)]
#![expect(clippy::print_stderr, reason = "tests print what they measured")]

mod aloud;
mod anthropic;
mod ask;
mod bad_input;
mod bot;
mod bringing;
mod cartesia;
mod cli;
mod cluster;
mod deepgram;
mod deepgram_voices;
mod deploying;
mod dev;
mod docs;
mod elevenlabs;
mod endings;
mod evening;
mod exporting;
mod fallback;
mod figures;
mod gemini;
mod german;
mod glossary;
mod hearing;
mod hostile;
mod house;
mod how_to;
mod import;
mod imports;
mod kokoro;
mod layers;
mod long_sessions;
mod manifests;
mod mcp;
mod mcp_clients;
mod mcp_login;
mod memory;
mod metrics;
mod model;
mod models;
mod music;
mod others;
mod page_units;
mod pages;
mod pictures;
mod piper;
mod postgres;
mod realtime;
mod recaps;
mod recordings;
mod rehearsal_crowd;
mod rehearsal_table;
mod rehearsing;
mod reloading;
mod rules;
mod schedules;
mod search;
mod sentence_cascade;
mod server_folder;
mod serving;
mod sessions;
mod slow_tools;
mod speech_servers;
mod steering;
mod stopping;
mod support;
mod third_party;
mod tokens;
mod tools;
mod traces;
mod trust;
mod typed;
mod understanding;
mod words;
mod workflows;
mod wyoming;
