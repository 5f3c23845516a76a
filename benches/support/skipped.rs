//! Parts of a bench that cannot be measured here, because something they need is missing.

use std::io::{self, Write};

/// Reports on stderr that `what` is not measured; figures go to stdout.
pub fn skipped(what: &str, reason: &str) {
    // stderr may be closed.
    _ = writeln!(io::stderr(), "SKIPPED: {what}, for {reason}");
}
