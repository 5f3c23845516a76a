//! Requests to addresses that are not ours to vouch for: those of game masters, of other people's
//! servers, of files.
//!
//! Entry types: [`Outbound`], which makes the clients that such requests are sent with; [`Refused`].
//! What an address leads to is looked up, held against what is allowed, and connected to in one
//! step, so that nothing can change in between. **Never**: follows a redirect by itself.

mod connector;
mod global;
mod names;

#[cfg(test)]
mod tests;

pub use connector::{Outbound, Refused};
pub use global::is_global;
pub use names::LeadsInside;
