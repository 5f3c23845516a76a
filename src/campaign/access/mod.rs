//! Access tokens of programs outside: made, listed, revoked, and checked at each request.
//!
//! Entry type: [`Access`]. **Never**: stores or logs the secret of a token.

pub mod secret;
mod service;

#[cfg(test)]
mod tests;

pub use service::{Access, Holder, NewToken};
