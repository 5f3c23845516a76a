//! REST: what is asked is checked, done and answered as Discord does.
//!
//! Entry function: [`run`]. Never: gateway sockets.

mod body;
mod channels;
mod check_command;
mod check_message;
mod commands;
mod fault;
mod guilds;
mod limits;
mod refusal;
mod route;
mod server;
mod users;
mod webhooks;
mod write;

pub use fault::Fault;
pub(crate) use fault::Faults;
pub(crate) use limits::Limits;
pub use server::Request;
pub(crate) use server::run;
pub(crate) use write::{Draft, erase};
