use std::{collections::BTreeMap, sync::Arc};

use tempfile::TempDir;

use super::*;
use crate::memory::{
    ASKED, CampaignKey, Change, Entity, EntityKind, Graph, Index, Item, Present, Provenance,
    Relation, RelationKey, Scope, Session, Sqlite, Status, Transcript, Uid, Utterance, Visibility,
};

const NOW: i64 = 1_800_000_000_000;

fn campaign() -> Scope {
    Scope::local(CampaignKey("c".to_owned()))
}

fn entity(id: &str, name: &str, visibility: Visibility) -> Change {
    Change::Put(Entity {
        id: id.to_owned(),
        kind: EntityKind::Npc,
        name: name.to_owned(),
        aliases: Vec::new(),
        description: format!("what is known of {id}"),
        attributes: BTreeMap::new(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility,
        source: None,
    })
}

fn tie(from: &str, kind: &str, to: &str) -> Change {
    Change::Tie(Relation {
        key: RelationKey { from: from.to_owned(), kind: kind.to_owned(), to: to.to_owned() },
        attributes: BTreeMap::new(),
        visibility: Visibility::Everyone,
        provenance: Provenance::default(),
    })
}

fn line(session: &str, npcs: &[&str], text: &str) -> Utterance {
    let present = npcs.iter().map(|name| Present { name: (*name).to_owned(), player: None });
    Utterance {
        uid: Uid(format!("{session} {text}")),
        session: session.to_owned(),
        at: NOW - 86_400_000,
        speaker_id: Some("7".to_owned()),
        speaker: "Anna".to_owned(),
        text: text.to_owned(),
        present: present.collect(),
        ..Utterance::default()
    }
}

/// The first line of the previous session.
fn fact(text: &str, status: Status) -> Item {
    Item {
        id: text.to_owned(),
        kind: ItemKind::Fact,
        text: text.to_owned(),
        session: Some("before".to_owned()),
        lines: Some((1, 1)),
        visibility: Visibility::Everyone,
        status,
        made: NOW,
    }
}

async fn recaller() -> (Arc<Recaller>, TempDir) {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(&folder.path().join("memory.db")).unwrap();
    let world = vec![
        entity("bartok", "Bartok the Barkeep", Visibility::Everyone),
        entity("nessa", "Old Nessa", Visibility::Everyone),
        entity("marrow", "Marrow", Visibility::Dm),
        tie("bartok", "sister_of", "nessa"),
        tie("bartok", "paid_by", "marrow"),
    ];
    store.apply(&campaign(), world).await.unwrap();
    let lines = vec![
        line("before", &["Bartok the Barkeep"], "I promised your father a hammer"),
        line("before", &["Mira"], "the father of Mira was promised a ring"),
        // The turn that asks has it already.
        Utterance {
            outcome: ASKED.to_owned(),
            at: NOW,
            ..line("now", &["Bartok the Barkeep"], "what did I promise your father?")
        },
    ];
    store.append(&campaign(), lines).await.unwrap();
    let facts = vec![
        fact("the hammer for the father is promised for midsummer", Status::Accepted),
        fact("the promised father is a ghost", Status::Proposed),
    ];
    store.put_items(&campaign(), facts).await.unwrap();
    let now = Session { id: "now".to_owned(), started: Some(NOW), ..Session::default() };
    store.put_session(&campaign(), now).await.unwrap();
    let memory = Memory { store: Arc::new(store), scope: campaign(), now: || NOW };
    (Arc::new(Recaller::new(memory, SessionId("now".to_owned()))), folder)
}

fn question(npc: &str, utterance: &str, history: &[Message]) -> Question {
    Question::new(&Npc::plain(npc), utterance, history)
}

#[tokio::test]
async fn npc_recalls_only_facts_known_to_it_or_heard() {
    let (recaller, _folder) = recaller().await;
    let asked = "what did I promise your father, old Nessa or Marrow?";
    // Even on a busy machine.
    let by = Instant::now() + Duration::from_secs(60);
    let (recalled, late) = recaller.look(&question("Bartok the Barkeep", asked, &[]), by).await;
    assert_eq!(late, [""; 0]);
    assert_eq!(recalled.relations, ["you sister of Old Nessa"], "Marrow is the game master's");
    assert_eq!(
        recalled.named,
        [
            "Old Nessa: what is known of nessa",
            "the hammer for the father is promised for midsummer",
        ],
        "what is only proposed is not told"
    );
    assert_eq!(recalled.said, ["Anna, 24 hours ago: I promised your father a hammer"]);
    let known = [Message::User("Anna: I promised your father a hammer".into())];
    let asked = "what did I promise your father last time?";
    let (recalled, _) = recaller.look(&question("Bartok the Barkeep", asked, &known), by).await;
    assert_eq!(recalled.said, [""; 0], "the conversation has it");
    assert_eq!(recalled.last_session.len(), 1, "{recalled:?}");
    let (recalled, _) = recaller.look(&question("Vesper", asked, &[]), by).await;
    assert_eq!(recalled, Recalled::default());
}

#[tokio::test]
async fn words_left_open_are_recalled_later() {
    let (recaller, _folder) = recaller().await;
    let by = Instant::now() + Duration::from_secs(60);
    let asked = question("Bartok the Barkeep", "your father?", &[]);
    let (recalled, _) = recaller.look(&asked, by).await;
    assert_eq!(recalled.said, ["Anna, 24 hours ago: I promised your father a hammer"]);
    // Another process goes on with the session.
    let goes_on = Session { id: "now".to_owned(), started: Some(NOW + 1), ..Session::default() };
    recaller.memory.store.put_session(&campaign(), goes_on).await.unwrap();
    let (recalled, _) = recaller.look(&asked, by).await;
    let open = |it: &String| it.ends_with(": what did I promise your father?");
    assert!(recalled.said.len() == 2 && recalled.said.iter().any(open), "{recalled:?}");
}

#[tokio::test]
async fn late_lookups_are_omitted_and_listed() {
    let (recaller, _folder) = recaller().await;
    let asked = question("Bartok the Barkeep", "what did I promise your father last time?", &[]);
    let (recalled, late) = recaller.look(&asked, Instant::now()).await;
    let parts = [
        ("relations", &recalled.relations),
        ("earlier lines", &recalled.said),
        ("last session", &recalled.last_session),
    ];
    for (part, found) in parts {
        // A lookup that has ended before the time is checked is not late.
        assert_eq!(late.contains(&part), found.is_empty(), "{part}: {late:?}");
    }
    let (recall, told) = recaller.recall(asked, Duration::from_millis(50));
    assert_eq!(told.get(), None, "it begins when somebody waits for it");
    let recalled = recall.await;
    let line = told.get().unwrap();
    assert_eq!(line.found, recalled.len());
}
