#![doc = include_str!("../ARCHITECTURE.md")]

mod domain;

mod audio;
mod files;
mod launch;
mod panics;
mod yaml;

mod logic;
mod weights;

mod import;

mod memory;
mod provider;

mod tools;

mod engine;

mod session;

mod campaign;

mod commands;

mod discord;

mod config;

mod app;
pub mod cli;

#[doc(hidden)]
pub mod measure;

#[cfg(test)]
#[path = "../tests/support/skipped.rs"]
mod skipped;

/// How much of a test's cases to try.
#[cfg(test)]
mod extent {
    /// True in `./dev proof`, which tries every case of what is tried a few times otherwise.
    pub fn whole() -> bool {
        std::env::var_os("GLYPHOXA_TEST_WHOLE").is_some()
    }

    /// Factor on the usual number of random cases.
    #[expect(clippy::disallowed_methods, reason = "the long form is asked for by a variable")]
    pub fn times() -> u32 {
        let times = std::env::var("GLYPHOXA_TEST_FUZZ");
        times.map_or(1, |it| it.parse().expect("GLYPHOXA_TEST_FUZZ is a number"))
    }
}
