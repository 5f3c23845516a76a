//! The conformance suite on a real server, and what only a server can do.

#[path = "../../../tests/support/processes.rs"]
#[expect(dead_code, reason = "tests of the real program use the rest")]
mod processes;
#[path = "../../../tests/support/postgres.rs"]
mod server;

use std::{
    collections::BTreeMap,
    env,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use serde_json::json;

use super::*;
use crate::memory::*;
use server::Server;

/// One server for all tests; it ends with the process.
static SERVER: LazyLock<Mutex<Option<Server>>> = LazyLock::new(|| Mutex::new(Server::start()));

/// The server of `GLYPHOXA_TEST_POSTGRES`, or our own; `None`: there is none, which has been said.
#[expect(clippy::disallowed_methods, reason = "tests are told where another server is")]
fn url(database: &str) -> Option<String> {
    let Ok(given) = env::var("GLYPHOXA_TEST_POSTGRES") else {
        return Some(SERVER.lock().unwrap().as_ref()?.url(database));
    };
    let (address, options) = given.split_once('?').unwrap_or((&given, ""));
    let (address, _) = address.rsplit_once('/').filter(|(it, _)| it.contains("//"))?;
    Some(format!("{address}/{database}?{options}"))
}

/// Runs a test in a database of its own, which is gone afterwards.
async fn in_database<F>(test: impl FnOnce(Address) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("glyphoxa_test_{}_{number}", std::process::id());
    let (Some(admin), Some(own)) = (url("postgres"), url(&name)) else { return };
    let admin = pool(&admin.parse().unwrap()).unwrap().get().await.unwrap();
    admin.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    let ended = tokio::spawn(test(own.parse().unwrap())).await;
    admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
    ended.unwrap();
}

fn key() -> CampaignKey {
    CampaignKey("Mill's \\ 'end'".to_owned())
}

fn said(session: &str, turn: u64, speaker: &str, text: &str) -> Utterance {
    Utterance {
        uid: Uid(format!("{session}-{turn}-{speaker}")),
        session: session.to_owned(),
        turn,
        at: i64::try_from(turn).unwrap() * 1000,
        speaker_id: Some(format!("id-{speaker}")),
        speaker: speaker.to_owned(),
        text: text.to_owned(),
        present: vec![
            Present { name: "Bartók".to_owned(), player: None },
            Present { name: speaker.to_owned(), player: Some(format!("id-{speaker}")) },
        ],
        tools: json!([{"tool": "dice\u{0}", "ok": true}]),
        ..Utterance::default()
    }
}

fn npc(name: &str) -> Viewer {
    Viewer::Npc { name: name.to_owned(), knows: Vec::new() }
}

#[tokio::test]
async fn everything_runs() {
    in_database(|address| async move {
        let store = Postgres::open(&address).await.unwrap();
        let other = Postgres::open(&address).await.unwrap();
        let key = key();
        let lines = vec![
            said("one", 1, "Ana", "The dragon owes my father a silver coin"),
            said("one", 2, "Ben", "I like the mill\0 and the dragon"),
        ];
        assert_eq!(store.append(&key, lines.clone()).await.unwrap(), [1, 2]);
        assert_eq!(other.append(&key, lines.clone()).await.unwrap(), [1, 2]);
        let hits = store
            .search(
                &key,
                LineQuery { text: "SILVER dragon".into(), limit: 5, ..Default::default() },
                npc("bartok"),
            )
            .await
            .unwrap();
        assert_eq!(hits.len(), 2);
        assert_eq!(hits[0].line.said, lines[0]);
        let hits = store
            .search(
                &key,
                LineQuery { text: "silver".into(), limit: 5, ..Default::default() },
                npc("Mira"),
            )
            .await
            .unwrap();
        assert!(hits.is_empty());
        let filter = LineFilter { limit: 1, ..LineFilter::default() };
        let last = store.lines(&key, filter, Viewer::Everyone).await.unwrap();
        assert_eq!(last[0].said.text, "I like the mill and the dragon");
        let items = vec![Item {
            id: "c1".into(),
            kind: ItemKind::Chunk,
            text: "a dragon and a coin".into(),
            session: Some("one".into()),
            lines: Some((1, 2)),
            visibility: Visibility::Everyone,
            status: Status::Accepted,
            made: 1,
        }];
        assert_eq!(store.put_items(&key, items.clone()).await.unwrap(), 1);
        let vectors = vec![Vector { item: "c1".into(), values: vec![1.0, 0.0] }];
        assert_eq!(store.put_vectors(&key, "m", vectors).await.unwrap(), 1);
        let query = VectorQuery {
            model: "m".into(),
            values: vec![0.5, 0.0],
            kinds: vec![ItemKind::Chunk],
            limit: 3,
        };
        let near = store.nearest(&key, query.clone(), npc("BARTOK")).await.unwrap();
        assert_eq!(near[0].item, items[0]);
        assert!((near[0].score - 1.0).abs() < 1e-6);
        assert!(store.nearest(&key, query, npc("Mira")).await.unwrap().is_empty());
        let query = ItemQuery { text: "coin".into(), limit: 3, ..ItemQuery::default() };
        assert_eq!(store.search_items(&key, query, Viewer::Dm).await.unwrap().len(), 1);
        let entries = store.sessions(&key, SessionFilter::default()).await.unwrap();
        assert_eq!((entries[0].lines, entries[0].unindexed), (2, 0));
        let gone = store.withdraw(&key, Withdraw::LastTurn("one".into())).await.unwrap();
        assert_eq!(gone, Forgotten { sessions: 0, lines: 1, derived: 1 });
        let entries = store.sessions(&key, SessionFilter::default()).await.unwrap();
        assert_eq!((entries[0].lines, entries[0].unindexed), (1, 1));
        let gone = store.forget(&key, Forget::Player("id-Ana".into())).await.unwrap();
        assert_eq!(gone.lines, 1);
        let gone = store.forget(&key, Forget::Session("one".into())).await.unwrap();
        assert_eq!((gone.sessions, gone.lines), (1, 0));
        println!("{:?} {:?}", store.counts(&key).await.unwrap(), store.health().await.unwrap());
    })
    .await;
}

fn entity(id: &str, visibility: Visibility) -> Change {
    Change::Put(Entity {
        id: id.to_owned(),
        kind: EntityKind::Location,
        name: id.to_uppercase(),
        aliases: vec![format!("The {id}")],
        description: String::new(),
        attributes: BTreeMap::from([("a".to_owned(), json!(1.5))]),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility,
        source: Some("campaign:x".to_owned()),
    })
}

fn tie(from: &str, to: &str) -> Change {
    let key = RelationKey { from: from.into(), kind: "Leads_to".into(), to: to.into() };
    Change::Tie(Relation {
        key,
        attributes: BTreeMap::new(),
        visibility: Visibility::Everyone,
        provenance: Provenance { confidence: 0.5, ..Provenance::default() },
    })
}

#[tokio::test]
async fn the_graph_runs() {
    in_database(|address| async move {
        let store = Postgres::open(&address).await.unwrap();
        let key = key();
        let mut changes: Vec<Change> =
            ["a", "b", "c", "d", "e"].map(|id| entity(id, Visibility::Everyone)).into();
        changes.push(entity("x", Visibility::Dm));
        changes.extend([
            tie("a", "b"),
            tie("c", "b"),
            tie("c", "d"),
            tie("d", "e"),
            tie("a", "x"),
            tie("x", "e"),
        ]);
        let applied = store.apply(&key, changes.clone()).await.unwrap();
        assert_eq!(applied, Applied { added: 12, changed: 0, removed: 0 });
        assert_eq!(store.apply(&key, changes).await.unwrap(), Applied::default());
        let error = store.apply(&key, vec![tie("a", "nowhere")]).await.unwrap_err();
        assert!(error.to_string().contains("'nowhere'"), "{error}");
        let around = Around { ids: vec!["a".into()], depth: 3, limit: 10 };
        let near = store.neighbours(&key, around.clone(), Viewer::Everyone).await.unwrap();
        let near: Vec<(&str, u32)> = near.iter().map(|it| (&*it.entity.id, it.depth)).collect();
        assert_eq!(near, [("b", 1), ("c", 2), ("d", 3)]);
        let near = store.neighbours(&key, around, Viewer::Dm).await.unwrap();
        let near: Vec<(&str, u32)> = near.iter().map(|it| (&*it.entity.id, it.depth)).collect();
        assert_eq!(near, [("b", 1), ("x", 1), ("c", 2), ("e", 2), ("d", 3)]);
        let way = async |viewer| {
            let way = store.path(&key, "a", "e", viewer).await.unwrap();
            way.unwrap().into_iter().map(|step| step.to.id).collect::<String>()
        };
        assert_eq!(way(Viewer::Everyone).await, "bcde");
        assert_eq!(way(Viewer::Dm).await, "xe");
        let whole = store.snapshot(&key, "a", Viewer::Dm).await.unwrap().unwrap();
        assert_eq!(whole.ties.len(), 2);
        let whole = store.snapshot(&key, "b", Viewer::Everyone).await.unwrap().unwrap();
        assert_eq!(whole.ties.iter().map(|it| &*it.other.id).collect::<Vec<_>>(), ["a", "c"]);
        let filter = EntityFilter { containing: Some("THE A".into()), ..EntityFilter::default() };
        assert_eq!(store.entities(&key, filter, Viewer::Everyone).await.unwrap().len(), 1);
        let untie = RelationKey { from: "a".into(), kind: "LEADS_TO".into(), to: "b".into() };
        let removed = store.apply(&key, vec![Change::Untie(untie), Change::Remove("c".into())]);
        assert_eq!(removed.await.unwrap().removed, 4);
        store.put_guild(u64::MAX, Some(json!({"a": 1}))).await.unwrap();
        assert_eq!(store.guild(u64::MAX).await.unwrap(), Some(json!({"a": 1})));
        store.put_guild(u64::MAX, None).await.unwrap();
        assert_eq!(store.guild(u64::MAX).await.unwrap(), None);
        assert_eq!(store.campaigns().await.unwrap(), [key]);
    })
    .await;
}

#[tokio::test]
async fn a_newer_and_a_foreign_schema_are_refused() {
    in_database(|address| async move {
        let store = Postgres::open(&address).await.unwrap();
        let mut client = store.client().await.unwrap();
        let known = migrate::STEPS.map(str::to_owned);
        let longer: Vec<&str> = known.iter().map(|it| &**it).chain(["SELECT 1"]).collect();
        migrate::migrate(&mut client, &longer).await.unwrap();
        drop(client);
        let newer = Postgres::open(&address).await.err().unwrap();
        assert!(matches!(newer, Error::Newer { found: 2, known: 1 }), "{newer}");
        let mut client = store.client().await.unwrap();
        let foreign = migrate::migrate(&mut client, &["SELECT 1", "SELECT 1"]).await.unwrap_err();
        assert!(matches!(foreign, Error::Foreign(1)), "{foreign}");
    })
    .await;
}

#[tokio::test]
async fn several_programs_make_one_schema() {
    in_database(|address| async move {
        let opened = (0..6).map(|_| Postgres::open(&address));
        for store in futures::future::join_all(opened).await {
            assert!(store.unwrap().health().await.unwrap().bytes > 0);
        }
    })
    .await;
}
