//! Output of tools at a rehearsal's table. Entry type: [`PageEffects`].

use super::{audience::Audience, wire::ToPage};
use crate::{
    domain::redact,
    tools::{Attachment, Effects},
};

/// Shows lines on every page. No call can be approved here.
pub struct PageEffects(pub Audience);

impl PageEffects {
    fn tell(&self, text: &str, private: bool) {
        let text = redact::known(text).into_owned();
        self.0.tell(&ToPage::Notice { text, private });
    }
}

impl Effects for PageEffects {
    fn show(&self, text: &str) {
        self.tell(text, false);
    }

    /// Pictures are not shown.
    fn attach(&self, _tool: &str, _attachment: &Attachment) -> bool {
        false
    }

    fn tell_dm(&self, text: &str) {
        self.tell(text, true);
    }
}
