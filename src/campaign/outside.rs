//! Tools for questions and calls outside sessions. Entry function: [`outside_sessions`].

use super::now;
use crate::{
    domain::{Scope, SessionId},
    tools::{CastChanges, Permits, ToolHost},
};

const DAY: i64 = 24 * 3_600 * 1_000;

/// Decisions of game masters about tools.
#[derive(Clone, Debug, Default)]
pub struct ToolDecisions {
    pub changes: CastChanges,
    /// Tools that need no more approval.
    pub permits: Permits,
}

/// Tools outside sessions with `decided` applied, and the name under which a day's calls count.
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
