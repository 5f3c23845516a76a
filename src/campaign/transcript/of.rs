//! Session being recorded.
//!
//! Entry type: [`Transcript`]. **Never**: holds what was said.

use crate::domain::{Scope, SessionId};

/// A session that is written down.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Owner and campaign; only people of a guild are known by their ids.
    pub scope: Scope,
    /// The play session, by its name.
    pub session: SessionId,
}
