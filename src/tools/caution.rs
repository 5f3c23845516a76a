//! Reasons to ask the game master before a call: outside words in a model's window may carry
//! orders, so a person decides about their effects. An undeclared tool counts as harmful.

use super::{SideEffects, SourceKind, Taint, Tool};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caution {
    /// Required by the configuration.
    Configured,
    /// It may destroy something, prompted by outside words.
    Destroys,
    /// It changes something elsewhere, prompted by outside words.
    ActsElsewhere,
    /// Its arguments leave this machine; outside words may be after secrets.
    Tells,
}

impl Caution {
    pub const fn text(self) -> &'static str {
        match self {
            Self::Configured => "this tool always asks",
            Self::Destroys => {
                "it may destroy something, and words from outside are in the conversation"
            }
            Self::ActsElsewhere => {
                "it changes something outside, and words from outside are in the conversation"
            }
            Self::Tells => {
                "it sends its question outside, and both secrets and words from outside are in the \
                 conversation"
            }
        }
    }

    /// True if a game master may allow such calls for good.
    pub const fn may_be_waived(self) -> bool {
        !matches!(self, Self::Configured)
    }
}

impl Tool {
    /// Side effects: configured, else declared, else the worst.
    pub fn effects(&self) -> SideEffects {
        self.declared.side_effects(match self.source {
            SourceKind::BuiltIn => SideEffects::None,
            SourceKind::Manifest | SourceKind::Server => SideEffects::Destructive,
        })
    }

    /// True if its calls reach beyond this machine; undeclared, only built-ins do not.
    pub fn is_open_world(&self) -> bool {
        self.declared.open_world.unwrap_or(self.source != SourceKind::BuiltIn)
    }

    /// Reason to ask before a model with `taint` in its window calls it.
    pub fn why_ask(&self, taint: &Taint) -> Option<Caution> {
        if self.declared.approval == Some(true) {
            return Some(Caution::Configured);
        }
        if !taint.is_set() {
            return None;
        }
        // Configured side effects are the operator's decision.
        let is_told = self.declared.effects.is_some();
        match self.effects() {
            SideEffects::Destructive => Some(Caution::Destroys),
            SideEffects::Reversible if self.is_open_world() && !is_told => {
                Some(Caution::ActsElsewhere)
            }
            SideEffects::Reversible | SideEffects::None => {
                (self.is_open_world() && taint.holds_secrets()).then_some(Caution::Tells)
            }
        }
    }
}
