//! Counterparts that mean harm, through the real program.

mod guilds;
