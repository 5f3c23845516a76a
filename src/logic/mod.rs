//! Pure decisions: what was said, whose turn it is, which NPC is meant, what it costs, how dice
//! fall.
//!
//! **Never**: async, IO, clocks, logging; time and randomness are arguments.

pub mod address;
pub mod ago;
pub mod barge_in;
pub mod budget;
pub mod cast;
pub mod command;
pub mod content_words;
pub mod dice;
pub mod evidence;
pub mod fallback;
pub mod greeting;
pub mod language;
pub mod longest_sound;
pub mod more;
pub mod music;
pub mod names;
pub mod own_lines;
pub mod pattern;
mod phonetics;
pub mod prompt;
pub mod schedule;
pub mod sentence;
pub mod short_forms;
pub mod speakable;
pub mod splice;
pub mod spoken;
pub mod spoken_names;
#[cfg(test)]
mod tally;
pub mod tier;
pub mod trigrams;
pub mod turn;
pub mod turning_away;
pub mod vad;
pub mod window;
pub mod words;
pub mod workflow;
