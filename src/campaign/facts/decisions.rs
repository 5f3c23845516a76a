//! Facts that models propose, and the game master's verdicts.
//!
//! Entry functions: [`facts`], [`decide`]. **Never**: takes a proposal for true unasked.

use super::fact::Verdict;
use crate::{
    campaign::Scoped,
    memory::{Error, Item, ItemFilter, ItemKind, Status, Viewer},
};

/// The facts that wait for the game master, the oldest first; with `all` those that were decided
/// too.
///
/// # Errors
/// The memory cannot be read.
pub async fn facts(at: Scoped<'_>, all: bool) -> Result<Vec<Item>, Error> {
    let filter = ItemFilter {
        kinds: vec![ItemKind::Fact],
        status: (!all).then_some(Status::Proposed),
        ..ItemFilter::default()
    };
    at.store.items(at.scope, filter, Viewer::Dm).await
}

/// Decides on a fact; whether there is one of this id.
///
/// # Errors
/// The memory cannot be written.
pub async fn decide(at: Scoped<'_>, id: &str, verdict: Verdict) -> Result<bool, Error> {
    let ids = Some(vec![id.to_owned()]);
    let filter = ItemFilter { ids, kinds: vec![ItemKind::Fact], ..ItemFilter::default() };
    let Some(mut fact) = at.store.items(at.scope, filter, Viewer::Dm).await?.pop() else {
        return Ok(false);
    };
    fact.status = match verdict {
        Verdict::Accept => Status::Accepted,
        Verdict::Reject => Status::Rejected,
        Verdict::Edit(text) => {
            fact.text = text;
            Status::Accepted
        }
    };
    Ok(at.store.put_items(at.scope, vec![fact]).await? > 0)
}
