//! Reasons to ask the game master before a call.
//!
//! Entry method: [`Tool::why_ask`]. Words from outside may want to give orders, so that what they
//! may lead to is decided by a person. **Never**: takes a server's silence for harmlessness.

use super::{SideEffects, SourceKind, Taint, Tool};

/// Reason the game master must decide about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caution {
    /// The configuration says so.
    Configured,
    /// It may destroy something, and outside words may be behind it.
    Destroys,
    /// It changes something elsewhere, and outside words may be behind it.
    ActsElsewhere,
    /// Its arguments leave this machine, and outside words may want to know secrets.
    Tells,
}

impl Caution {
    /// The reason in words.
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

    /// True if a game master may allow such calls without being asked from now on.
    pub const fn may_be_waived(self) -> bool {
        !matches!(self, Self::Configured)
    }
}

impl Tool {
    /// Side effects of its calls: those of the configuration, else those it declares, else the worst.
    pub fn effects(&self) -> SideEffects {
        self.declared.side_effects(match self.source {
            SourceKind::BuiltIn => SideEffects::None,
            SourceKind::Manifest | SourceKind::Server => SideEffects::Destructive,
        })
    }

    /// True if its calls reach beyond this machine; undeclared, those of all but built-ins do.
    pub fn is_open_world(&self) -> bool {
        self.declared.open_world.unwrap_or(self.source != SourceKind::BuiltIn)
    }

    /// Reason to ask before a model with `taint` in its window calls it; `None`: no need to ask.
    pub fn why_ask(&self, taint: &Taint) -> Option<Caution> {
        if self.declared.approval == Some(true) {
            return Some(Caution::Configured);
        }
        if !taint.is_set() {
            return None;
        }
        // Configured side effects are already a decision of the operator.
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
