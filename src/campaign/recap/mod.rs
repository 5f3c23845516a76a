//! Recaps of sessions, with the lines that prove them. Entry function: [`recap`]; type: [`Recaps`].
//! **Never**: shows players the game master's secrets, or believes a claim that no line proves.

mod claim;
mod error;
mod extract;
mod model;
mod service;
mod session;
mod writer;

pub use error::RecapError;
pub use service::{RecapRequest, Recaps};
pub use session::recap;
pub use writer::Writer;
