use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::{
    campaign::Scoped,
    domain::{CampaignKey, Owner, PersonId, Scope},
    import::Mistake,
    memory::{
        Asked, Automation, Change, Deletion, Deletions, Entity, EntityKind, Forget, ForgetFrom,
        Graph, Index, Item, ItemKind, KeptRun, KeptSchedule, Present, Provenance, Relation,
        RelationKey, Session, Sqlite, Status, Transcript, Uid, Utterance, Visibility,
    },
};

fn scope() -> Scope {
    Scope::local(CampaignKey("saltmarsh".to_owned()))
}

fn other() -> Scope {
    Scope { owner: Owner::Guild(42), ..scope() }
}

/// A new store in a folder of its own.
fn store() -> (tempfile::TempDir, Sqlite) {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("memory.db")).unwrap();
    (folder, store)
}

/// Line `n`, by Anna if it is odd, else Bartok's answer to her.
fn line(n: u64) -> Utterance {
    let present = vec![
        Present { name: "Anna".to_owned(), player: Some("7".to_owned()) },
        Present { name: "Bartok".to_owned(), player: None },
    ];
    let at = 1_000_000 + i64::try_from(n).unwrap() * 1_000;
    let line = Utterance {
        uid: Uid(format!("one-{n}")),
        session: "one".to_owned(),
        turn: n,
        at,
        duration: 900,
        npc: Some("Bartok".to_owned()),
        text: format!("line {n}\u{202e} ${{HOME}}"),
        present,
        outcome: "spoken".to_owned(),
        ..Utterance::default()
    };
    match n % 2 {
        1 => Utterance {
            speaker_id: Some("7".to_owned()),
            speaker: "Anna".to_owned(),
            character: Some("Rhea".to_owned()),
            raw: Some(format!("raw {n}")),
            tools: json!([{ "tool": "dice-roller.roll", "p50": 0.25 }]),
            visibility: if n == 5 { Visibility::Dm } else { Visibility::Everyone },
            ..line
        },
        _ => Utterance {
            speaker: "Bartok".to_owned(),
            asked: Some(Asked { by: "7".to_owned(), at: at - 1_000 }),
            ..line
        },
    }
}

fn item(id: &str, lines: Option<(u64, u64)>) -> Item {
    Item {
        id: id.to_owned(),
        kind: ItemKind::Fact,
        text: format!("fact {id}"),
        session: lines.map(|_| "one".to_owned()),
        lines,
        visibility: Visibility::Npcs(vec!["Bartok".to_owned()]),
        status: Status::Accepted,
        made: 3,
    }
}

fn entity(id: &str) -> Entity {
    Entity {
        id: id.to_owned(),
        kind: EntityKind::Location,
        name: id.to_uppercase(),
        aliases: vec!["Öld".to_owned()],
        description: "A place.".to_owned(),
        attributes: BTreeMap::from([("age".to_owned(), json!(7))]),
        tags: vec!["north".to_owned()],
        knowledge: vec!["trade".to_owned()],
        visibility: Visibility::Dm,
        source: Some("import:x".to_owned()),
    }
}

fn relation(from: &str, to: &str, utterance: Option<&str>) -> Relation {
    let utterance = utterance.map(|uid| Uid(uid.to_owned()));
    let session = utterance.as_ref().map(|_| "one".to_owned());
    Relation {
        key: RelationKey { from: from.to_owned(), kind: "near".to_owned(), to: to.to_owned() },
        attributes: BTreeMap::new(),
        visibility: Visibility::Everyone,
        provenance: Provenance { session, utterance, confidence: 0.7, ..Provenance::default() },
    }
}

/// A run that Anna started.
fn run() -> KeptRun {
    let record = json!({
        "run": "run-1", "workflow": "bells", "starter": { "person": "7" }, "steps": [],
        "tainted": false, "end": "done",
    });
    KeptRun {
        id: "run-1".to_owned(),
        workflow: "bells".to_owned(),
        began: 1_000,
        ended: Some(2_000),
        record: record.to_string(),
    }
}

fn schedule(id: &str, next: Option<i64>) -> KeptSchedule {
    KeptSchedule {
        id: id.to_owned(),
        when: json!({ "at": 9_000 }).to_string(),
        action: json!({ "line": { "npc": "Bartok", "text": "It is late." } }).to_string(),
        by: Some(PersonId("7".to_owned())),
        made: 1_000,
        next,
        last: None,
    }
}

/// A session of nine lines, of which one was withdrawn and Ben's was deleted; facts, entities, relations; a run
/// and two schedules.
async fn fill(store: &Sqlite) {
    let scope = scope();
    let ben = |line: Utterance| Utterance { speaker_id: Some("8".to_owned()), ..line };
    let lines = (1..=9).map(|n| if n == 7 { ben(line(n)) } else { line(n) }).collect();
    store.append(&scope, lines).await.unwrap();
    let later = Session { id: "two".to_owned(), started: Some(9_000_000), ..Session::default() };
    store.put_session(&scope, later).await.unwrap();
    store.withdraw(&scope, vec![Uid("one-3".to_owned())]).await.unwrap();
    let forget = Forget::Player { id: "8".to_owned(), before: i64::MAX };
    store.forget(&scope, forget).await.unwrap();
    let session = Session {
        id: "one".to_owned(),
        title: Some("The mill".to_owned()),
        started: Some(999_000),
        ended: Some(2_000_000),
        summary: Some("The mill burned.".to_owned()),
    };
    store.put_session(&scope, session).await.unwrap();
    let chunk = Item { kind: ItemKind::Chunk, ..item("chunk", Some((1, 2))) };
    let rejected = Item { status: Status::Rejected, ..item("rejected", None) };
    let items = vec![chunk, item("fact", Some((4, 4))), rejected];
    assert_eq!(store.put_items(&scope, items).await.unwrap(), 3);
    let changes = vec![
        Change::Put(entity("mill")),
        Change::Put(entity("town")),
        Change::Tie(relation("mill", "town", Some("one-1"))),
        Change::Tie(relation("town", "mill", None)),
    ];
    store.apply(&scope, changes).await.unwrap();
    store.keep_run(&scope, run()).await.unwrap();
    for schedule in [schedule("waits", None), schedule("late", Some(9_000))] {
        store.add_schedule(&scope, schedule).await.unwrap();
    }
}

/// `held` through its files.
fn through_files(held: ScopeContent, scope: Scope) -> Result<Folder, Vec<Mistake>> {
    let texts = texts(&Folder { held, calls: BTreeMap::new() }).unwrap();
    let manifest = Manifest::of(scope, &texts).text().unwrap();
    let manifest = Manifest::read(manifest.as_bytes()).unwrap();
    let bytes = texts.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    read_texts(&manifest, &bytes)
}

#[tokio::test]
async fn campaign_returns_equal_and_only_once() {
    let ((_from, from), (_to, to)) = (store(), store());
    fill(&from).await;
    let (scope, other) = (scope(), other());
    let there = held(Scoped::new(&from, &scope)).await.unwrap();
    assert_eq!((there.lines.len(), there.items.len(), there.relations.len()), (9, 3, 2));
    let gone: Vec<u64> = there.lines.iter().filter(|it| it.withdrawn).map(|it| it.seq).collect();
    assert_eq!(gone, [3, 7]);
    let folder = through_files(there.clone(), scope.clone()).unwrap();
    assert_eq!(folder.held, there);
    for scope in [&scope, &other] {
        let at = Scoped::new(&to, scope);
        let plan = plan_return(at, folder.held.clone()).await.unwrap();
        let tally = Tally { sessions: 2, lines: 9, items: 3, entities: 2, ..Tally::default() };
        assert_eq!(plan.tally, Tally { relations: 2, runs: 1, schedules: 2, ..tally });
        plan.carry_out(at).await.unwrap();
        assert_eq!(held(at).await.unwrap(), there);
        assert_eq!(to.counts(scope).await.unwrap(), from.counts(&self::scope()).await.unwrap());
        let again = plan_return(at, folder.held.clone()).await.unwrap();
        assert_eq!(again.tally, Tally::default());
        again.carry_out(at).await.unwrap();
        assert_eq!(held(at).await.unwrap(), there);
    }
}

#[tokio::test]
async fn deleted_words_do_not_come_back() {
    let (_folder, store) = store();
    fill(&store).await;
    let scope = scope();
    let at = Scoped::new(&store, &scope);
    let export = held(at).await.unwrap();
    let forget = Forget::Player { id: "7".to_owned(), before: i64::MAX };
    store.forget(&scope, forget).await.unwrap();
    let plan = plan_return(at, export).await.unwrap();
    plan.carry_out(at).await.unwrap();
    let now = held(at).await.unwrap();
    assert!(now.lines.iter().all(|line| line.withdrawn && line.said.text.is_empty()), "{now:?}");
    let facts: Vec<&str> = now.items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!((facts, now.relations.len()), (vec!["rejected"], 1));
    assert_eq!(now.sessions[0].summary, None);
    assert!(now.schedules.iter().all(|it| it.by.is_none()), "{:?}", now.schedules);
    assert!(now.runs[0].record.contains(r#"{"person":""}"#), "{:?}", now.runs);
}

#[tokio::test]
async fn words_that_wait_for_deletion_stay_here() {
    let (_folder, store) = store();
    fill(&store).await;
    let scope = scope();
    let from = ForgetFrom { owner: Owner::Local, session: None };
    store.put_deletion(Deletion::of("7".to_owned(), from, i64::MAX)).await.unwrap();
    let export = held(Scoped::new(&store, &scope)).await.unwrap();
    let text = format!("{export:?}");
    assert!(
        !text.contains("raw 1") && !text.contains("Rhea") && !text.contains("burned"),
        "{text}"
    );
    assert_eq!((export.lines.len(), export.items.len()), (9, 1));
    assert!(export.schedules.iter().all(|it| it.by.is_none()), "{text}");
    assert!(export.runs[0].record.contains(r#"{"person":""}"#), "{text}");
}

#[tokio::test]
async fn entries_of_the_store_are_kept() {
    let (_folder, store) = store();
    fill(&store).await;
    let scope = scope();
    let at = Scoped::new(&store, &scope);
    let mut export = held(at).await.unwrap();
    export.entities[0].description = "Another place.".to_owned();
    export.items[1].text = "another fact".to_owned();
    let plan = plan_return(at, export).await.unwrap();
    assert_eq!(plan.tally, Tally { kept: 2, ..Tally::default() });
}

#[tokio::test]
async fn contradictions_are_refused_before_writing() {
    let (_folder, store) = store();
    let scope = scope();
    let at = Scoped::new(&store, &scope);
    store.append(&scope, vec![Utterance { uid: Uid("x".to_owned()), ..line(1) }]).await.unwrap();
    let before = held(at).await.unwrap();
    let mut export = ScopeContent { relations: vec![relation("a", "b", None)], ..before.clone() };
    export.lines[0].said.uid = Uid("y".to_owned());
    let error = plan_return(at, export.clone()).await.unwrap_err().to_string();
    assert!(error.contains("'one': this campaign has another one"), "{error}");
    assert!(error.contains("relation 'a near b': an entity of it is missing"), "{error}");
    export.lines[0].seq = 2;
    export.lines[0].said.session = "three".to_owned();
    let error = plan_return(at, export).await.unwrap_err().to_string();
    assert!(error.contains("'three', which is no session"), "{error}");
    assert!(error.contains("'three': lines are missing"), "{error}");
    assert_eq!(held(at).await.unwrap(), before);
}

#[tokio::test]
async fn unreadable_schedules_are_refused() {
    let (_folder, store) = store();
    let scope = scope();
    let at = Scoped::new(&store, &scope);
    let unknown =
        KeptSchedule { when: json!({ "full_moon": 1 }).to_string(), ..schedule("a", None) };
    let torn = KeptSchedule { action: "{".to_owned(), ..schedule("b", None) };
    let whole = schedule("c", None);
    let schedules = vec![unknown, torn, whole.clone(), whole, schedule(&"d".repeat(65), None)];
    let runs = vec![KeptRun { record: "{}".to_owned(), ..run() }];
    let export = ScopeContent { runs, schedules, ..ScopeContent::default() };
    let error = plan_return(at, export).await.unwrap_err().to_string();
    for part in ["run 'run-1': cannot", "schedule 'a': cannot", "schedule 'b': cannot"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(error.contains("schedule 'c': invalid or repeated id"), "{error}");
    assert_eq!(error.lines().count(), 5, "{error}");
    assert_eq!(held(at).await.unwrap(), ScopeContent::default());
}

#[test]
fn broken_copies_are_named_by_file_and_line() {
    let mut held = ScopeContent::default();
    held.entities.extend([entity("mill"), entity("town")]);
    let texts = texts(&Folder { held, calls: BTreeMap::new() }).unwrap();
    let manifest = Manifest::of(scope(), &texts);
    let bytes = |texts: &BTreeMap<&'static str, String>| {
        texts
            .iter()
            .map(|(name, text)| (*name, text.clone().into_bytes()))
            .collect::<BTreeMap<_, _>>()
    };
    let mut short = texts.clone();
    let entities = short.get_mut("store/entities.jsonl").unwrap();
    *entities = entities.lines().next().unwrap().to_owned();
    let mistakes = read_texts(&manifest, &bytes(&short)).unwrap_err();
    assert_eq!(mistakes[0].message, "the number of entries is 1, not 2");
    let mut broken = texts;
    broken.insert("store/entities.jsonl", "{\"id\": 7}\n{".to_owned());
    let mistakes = read_texts(&manifest, &bytes(&broken)).unwrap_err();
    let places: Vec<&str> = mistakes.iter().map(|it| it.place.as_str()).collect();
    assert_eq!(places, ["line 1", "line 2"]);
    let newer = manifest.text().unwrap().replace("\"version\": 1", "\"version\": 99");
    assert!(Manifest::read(newer.as_bytes()).unwrap_err().message.contains("version 99"));
    assert!(Manifest::read(b"{}").is_err() && Manifest::read(b"[").is_err());
}
