//! What may go wrong with the recogniser's C libraries.
//!
//! Entry type: [`SphinxError`].
//! **Never**: hiding which package is missing.

use std::ffi::NulError;

/// What is needed beside this program, as a way out for messages.
pub const INSTALL: &str =
    "apt-get install pocketsphinx-en-us libpocketsphinx3 libsphinxbase3, or ./dev setup";

/// What went wrong with the C libraries.
#[derive(Debug, thiserror::Error)]
pub enum SphinxError {
    /// A library is not installed.
    #[error("cannot load the speech recogniser \"{library}\": {reason} ({INSTALL})")]
    Library {
        /// The file that was looked for.
        library: &'static str,
        /// What the loader said.
        reason: String,
    },
    /// A library is there, but of another kind.
    #[error(
        "the speech recogniser \"{library}\" has no \"{symbol}\"; version 0.8+5prealpha is needed \
         ({INSTALL})"
    )]
    Symbol {
        /// The file that was looked for.
        library: &'static str,
        /// The C function's name.
        symbol: &'static str,
    },
    /// A call failed.
    #[error("the speech recogniser failed at {call} with \"{value}\" ({INSTALL})")]
    Call {
        /// The C function's name.
        call: &'static str,
        /// What it was given, or its answer.
        value: String,
    },
    /// What was generated cannot be put where the library reads it.
    #[error(
        "cannot write the campaign's words for the speech recogniser: {0} (free space in the folder for temporary files)"
    )]
    Scratch(#[from] std::io::Error),
    /// A path or word holds a zero byte.
    #[error("the speech recogniser was given a text with a zero byte")]
    Nul(#[from] NulError),
}

/// A call that gave nothing, or a code below zero.
pub fn failed(call: &'static str, value: impl ToString) -> SphinxError {
    SphinxError::Call { call, value: value.to_string() }
}
