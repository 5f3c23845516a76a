use crate::domain::{Scope, SessionId};

/// A session being recorded.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Owner and campaign; only people of a guild have lasting ids.
    pub scope: Scope,
    pub session: SessionId,
}
