//! `glyphoxa ask`: turns through the real table, from recordings, text, or typed lines.

mod arguments;
mod at_table;
mod drive;
mod face;
mod handed;
mod inputs;
mod local;
mod own;
mod planned;
mod play;
mod player;
mod print;
mod record;
mod sink;
mod status;
mod steer;
mod steps;
mod stored;
mod terminal;
mod typing;
mod written;

pub use arguments::{Arguments, Files};
pub use play::run;
pub use player::{NO_PLAYER, Player, Sound, installed as installed_player};
pub use sink::check as check_out;
pub use terminal::TerminalEffects;
