//! Values that are read and used, and never shown.
//!
//! Entry type: [`Secret`].

use std::fmt;

/// A value that never prints: it shows as `<secret>`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}
