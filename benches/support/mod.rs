//! Shared by the benches: instant stand-ins for the services, a table with one player whose audio never stops,
//! an MCP server with its client, and the figures.

pub mod echo;
pub mod figures;
pub mod postgres;
pub mod process;
pub mod skipped;
pub mod sound;
pub mod stand_ins;
pub mod table;
