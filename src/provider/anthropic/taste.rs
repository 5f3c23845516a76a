//! Features of a model: some must think, some cannot be made to call a tool.
//!
//! Entry type: [`Taste`]. It is learnt from refusals, so that no list of models is kept here.
//! **Never**: sends; gives up what was not refused.

use crate::provider::remote::Failure;

/// Mode of thinking in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// None of it.
    Disabled,
    /// Up to a budget.
    Budget,
    /// Chosen by the model.
    Adaptive,
    /// Nothing is said: the model thinks as it always does, with the least effort.
    Unsaid,
}

/// Parts of a request in which models differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taste {
    /// Mode of thinking to ask for.
    pub thinking: Thinking,
    /// Little effort can be asked for where thinking cannot be ended.
    pub effort: bool,
    /// A call can be demanded.
    pub forced: bool,
    /// Thoughts go back with their calls. Learnt for one request, not for the next.
    pub thoughts: bool,
}

impl Taste {
    /// The first guess for a model that may think, or shall not.
    pub const fn of(thinks: bool) -> Self {
        let thinking = if thinks { Thinking::Budget } else { Thinking::Disabled };
        Self { thinking, effort: true, forced: true, thoughts: true }
    }

    /// True if little effort is asked for.
    pub const fn asks_for_little(self) -> bool {
        matches!(self.thinking, Thinking::Unsaid) && self.effort
    }

    /// The taste to try after a refusal that names something of ours; `None`: it names nothing.
    pub fn without(self, failure: &Failure) -> Option<Self> {
        if failure.is_about_messages() {
            // Messages before a thought have changed, or the thought is another account's.
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

    /// The part of it that holds for the next request.
    pub const fn learnt(self) -> Self {
        Self { thoughts: true, ..self }
    }
}
