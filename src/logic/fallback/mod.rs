//! Health of a service, judged by its answers.
//!
//! Entry types: [`Breaker`] decides when a failing service is left alone, [`FirstWaits`] knows the
//! usual wait for its first word. Each entry of a list of services has one of each.

mod breaker;
mod first_waits;
#[cfg(test)]
mod tests;

pub use breaker::{Breaker, Outcome};
pub use first_waits::FirstWaits;
