//! The suite's campaign, people and lines.

use crate::memory::{CampaignKey, Owner, Present, Scope, Uid, Utterance, Viewer};

pub fn key() -> Scope {
    Scope::local(CampaignKey("saltmarsh".to_owned()))
}

pub fn other() -> Scope {
    Scope::local(CampaignKey("elsewhere".to_owned()))
}

/// The campaign of [`key`] as a guild plays it.
pub fn of_guild(guild: u64) -> Scope {
    Scope { owner: Owner::Guild(guild), ..key() }
}

pub fn npc(name: &str) -> Viewer {
    Viewer::Npc { name: name.to_owned(), knows: vec!["Trade".to_owned()] }
}

/// The `n`th line of a session, said by Anna to Bartok in Mira's presence.
pub fn line(session: &str, n: u64, text: &str) -> Utterance {
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

pub fn heard(name: &str) -> Present {
    Present { name: name.to_owned(), player: None }
}

pub fn player(name: &str, id: &str) -> Present {
    Present { name: name.to_owned(), player: Some(id.to_owned()) }
}
