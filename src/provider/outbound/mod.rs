//! Requests to addresses that are not ours to vouch for: those of game masters, of other people's
//! servers, of files.
//!
//! Entry types: [`Outbound`], which makes the clients that such requests are sent with; [`Refused`].
//! The address is resolved, checked against the permitted ones, and connected to in one
//! step, so that nothing can change in between. **Never**: follows a redirect by itself.

mod connector;
mod global;
mod names;

#[cfg(test)]
mod tests;

pub use connector::{Outbound, Refused};
pub use global::is_global;
pub use names::LeadsInside;
