//! Tests of the whole: the house's rules, the shipped files, and the real program.
#![expect(
    missing_docs,
    clippy::missing_docs_in_private_items,
    reason = "tests say what they prove by their names"
)]

mod ask;
mod bad_input;
mod cli;
mod dev;
mod house;
mod layers;
mod model;
mod support;
