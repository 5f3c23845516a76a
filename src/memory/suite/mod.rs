//! Tests for every store, on either engine.
//!
//! Entry function: [`run`], with a way to open an empty store. **Never**: looks into a store.

pub mod automation;
mod deletions;
mod graph;
mod items;
pub mod kept;
pub mod kept_tables;
pub mod leases;
mod lines;
pub mod moved;
mod sample;
mod scopes;
mod spending;
mod tokens;

use std::sync::Arc;

use super::MemoryStore;

/// Tests everything on empty stores from `open`.
pub async fn run(open: impl Fn() -> Arc<dyn MemoryStore>) {
    lines::appending(&*open()).await;
    lines::open_words(&*open()).await;
    lines::searching(&*open()).await;
    lines::common_words(&*open()).await;
    lines::witnesses(&*open()).await;
    lines::withdrawing(&*open()).await;
    lines::forgetting(&*open()).await;
    lines::answers(&*open()).await;
    lines::settings(&*open()).await;
    items::finding(&*open()).await;
    items::derived(&*open()).await;
    graph::finding(&*open()).await;
    graph::all_relations(&*open()).await;
    graph::ways(&*open()).await;
    graph::batches(&*open()).await;
    scopes::apart(&*open()).await;
    spending::accounts(&*open()).await;
    spending::caps(&*open()).await;
    spending::costs(&*open()).await;
    deletions::records(&*open()).await;
    deletions::moments(&*open()).await;
    automation::runs(&*open()).await;
    automation::schedules(&*open()).await;
    automation::due_schedules(&*open()).await;
    automation::claims(&*open()).await;
    automation::people(&*open()).await;
    tokens::records(&*open()).await;
    kept_tables::records(&*open()).await;
    leases::alone(&*open()).await;
}
