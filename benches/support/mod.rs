//! Shared by the benches of the voice path: instant stand-ins for the services, a table with one player whose
//! audio never stops, and the figures.

pub mod figures;
pub mod process;
pub mod skipped;
pub mod sound;
pub mod stand_ins;
pub mod table;
