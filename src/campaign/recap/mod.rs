//! Recap of a session, with the lines that prove it.
//!
//! Entry function: [`recap`]; entry type: [`Recaps`]. **Never**: shows players what is the game
//! master's, or takes for true what no line proves.

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
