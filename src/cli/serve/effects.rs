//! Output of tools at the table of `glyphoxa serve`. Entry type: [`ServedEffects`].

use super::super::{complain, within};
use crate::tools::{Attachment, Effects};

/// Prints lines on stderr. No call can be approved here.
pub struct ServedEffects;

impl Effects for ServedEffects {
    fn show(&self, text: &str) {
        complain(&within(text));
    }

    /// Pictures are not shown.
    fn attach(&self, _tool: &str, _attachment: &Attachment) -> bool {
        false
    }

    fn lacks_loudspeaker(&self) -> Option<&'static str> {
        Some("no music can be heard here (programs outside receive speech alone)")
    }

    fn tell_dm(&self, text: &str) {
        complain(&within(text));
    }
}
