//! Tests of the whole model: against numbers computed elsewhere, against hostile files, and with real weights.

#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod hostile;
mod real;
mod reference;
mod running;
mod tiny;
