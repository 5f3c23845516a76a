//! Attacks on the program: each through the real binary, against services on
//! this machine: bounded time, bounded memory, nothing done that was not allowed.

mod added_servers;
mod addresses;
mod answers;
mod approvals;
mod children;
mod files;
mod fuzz;
mod fuzzed_pages;
mod guilds;
mod loopback;
mod money;
mod namesakes;
mod onnx;
mod schemas;
mod servers;
mod terminals;
mod two_guilds;
mod web;
mod weights;
mod words;

pub use crate::support::whole;
pub use servers::{has_python, peak};
