//! Tools for what is asked and called outside sessions.
//!
//! Entry function: [`outside_sessions`]. **Never**: counts calls of one owner for another.

use super::now;
use crate::{
    domain::{Scope, SessionId},
    tools::{CastChanges, Permits, ToolHost},
};

/// Milliseconds of a day.
const DAY: i64 = 24 * 3_600 * 1_000;

/// Decisions of game masters about tools.
#[derive(Clone, Debug, Default)]
pub struct ToolDecisions {
    /// Changes to NPCs' tools.
    pub changes: CastChanges,
    /// Tools that need no approval any more.
    pub permits: Permits,
}

/// The tools of `scope` while no session runs, and the name under which calls are counted, by the
/// day; what was decided about them counts there too.
pub fn outside_sessions(
    tools: &ToolHost,
    scope: &Scope,
    decided: ToolDecisions,
) -> (SessionId, ToolHost) {
    let of_day = |day: i64| SessionId(format!("operator {:?} {day}", scope.owner));
    let today = now() / DAY;
    let session = of_day(today);
    tools.forget(&of_day(today - 1));
    tools.within(scope).set_changes(&session, decided.changes);
    tools.set_permits(&session, decided.permits);
    let host = tools.at(&session, scope);
    (session, host)
}
