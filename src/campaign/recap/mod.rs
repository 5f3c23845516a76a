//! Recaps of sessions, with the lines that prove them. Entry function: [`recap`]; type: [`Recaps`].
//! **Never**: shows players the game master's secrets, or believes a claim that no line proves.

mod extract;
mod model;
mod service;
mod session;

pub use model::Writer;
pub use service::{RecapRequest, Recaps};
pub use session::{RecapError, recap};
