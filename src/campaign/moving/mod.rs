//! A campaign out of a store and into another: everything that a store holds of a scope, as lines of JSON.
//!
//! Entry functions: [`held()`] (out of a store), [`texts`] and [`read_texts`] (to files and back),
//! [`plan_return`] (what of it a store lacks); [`returned::Return::carry_out`] adds that. Vectors are made again from
//! the texts, and money stays where it was spent. **Never**: changes or removes what a store has, or
//! brings back words deleted there.

mod automation;
mod calls;
mod files;
mod held;
mod returned;
mod settings;

#[cfg(test)]
mod tests;

pub use calls::{calls_left_out, calls_of_sessions, write_calls};
pub use files::{FILES, Folder, MANIFEST, Manifest, read_texts, texts};
pub use held::{ScopeContent, held};
pub use returned::{ReturnError, Tally, plan_return};
pub use settings::{CarriedSettings, SETTINGS};
