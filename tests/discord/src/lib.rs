//! A Discord on this machine.

mod player;
mod voice;

pub use player::{AUDIBLE, Packet, Player, Seat, Speech, Spoken};
pub use voice::{Counts, Faults, GroupStatus, Mode, Scope, Voice, VoiceOptions};
