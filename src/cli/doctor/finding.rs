//! One line of `glyphoxa doctor`. Entry type: [`Finding`].

use serde::Serialize;

use crate::domain::redact;

#[derive(Serialize)]
pub struct Finding {
    pub what: &'static str,
    pub ok: bool,
    /// True if it was tried, not only read in the configuration or left for later.
    pub checked: bool,
    pub detail: String,
}

impl Finding {
    pub fn new(what: &'static str, found: Result<String, String>) -> Self {
        let ok = found.is_ok();
        let detail = found.unwrap_or_else(|wrong| wrong);
        Self { what, ok, checked: true, detail: redact::known(&detail).into_owned() }
    }

    /// A finding that was not tried.
    pub fn unchecked(what: &'static str, detail: String) -> Self {
        Self { checked: false, ..Self::new(what, Ok(detail)) }
    }

    /// Tick: it works; cross: it does not; dash: it was not checked.
    pub const fn mark(&self) -> char {
        match (self.ok, self.checked) {
            (false, _) => '✗',
            (true, true) => '✓',
            (true, false) => '–',
        }
    }
}
