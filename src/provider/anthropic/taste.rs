//! Features in which models differ: some must think, some cannot be forced to call a tool.
//!
//! Entry type: [`Taste`]. Learnt from refusals, which saves a list of models. **Never**: drops a
//! feature that was not refused.

use crate::provider::remote::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    Disabled,
    Budget,
    Adaptive,
    /// Omits the setting: the model thinks by default, with the least effort.
    Unsaid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taste {
    pub thinking: Thinking,
    /// Asks for little effort where thinking cannot be disabled.
    pub effort: bool,
    pub forced: bool,
    /// Sends thoughts back with their calls; reset after each request.
    pub thoughts: bool,
}

impl Taste {
    pub const fn of(thinks: bool) -> Self {
        let thinking = if thinks { Thinking::Budget } else { Thinking::Disabled };
        Self { thinking, effort: true, forced: true, thoughts: true }
    }

    pub const fn asks_for_little(self) -> bool {
        matches!(self.thinking, Thinking::Unsaid) && self.effort
    }

    /// The taste to try after a refusal; `None`: it names none of our features.
    pub fn without(self, failure: &Failure) -> Option<Self> {
        if failure.is_about_messages() {
            // Messages before a thought changed, or the thought belongs to another account.
            let names = failure.names("thinking") || failure.names("signature");
            return (names && self.thoughts).then_some(Self { thoughts: false, ..self });
        }
        if self.asks_for_little() && (failure.names("effort") || failure.names("output_config")) {
            return Some(Self { effort: false, ..self });
        }
        if self.forced && failure.names("tool_choice") {
            return Some(Self { forced: false, ..self });
        }
        if !failure.names("thinking") && !failure.names("budget_tokens") {
            return None;
        }
        let thinking = match self.thinking {
            Thinking::Budget => Thinking::Adaptive,
            Thinking::Disabled | Thinking::Adaptive => Thinking::Unsaid,
            Thinking::Unsaid => return None,
        };
        Some(Self { thinking, ..self })
    }

    /// The part that also applies to later requests.
    pub const fn learnt(self) -> Self {
        Self { thoughts: true, ..self }
    }
}
