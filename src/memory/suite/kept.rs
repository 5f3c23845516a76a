//! Contents of a store of any earlier schema, from the data beside its steps.

use std::{fs, path::Path};

use super::{
    super::{
        Around, CampaignKey, EntityFilter, Forget, ItemFilter, ItemQuery, LineFilter, LineQuery,
        MemoryStore, Scope, Session, SessionFilter, Status, VectorQuery, Viewer, Visibility,
    },
    sample::{line, npc, of_guild, other},
};

fn key() -> Scope {
    of_guild(42)
}

/// Every schema that has a successor; the first if none has.
pub fn earlier(steps: usize) -> std::ops::Range<usize> {
    1..steps.max(2)
}

/// Statements that fill a store of schema `step` with the engine's own SQL, on top of earlier
/// schemas' data, so that every table has rows.
pub fn data(folder: &str, step: usize) -> String {
    let file = format!("src/memory/{folder}/{step:04}.data.sql");
    let missing = || panic!("'{file}' is missing (write down a store of schema {step} there)");
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file))
        .unwrap_or_else(|_| missing())
}

/// Lines of scope 'c' as written up to schema 8, before answers were linked: number, turn, player
/// and text. The last answers no known player.
pub const ANSWERED: [(i64, i64, Option<&str>, &str); 5] = [
    (1, 1, Some("7"), "my mule"),
    (2, 1, None, "a mule, Anna"),
    (3, 2, Some("8"), "my owl"),
    (4, 2, None, "an owl, Ben"),
    (5, 3, None, "it is late"),
];

/// Answers among [`ANSWERED`] are removed with the words they answer.
pub async fn answers(store: &dyn MemoryStore) {
    let scope = Scope::local(CampaignKey("c".to_owned()));
    let forget = Forget::Player { id: "7".to_owned(), before: i64::MAX };
    assert_eq!(store.forget(&scope, forget).await.unwrap().lines, 1);
    let left = store.lines(&scope, LineFilter::default(), Viewer::Dm).await.unwrap();
    let left: Vec<&str> = left.iter().map(|line| line.said.text.as_str()).collect();
    assert_eq!(left, ["my owl", "an owl, Ben", "it is late"]);
}

/// Finds all the data.
pub async fn finding(store: &dyn MemoryStore) {
    lines(store).await;
    items(store).await;
    graph(store).await;
    deletions(store).await;
    automation(store).await;
    going_on(store).await;
}

async fn lines(store: &dyn MemoryStore) {
    assert_eq!(store.scopes().await.unwrap(), [key(), other()]);
    let sessions = store.sessions(&key(), SessionFilter::default()).await.unwrap();
    assert_eq!(sessions.len(), 1);
    let session = Session {
        id: "one".to_owned(),
        title: Some("The mill".to_owned()),
        started: Some(1_000_000),
        ended: Some(1_009_000),
        summary: Some("The mill burned.".to_owned()),
    };
    assert_eq!(sessions[0].session, session);
    assert_eq!((sessions[0].lines, sessions[0].unindexed), (3, 1));
    let all = LineFilter { gaps: true, ..LineFilter::default() };
    let lines = store.lines(&key(), all, Viewer::Dm).await.unwrap();
    let seqs: Vec<(u64, bool)> = lines.iter().map(|line| (line.seq, line.withdrawn)).collect();
    assert_eq!(seqs, [(1, false), (2, false), (3, true), (4, false)]);
    let (mut kept, mut expected) = (lines[0].said.clone(), line("one", 1, "The mill burned."));
    kept.present.sort();
    expected.present.sort();
    assert_eq!(kept, expected);
    let seen = async |viewer: Viewer| {
        let lines = store.lines(&key(), LineFilter::default(), viewer).await.unwrap();
        lines.iter().map(|line| line.seq).collect::<Vec<_>>()
    };
    assert_eq!(seen(npc("Bartok")).await, [1, 2]);
    assert_eq!(seen(npc("Mira")).await, [1]);
    assert_eq!(seen(Viewer::Everyone).await, [1, 2]);
    for (words, speaker, expected) in
        [("mill", None, vec![1]), ("king", Some("ben"), vec![2]), ("wombat", None, vec![])]
    {
        let speaker = speaker.map(str::to_owned);
        let query = LineQuery { text: words.to_owned(), speaker, limit: 9, ..LineQuery::default() };
        let hits = store.search(&key(), query, npc("Bartok")).await.unwrap();
        let hits: Vec<u64> = hits.iter().map(|hit| hit.line.seq).collect();
        assert_eq!(hits, expected, "{words}");
    }
}

async fn items(store: &dyn MemoryStore) {
    let items = store.items(&key(), ItemFilter::default(), Viewer::Dm).await.unwrap();
    let all: Vec<_> =
        items.iter().map(|item| (item.id.as_str(), item.lines, item.status)).collect();
    let expected = [
        ("chunk", Some((1, 2)), Status::Accepted),
        ("fact", None, Status::Accepted),
        ("perhaps", None, Status::Proposed),
    ];
    assert_eq!(all, expected);
    assert_eq!(items[1].visibility, Visibility::Npcs(vec!["Mira".to_owned()]));
    let near = async |viewer: Viewer| {
        let query = VectorQuery {
            model: "m".to_owned(),
            values: vec![1.0, 0.0],
            kinds: Vec::new(),
            limit: 9,
        };
        let found = store.nearest(&key(), query, viewer).await.unwrap();
        found.into_iter().map(|found| found.item.id).collect::<Vec<_>>()
    };
    assert_eq!(near(Viewer::Dm).await, ["chunk", "fact"]);
    assert_eq!(near(npc("Bartok")).await, ["chunk"]);
    assert_eq!(near(npc("Mira")).await, ["fact"]);
    let query = ItemQuery { text: "burned".to_owned(), limit: 9, ..ItemQuery::default() };
    let found = store.search_items(&key(), query, npc("Bartok")).await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
}

async fn graph(store: &dyn MemoryStore) {
    let named = EntityFilter { named: Some("old bartok".to_owned()), ..EntityFilter::default() };
    let found = store.entities(&key(), named, npc("Mira")).await.unwrap();
    assert_eq!((found.len(), found[0].id.as_str()), (1, "bartok"));
    assert_eq!((found[0].attributes["age"].as_u64(), found[0].tags.len()), (Some(7), 1));
    assert_eq!(found[0].source.as_deref(), Some("campaign:bartok"));
    let near = async |viewer: Viewer| {
        let around = Around { ids: vec!["town".to_owned()], depth: 3, limit: 9 };
        let near = store.neighbours(&key(), around, viewer).await.unwrap();
        near.into_iter().map(|near| (near.entity.id, near.depth)).collect::<Vec<_>>()
    };
    let (mill, bartok) = (("mill".to_owned(), 1), ("bartok".to_owned(), 2));
    assert_eq!(near(npc("Mira")).await, [mill.clone(), bartok.clone()]);
    assert_eq!(near(Viewer::Dm).await, [mill, bartok, ("plot".to_owned(), 3)]);
    let snapshot = store.snapshot(&key(), "mill", Viewer::Dm).await.unwrap().unwrap();
    let kept = &snapshot.ties.iter().find(|tie| tie.other.id == "bartok").unwrap().relation;
    assert_eq!((kept.key.from.as_str(), kept.key.kind.as_str()), ("bartok", "owns"));
    assert_eq!(kept.provenance.session.as_deref(), Some("one"));
    assert_eq!(kept.provenance.utterance, Some(line("one", 1, "").uid));
    let way = store.path(&key(), "town", "bartok", Viewer::Everyone).await.unwrap().unwrap();
    assert_eq!(way.len(), 2);
}

async fn deletions(store: &dyn MemoryStore) {
    for deletion in store.deletions().await.unwrap() {
        assert_eq!((deletion.from.owner, deletion.player.as_str()), (key().owner, "7"));
        assert_eq!((deletion.before, deletion.names.as_slice()), (1, &["Anna".to_owned()][..]));
        assert!(deletion.erased && deletion.files.is_empty(), "{deletion:?}");
    }
}

async fn automation(store: &dyn MemoryStore) {
    for run in store.runs(&key(), 0).await.unwrap() {
        assert_eq!((run.id.as_str(), run.workflow.as_str()), ("r", "bells"));
        assert_eq!((run.began, run.ended, run.record.as_str()), (5, Some(9), r#"{"run":"r"}"#));
    }
    for schedule in store.schedules(&key()).await.unwrap() {
        assert_eq!((schedule.id.as_str(), schedule.when.as_str()), ("s", r#"{"at":7}"#));
        assert_eq!((schedule.made, schedule.next, schedule.last), (3, Some(7), None));
    }
}

async fn going_on(store: &dyn MemoryStore) {
    let again = vec![line("one", 1, "The mill burned."), line("one", 5, "And then?")];
    assert_eq!(store.append(&key(), again).await.unwrap(), [1, 5]);
    let forgotten = store.forget(&key(), Forget::Session("one".to_owned())).await.unwrap();
    // The chunk and the stated relation.
    assert_eq!((forgotten.sessions, forgotten.derived), (1, 2), "{forgotten:?}");
    let counts = store.counts(&key()).await.unwrap();
    assert_eq!((counts.sessions, counts.lines, counts.relations), (0, 0, 2));
    assert_eq!(store.counts(&other()).await.unwrap().lines, 1);
}
