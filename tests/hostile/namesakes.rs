//! People with equal names: stored lines tell them apart, and so do deletions.

use std::{fs, time::Duration};

use discord_loopback::{AUDIBLE, Member, Options, Player, Slash};
use serde_json::Value;

use crate::bot::hall::{BOUND, Hall, kept_states};

/// Full name of Bartok.
const BARTOK: &str = "Bartok the Barkeep";

/// `member` has Bartok roll dice for something of theirs, and waits until he has answered.
async fn rolls_for(hall: &Hall, dora: &Player, member: &Member, what: &str) {
    let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(700));
    dora.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    dora.forget();
    let text = format!("roll 2d6 for my {what}");
    hall.asks(member, Slash::new("say").option("text", text).option("npc", "Bartok")).await;
    dora.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    dora.wait_for_silence(bot, quiet, BOUND).await.unwrap();
}

async fn deletes_what_they_said(hall: &Hall, member: &Member) -> String {
    let asked = hall.asks(member, Slash::new("privacy delete")).await;
    let deleted = hall.presses(member, &asked.message.clone().unwrap(), "Delete what I said").await;
    assert!(deleted.text().contains("Deleted: 1 line,"), "{}", deleted.text());
    asked.text()
}

/// The conversations with Bartok, and who led to the calls, in what `hall` has stored.
fn kept(hall: &Hall) -> (Vec<Value>, Vec<String>) {
    let (mut messages, mut callers) = (Vec::new(), Vec::new());
    for (_, state) in kept_states(&hall.place) {
        let session: Value = serde_json::from_str(&state).unwrap();
        messages.extend(session["histories"][BARTOK].as_array().unwrap().iter().cloned());
    }
    for file in fs::read_dir(hall.place.path("data/sessions")).unwrap() {
        let path = file.unwrap().path();
        if path.to_str().unwrap().ends_with(".calls.jsonl") {
            let text = fs::read_to_string(&path).unwrap();
            let calls = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            callers.extend(calls.map(|call| call["speaker_id"].as_str().unwrap().to_owned()));
        }
    }
    (messages, callers)
}

#[tokio::test(flavor = "multi_thread")]
async fn namesakes_are_stored_and_deleted_apart() {
    let (mut hall, dora) = Hall::in_session(Options::default(), "").await;
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    let [anna, other, npc] = ["Anna", "Anna", BARTOK].map(|name| hall.inn.add_member(name, &[]));
    for (member, what) in [(&anna, "wombat"), (&other, "ferret"), (&npc, "badger")] {
        rolls_for(&hall, &dora, member, what).await;
    }
    let told = deletes_what_they_said(&hall, &anna).await;
    assert!(told.contains("else was called `Anna`"), "{told}");
    // A player called like an NPC forgets their own lines and none of the NPC's.
    deletes_what_they_said(&hall, &npc).await;
    hall.asks(&hall.dm, Slash::new("session stop")).await;
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    let (messages, callers) = kept(&hall);
    assert_eq!(callers, [other.id.to_string()]);
    let said: Vec<&Value> = messages.iter().filter_map(|it| it.get("user")).collect();
    assert_eq!(said.len(), 1, "{messages:?}");
    assert_eq!(said[0]["by"], other.id.to_string());
    assert!(said[0]["text"].as_str().unwrap().contains("ferret"));
    let spoken = messages.iter().filter_map(|it| it["assistant"]["text"].as_str());
    assert!(spoken.filter(|text| !text.is_empty()).count() > 0, "what he said stays: {messages:?}");
    // The other one, in the next run, finds and deletes what is theirs.
    hall.start().await;
    deletes_what_they_said(&hall, &other).await;
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    assert_eq!(kept(&hall), (Vec::new(), Vec::new()));
}
