//! Whether a service is asked, judged by how it has answered.
//!
//! Entry types: [`Breaker`], which says when one that fails is left alone, and [`FirstWaits`], which
//! knows how long its first word usually takes. One of each belongs to each entry of a list of services.
//! **Never**: knows what kind of service it is; time is an argument.

mod breaker;
mod first_waits;
#[cfg(test)]
mod tests;

pub use breaker::{Breaker, Outcome};
pub use first_waits::FirstWaits;
