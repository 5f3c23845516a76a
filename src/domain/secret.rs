//! Values that are never shown.
//!
//! Entry type: [`Secret`].

use std::fmt;

/// Prints as `<secret>`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}
