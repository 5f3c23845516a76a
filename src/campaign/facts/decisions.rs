//! Proposed facts, and the game master's verdicts. Entry functions: [`facts`], [`decide`].

use super::fact::Verdict;
use crate::{
    campaign::Scoped,
    memory::{Error, Item, ItemFilter, ItemKind, Status, Viewer},
};

/// Undecided facts, oldest first; with `all`, the decided ones too.
pub async fn facts(at: Scoped<'_>, all: bool) -> Result<Vec<Item>, Error> {
    let filter = ItemFilter {
        kinds: vec![ItemKind::Fact],
        status: (!all).then_some(Status::Proposed),
        ..ItemFilter::default()
    };
    at.store.items(at.scope, filter, Viewer::Dm).await
}

/// Decides a fact; false if no fact has this id.
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
