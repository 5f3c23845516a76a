//! Requests to addresses that the operator did not choose: those of game masters, other servers and
//! files.
//!
//! Entry types: [`Outbound`], which builds clients for such requests; [`Refused`]. An address is
//! resolved, checked and connected to in one step, so that it cannot change in between. **Never**:
//! follows a redirect by itself.

mod connector;
mod global;

#[cfg(test)]
mod tests;

pub use connector::{LeadsInside, Outbound, Refused};
pub use global::is_global;
