#![doc = include_str!("../ARCHITECTURE.md")]

mod domain;

mod archives;
mod audio;
mod figures;
mod files;
mod launch;
mod markup;
mod panics;
mod traces;
mod yaml;

mod logic;
mod weights;

mod export;
mod import;

mod memory;
mod provider;

mod tools;

mod engine;

mod session;

mod campaign;

mod commands;

mod discord;
mod web;

mod config;

mod app;
pub mod cli;

#[doc(hidden)]
pub mod measure;

#[cfg(test)]
#[path = "../tests/support/extent.rs"]
mod extent;
#[cfg(test)]
#[path = "../tests/support/skipped.rs"]
mod skipped;
