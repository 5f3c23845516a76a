use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::{look::Look, *};
use crate::{
    memory::{
        CampaignKey, Change, Entity, EntityKind, Graph, Index, Item, ItemKind, MemoryStore,
        Present, Scope, Session, Sqlite, Status, Transcript, Uid, Utterance, Vector, Viewer,
        Visibility,
    },
    provider::{self, Embedder, Kind},
    tools::{CallErrorKind, framed_inline},
};

/// Time of the questions, in Unix time in ms.
const NOW: i64 = 1_800_000_000_000;
const DAY: i64 = 86_400_000;

struct Kept {
    store: Sqlite,
    scope: Scope,
    _folder: TempDir,
}

/// A store in which Bartok alone has heard of the promise, three days ago.
async fn kept() -> Kept {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(&folder.path().join("memory.db")).unwrap();
    let kept = Kept { store, scope: Scope::local(CampaignKey("c".to_owned())), _folder: folder };
    let old = Session { id: "old".to_owned(), ended: Some(NOW - 3 * DAY), ..Session::default() };
    kept.append(&kept.scope, Told { session: "old", ago: 3 * DAY }, &["Bartok"], PROMISE).await;
    kept.store.put_session(&kept.scope, old).await.unwrap();
    let now = Told { session: "now", ago: 600_000 };
    kept.append(&kept.scope, now, &["Bartok", "Mira"], "The bridge is closed").await;
    kept
}

#[tokio::test]
async fn question_of_a_program_is_read_in_its_frame() {
    let kept = kept().await;
    let text = "Who closed the drawbridge?".to_owned();
    let raw = Some(framed_inline("program", &text));
    let line = Utterance {
        uid: Uid("asked".to_owned()),
        session: "now".to_owned(),
        at: NOW,
        speaker: "somebody".to_owned(),
        text,
        raw,
        ..Utterance::default()
    };
    kept.store.append(&kept.scope, vec![line]).await.unwrap();
    let this = Map::from_iter([("session_id".to_owned(), json!("this"))]);
    let told = kept.look(Viewer::Dm).session_summary(&this).await.unwrap().to_string();
    assert!(told.contains("somebody: <tool-data from") && !told.contains("Wren: <"), "{told}");
}

const PROMISE: &str = "I promised your father to find the silver hammer";

/// Session of an utterance, and its age in ms.
struct Told {
    session: &'static str,
    ago: i64,
}

impl Kept {
    async fn append(&self, scope: &Scope, told: Told, npcs: &[&str], text: &str) {
        let Told { session, ago } = told;
        let present = npcs.iter().map(|name| Present { name: (*name).to_owned(), player: None });
        let line = Utterance {
            uid: Uid(format!("{session}-{text}")),
            session: session.to_owned(),
            at: NOW - ago,
            speaker_id: Some("Anna".to_owned()),
            speaker: "Anna".to_owned(),
            character: Some("Wren".to_owned()),
            npc: Some("Bartok".to_owned()),
            text: text.to_owned(),
            present: present.collect(),
            ..Utterance::default()
        };
        self.store.append(scope, vec![line]).await.unwrap();
    }

    fn look(&self, viewer: Viewer) -> Look<'_> {
        let (store, scope) = (&self.store as &dyn MemoryStore, &self.scope);
        let is_gated = AtomicBool::new(false);
        Look { store, scope, viewer, cast: &[], session: "now", now: NOW, is_gated }
    }
}

fn npc(name: &str) -> Viewer {
    Viewer::Npc { name: name.to_owned(), knows: Vec::new() }
}

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[tokio::test]
async fn line_search_finds_only_lines_heard_by_npc() {
    let kept = kept().await;
    let asked = arguments(json!({"query": "what did I promise your father"}));
    let found = kept.look(npc("Bartok")).lines(&asked).await.unwrap();
    let first = &found["results"][0];
    assert_eq!((&first["text"], &first["who"]), (&json!(PROMISE), &json!("Wren")), "{found:#}");
    assert_eq!((&first["when"], &first["to"]), (&json!("3 days ago"), &json!("Bartok")));
    let none = kept.look(npc("Mira")).lines(&asked).await.unwrap();
    assert_eq!(none["results"], json!([]), "{none:#}");
    assert!(none["note"].is_string());
    let last = arguments(json!({"query": "hammer bridge", "session_id": "last"}));
    let found = kept.look(npc("Bartok")).lines(&last).await.unwrap();
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found:#}");
    let unknown = arguments(json!({"query": "hammer", "session_id": "never"}));
    let error = kept.look(Viewer::Dm).lines(&unknown).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::InvalidArguments);
    assert!(error.message.contains("'never' (last, this, or an id)"), "{error}");
    let by_session = kept.look(npc("Bartok")).history(&asked).await.unwrap();
    assert_eq!(by_session["results"][0]["session"], "old", "{by_session:#}");
    assert_eq!(by_session["results"][0]["lines"][0], format!("Wren: {PROMISE}"));
}

#[tokio::test]
async fn earlier_questions_are_left_out_of_results() {
    let kept = kept().await;
    let now = Told { session: "now", ago: 60_000 };
    let before = "Bartok, what did I promise your father?";
    kept.append(&kept.scope, now, &["Bartok"], before).await;
    let asked = arguments(json!({"query": "And what did I promise your father?"}));
    let found = kept.look(npc("Bartok")).lines(&asked).await.unwrap();
    let texts = found["results"].as_array().unwrap().iter().map(|it| &it["text"]);
    assert_eq!(texts.collect::<Vec<_>>(), [&json!(PROMISE)], "{found:#}");
}

#[tokio::test]
async fn session_summary_hides_what_npc_did_not_hear() {
    let kept = kept().await;
    let last = arguments(json!({"session_id": "last"}));
    let told = kept.look(npc("Bartok")).session_summary(&last).await.unwrap();
    assert_eq!(told["lines"], json!([format!("Wren: {PROMISE}")]), "{told:#}");
    let told = kept.look(npc("Mira")).session_summary(&last).await.unwrap();
    assert_eq!((&told["lines"], &told["summary"]), (&json!([]), &Value::Null), "{told:#}");
    let summary = Some("A promise was made.".to_owned());
    let session = Session { id: "old".to_owned(), summary, ..Session::default() };
    kept.store.put_session(&kept.scope, session).await.unwrap();
    let told = kept.look(Viewer::Dm).session_summary(&last).await.unwrap();
    assert_eq!(told["summary"], "A promise was made.");
    let told = kept.look(npc("Mira")).session_summary(&last).await.unwrap();
    assert_eq!(told["summary"], Value::Null, "who was not there has not heard of it");
}

#[tokio::test]
async fn things_are_known_to_whom_they_may_be() {
    let kept = kept().await;
    let thing = |id: &str, visibility| Entity {
        id: id.to_owned(),
        kind: EntityKind::Location,
        name: id.to_owned(),
        aliases: Vec::new(),
        description: "A place.".to_owned(),
        attributes: Default::default(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility,
        source: None,
    };
    let changes = vec![
        Change::Put(thing("Quarry", Visibility::Dm)),
        Change::Put(thing("Mill", Visibility::Everyone)),
    ];
    kept.store.apply(&kept.scope, changes).await.unwrap();
    let places = arguments(json!({"type": "location"}));
    let count = |value: Value| value["results"].as_array().unwrap().len();
    assert_eq!(count(kept.look(npc("Mira")).entities(&places).await.unwrap()), 1);
    assert_eq!(count(kept.look(Viewer::Dm).entities(&places).await.unwrap()), 2);
    let quarry = arguments(json!({"entity_id": "quarry"}));
    for (viewer, is_gated) in [(npc("Mira"), false), (Viewer::Dm, true)] {
        let look = kept.look(viewer);
        look.entities(&places).await.unwrap();
        assert_eq!(look.is_gated.load(Ordering::Relaxed), is_gated, "{:?}", look.viewer);
    }
    let told = kept.look(Viewer::Dm).summary(&quarry).await.unwrap();
    assert_eq!((&told["name"], &told["about"]), (&json!("Quarry"), &json!("A place.")));
    let error = kept.look(npc("Mira")).summary(&quarry).await.unwrap_err();
    assert!(error.message.contains("nothing is known of 'quarry'"), "{error}");
}

#[tokio::test]
async fn cast_is_found_beside_the_entities() {
    let kept = kept().await;
    let person = |name: &str, about: &str| Entity {
        id: name.to_lowercase(),
        kind: EntityKind::Npc,
        name: name.to_owned(),
        aliases: vec![format!("{name} Stone")],
        description: about.to_owned(),
        attributes: Default::default(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility: Visibility::Everyone,
        source: None,
    };
    let changes = vec![Change::Put(person("Mira", "A thief."))];
    kept.store.apply(&kept.scope, changes).await.unwrap();
    let cast = [person("Mira", ""), person("Bartok", "")];
    let look = Look { cast: &cast, ..kept.look(npc("Mira")) };
    let found = async |asked: Value| {
        let found = look.entities(&arguments(asked)).await.unwrap();
        let results = found["results"].as_array().unwrap().clone();
        results.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(json!({"type": "npc"})).await, ["Mira", "Bartok"]);
    assert_eq!(found(json!({"name": "TOK"})).await, ["Bartok"]);
    assert_eq!(found(json!({"name": "Bartok", "type": "item"})).await, [""; 0]);
    let asked = |who: &str| arguments(json!({ "entity_id": who }));
    let told = look.summary(&asked("bartok stone")).await.unwrap();
    assert_eq!((&told["name"], told.get("about")), (&json!("Bartok"), None), "{told:#}");
    assert_eq!(look.summary(&asked("Mira")).await.unwrap()["about"], "A thief.");
}

/// Returns fixed vectors, or fails.
struct Vectors {
    made: Mutex<Option<Vec<f32>>>,
    asked: Mutex<Vec<String>>,
}

impl Embedder for Vectors {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn dimension(&self) -> Option<usize> {
        Some(2)
    }

    fn embed(
        &self,
        texts: &[String],
    ) -> BoxFuture<'static, Result<Vec<Vec<f32>>, provider::Error>> {
        self.asked.lock().unwrap().extend(texts.iter().cloned());
        let vector = self.made.lock().unwrap().clone();
        let vectors = vector.map(|vector| vec![vector; texts.len()]);
        ready(vectors.ok_or_else(|| provider::Error::new(Kind::Missing, "no model"))).boxed()
    }
}

fn fact(id: &str, text: &str) -> Item {
    Item {
        id: id.to_owned(),
        kind: ItemKind::Fact,
        text: text.to_owned(),
        session: None,
        lines: None,
        visibility: Visibility::Everyone,
        status: Status::Accepted,
        made: NOW - DAY,
    }
}

#[tokio::test]
async fn facts_are_found_by_words_and_by_meaning() {
    let kept = kept().await;
    let items = vec![fact("a", "The smith wants his mallet"), fact("b", "Geese fly south")];
    kept.store.put_items(&kept.scope, items).await.unwrap();
    let vector =
        |item: &str, values: [f32; 2]| Vector { item: item.to_owned(), values: values.to_vec() };
    let vectors = vec![vector("a", [1.0, 0.1]), vector("b", [0.0, 1.0])];
    kept.store.put_vectors(&kept.scope, "m", vectors).await.unwrap();
    let made = Mutex::new(Some(vec![1.0, 0.0]));
    let embedder = Arc::new(Vectors { made, asked: Mutex::default() });
    let meaning = Meaning { model: "m".to_owned(), embedder: Arc::clone(&embedder) as _ };
    let asked = arguments(json!({"query": "hammer"}));
    let texts = |value: &Value| -> Vec<String> {
        let results = value["results"].as_array().unwrap();
        results.iter().map(|it| it["text"].as_str().unwrap().to_owned()).collect()
    };
    let look = kept.look(npc("Bartok"));
    let found = look.facts(&asked, &meaning).await.unwrap();
    assert!(texts(&found).contains(&PROMISE.to_owned()), "{found:#}");
    assert!(texts(&found).contains(&"The smith wants his mallet".to_owned()), "{found:#}");
    assert_eq!(found.get("searched"), None);
    *embedder.made.lock().unwrap() = None;
    let found = look.facts(&asked, &meaning).await.unwrap();
    assert_eq!(texts(&found), [PROMISE], "{found:#}");
    assert!(found["searched"].as_str().unwrap().contains("embedder failed"), "{found:#}");
    let other = kept.look(npc("Mira")).facts(&asked, &meaning).await.unwrap();
    assert_eq!(texts(&other), [""; 0], "{other:#}");
}

#[tokio::test]
async fn keys_leave_in_no_question_to_an_embedder() {
    let kept = kept().await;
    let embedder = Arc::new(Vectors { made: Mutex::default(), asked: Mutex::default() });
    let meaning = Meaning { model: "m".to_owned(), embedder: Arc::clone(&embedder) as _ };
    let asked = arguments(json!({"query": "the mill sk-proj-\u{200b}0123456789abcdefgh"}));
    kept.look(npc("Bartok")).facts(&asked, &meaning).await.unwrap();
    assert_eq!(*embedder.asked.lock().unwrap(), ["the mill <secret>"]);
}

#[tokio::test]
async fn facts_without_embedder_match_similar_spelling() {
    let kept = kept().await;
    let meaning = Meaning::by_spelling();
    let items = vec![fact("a", "Greymantle reads the stars"), fact("b", "Geese fly south")];
    let texts: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
    kept.store.put_items(&kept.scope, items).await.unwrap();
    let made = meaning.embedder.embed(&texts).await.unwrap();
    let vectors = ["a", "b"].into_iter().zip(made);
    let vectors = vectors.map(|(item, values)| Vector { item: item.to_owned(), values });
    kept.store.put_vectors(&kept.scope, &meaning.model, vectors.collect()).await.unwrap();
    let look = kept.look(npc("Mira"));
    for asked in ["what of Greymantel?", "who was reading stars", "tell me of the star"] {
        let found = look.facts(&arguments(json!({"query": asked})), &meaning).await.unwrap();
        assert_eq!(found["results"].as_array().unwrap().len(), 1, "{asked}: {found:#}");
        assert_eq!(found["results"][0]["text"], "Greymantle reads the stars", "{asked}");
        assert!(found["searched"].as_str().unwrap().contains("no embedder"), "{found:#}");
    }
    let found = look.facts(&arguments(json!({"query": "the river"})), &meaning).await.unwrap();
    assert_eq!(found["note"], "nothing is known of that", "{found:#}");
}

#[tokio::test]
async fn chunk_hit_is_shown_as_its_line() {
    let kept = kept().await;
    let chunk = Item {
        id: "chunk".to_owned(),
        kind: ItemKind::Chunk,
        text: format!("Wren: {PROMISE}"),
        session: Some("old".to_owned()),
        lines: Some((1, 1)),
        visibility: Visibility::Everyone,
        status: Status::Accepted,
        made: NOW,
    };
    kept.store.put_items(&kept.scope, vec![chunk]).await.unwrap();
    let asked = arguments(json!({"query": "hammer"}));
    let found = kept.look(npc("Bartok")).facts(&asked, &Meaning::by_spelling()).await.unwrap();
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found:#}");
    assert_eq!(found["results"][0]["text"], PROMISE);
}
