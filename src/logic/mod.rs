//! Pure decisions: what was said, whose turn it is, who is meant, what it costs, how dice fall.
//!
//! **Never**: async, IO, clocks, logging; time and randomness are arguments.

pub mod address;
pub mod ago;
pub mod barge_in;
pub mod budget;
pub mod cast;
pub mod command;
pub mod dice;
pub mod names;
pub mod prompt;
pub mod sentence;
mod sounds;
pub mod speakable;
pub mod spelling;
pub mod spoken;
pub mod telling;
pub mod tier;
pub mod turn;
pub mod vad;
pub mod window;
pub mod words;
