//! What every store must do, whatever it is made of.
//!
//! Entry function: [`run`], over a way to open an empty store. **Never**: looks into a store.

mod graph;
mod items;
pub mod kept;
mod lines;

use std::sync::Arc;

use super::{CampaignKey, MemoryStore, Present, Uid, Utterance, Viewer};

/// Everything there is to a store, on empty ones of `open`.
pub async fn run(open: impl Fn() -> Arc<dyn MemoryStore>) {
    lines::appending(&*open()).await;
    lines::searching(&*open()).await;
    lines::common_words(&*open()).await;
    lines::witnesses(&*open()).await;
    lines::withdrawing(&*open()).await;
    lines::forgetting(&*open()).await;
    lines::settings(&*open()).await;
    items::finding(&*open()).await;
    items::derived(&*open()).await;
    graph::finding(&*open()).await;
    graph::ways(&*open()).await;
    graph::batches(&*open()).await;
}

fn key() -> CampaignKey {
    CampaignKey("saltmarsh".to_owned())
}

fn other() -> CampaignKey {
    CampaignKey("elsewhere".to_owned())
}

fn npc(name: &str) -> Viewer {
    Viewer::Npc { name: name.to_owned(), knows: vec!["Trade".to_owned()] }
}

/// The `n`th line of a session, said by Anna to Bartok while Mira is there too.
fn line(session: &str, n: u64, text: &str) -> Utterance {
    Utterance {
        uid: Uid(format!("{session}-{n}")),
        session: session.to_owned(),
        turn: n,
        at: 1_000_000 + i64::try_from(n).unwrap() * 1_000,
        duration: 900,
        speaker_id: Some("7".to_owned()),
        speaker: "Anna".to_owned(),
        character: Some("Rhea".to_owned()),
        npc: Some("Bartok".to_owned()),
        text: text.to_owned(),
        raw: Some(format!("raw {text}")),
        present: vec![heard("Bartok"), heard("Mira"), player("Anna", "7"), player("Ben", "8")],
        outcome: "spoken".to_owned(),
        tools: serde_json::json!([{ "tool": "dice-roller.roll" }]),
        ..Utterance::default()
    }
}

fn heard(name: &str) -> Present {
    Present { name: name.to_owned(), player: None }
}

fn player(name: &str, id: &str) -> Present {
    Present { name: name.to_owned(), player: Some(id.to_owned()) }
}
