//! The conformance suite on a real server, and tests of the server alone.

#[path = "../../../../tests/support/processes.rs"]
#[expect(dead_code, reason = "tests of the real program use the rest")]
mod processes;
#[path = "../../../../tests/support/postgres.rs"]
#[expect(dead_code, reason = "tests of the real program use the rest")]
mod server;
mod upgrade;

use std::{
    env,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{store::pool, *};
use crate::{memory::*, skipped};
use server::Server;

/// One server for all tests of the process.
static SERVER: LazyLock<Mutex<Option<Server>>> = LazyLock::new(|| Mutex::new(Server::start()));

/// Address of a database on the server of `GLYPHOXA_TEST_POSTGRES` (`./dev` starts it), else on
/// [`SERVER`]; `None`: PostgreSQL is not installed, which was reported.
#[expect(clippy::disallowed_methods, reason = "tests are told where another server is")]
fn url(database: &str) -> Option<String> {
    let Ok(given) = env::var("GLYPHOXA_TEST_POSTGRES") else {
        return Some(SERVER.lock().unwrap().as_ref()?.url(database));
    };
    let (address, options) = given.split_once('?').unwrap_or((&given, ""));
    let parts = address.rsplit_once('/').filter(|(it, _)| it.contains("//"));
    let (address, _) = parts.expect("GLYPHOXA_TEST_POSTGRES is postgres://USER@HOST/DATABASE");
    Some(format!("{address}/{database}?{options}"))
}

/// Longest wait for written lines on a busy machine.
const LOADED: Duration = Duration::from_secs(120);

/// Stores the suite opens at most.
const STORES: usize = 29;

/// A store in its own schema.
async fn in_schema(address: &Address, number: usize) -> Postgres {
    let client = pool(address).unwrap().get().await.unwrap();
    let extend = "CREATE EXTENSION IF NOT EXISTS vector";
    client.batch_execute(&format!("{extend}; CREATE SCHEMA s{number}")).await.unwrap();
    Postgres::open(&address.with_options(&format!("-c search_path=s{number},public")))
        .await
        .unwrap()
}

/// Runs a test in its own database, dropped afterwards.
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

#[tokio::test]
async fn does_what_every_store_must() {
    in_database(|address| async move {
        let mut stores = Vec::new();
        for number in 0..STORES {
            stores.push(Arc::new(in_schema(&address, number).await) as Arc<dyn MemoryStore>);
        }
        let stores = Mutex::new(stores);
        suite::run(|| stores.lock().unwrap().pop().expect("more STORES")).await;
    })
    .await;
}

fn key() -> Scope {
    Scope::local(CampaignKey("Mill's \\ 'end'".to_owned()))
}

fn said(n: u64, text: &str) -> Utterance {
    Utterance {
        uid: Uid(format!("u{n}")),
        session: "s".to_owned(),
        text: text.to_owned(),
        ..Utterance::default()
    }
}

#[tokio::test]
async fn texts_are_not_run_as_sql_and_lose_nul() {
    in_database(|address| async move {
        let store = Postgres::open(&address).await.unwrap();
        let line = Utterance {
            speaker: "O'Neil\0\\".to_owned(),
            tools: json!([{"tool": "dice\0"}]),
            present: vec![Present { name: "Mira\0".to_owned(), player: None }],
            ..said(1, "it's 100% '; DROP TABLE session; --\0 $1")
        };
        store.append(&key(), vec![line]).await.unwrap();
        let query = LineQuery { text: "it's drop $1".to_owned(), limit: 5, ..LineQuery::default() };
        let mira = Viewer::Npc { name: "mira".to_owned(), knows: Vec::new() };
        let hits = store.search(&key(), query, mira).await.unwrap();
        assert_eq!(hits[0].line.said.text, "it's 100% '; DROP TABLE session; -- $1");
        assert_eq!(hits[0].line.said.speaker, "O'Neil\\");
        assert_eq!(hits[0].line.said.tools, json!([{"tool": "dice\0"}]));
    })
    .await;
}

#[tokio::test]
async fn several_programs_number_lines_without_gaps() {
    in_database(|address| async move {
        let stores =
            [Postgres::open(&address).await.unwrap(), Postgres::open(&address).await.unwrap()];
        let key = key();
        let both = (1..=40).map(|n| stores[n % 2].append(&key, vec![said(n as u64 / 2, "twice")]));
        futures::future::try_join_all(both).await.unwrap();
        let lines = stores[0].lines(&key, LineFilter::default(), Viewer::Dm).await.unwrap();
        let seqs: Vec<u64> = lines.iter().map(|line| line.seq).collect();
        assert_eq!(seqs, (1..=21).collect::<Vec<u64>>());
    })
    .await;
}

#[tokio::test]
async fn several_programs_fire_a_schedule_once() {
    in_database(|address| async move {
        let (one, two) = (Postgres::open(&address).await, Postgres::open(&address).await);
        let (one, two) = (one.unwrap(), two.unwrap());
        suite::automation::contest(&one, &two).await;
        suite::kept_tables::contest(&one, &two).await;
    })
    .await;
}

#[tokio::test]
async fn several_programs_share_shards() {
    in_database(|address| async move {
        let cases = ["shares", "beginnings", "rooms", "cut_offs", "numbers", "bots", "identifies"];
        for (number, case) in (0..).zip(cases) {
            let first = in_schema(&address, number).await;
            let one: &dyn MemoryStore = &first;
            let second = Postgres::open(&first.address).await.unwrap();
            let two: &dyn MemoryStore = &second;
            match case {
                "shares" => suite::leases::shares(one, two).await,
                "beginnings" => suite::leases::beginnings(one, two).await,
                "rooms" => suite::leases::rooms(one, two).await,
                "cut_offs" => suite::leases::cut_offs(one, two).await,
                "bots" => suite::leases::bots(one, two).await,
                "numbers" => suite::leases::numbers(one, two).await,
                _ => suite::leases::identifies(one, two).await,
            }
        }
    })
    .await;
}

#[tokio::test]
async fn lines_of_another_owners_shard_are_refused() {
    in_database(|address| async move {
        let opened = (0..4).map(|_| Postgres::open(&address));
        let stores = futures::future::try_join_all(opened).await.unwrap();
        let [one, two, asleep, without] = &stores[..] else { unreachable!() };
        suite::leases::fence([one, two, asleep, without]).await;
    })
    .await;
}

/// The server's sample omits the same words as counting.
#[tokio::test]
async fn sampled_word_of_most_lines_does_not_count() {
    in_database(|address| async move {
        let store = Postgres::open(&address).await.unwrap();
        let lines = (1..=1_000).map(|n| said(n, &format!("the road goes on, mile {n}"))).collect();
        store.append(&key(), lines).await.unwrap();
        store.client().await.unwrap().batch_execute("ANALYZE").await.unwrap();
        let found = async |text: &str| {
            let query = LineQuery { text: text.to_owned(), limit: 9, ..LineQuery::default() };
            store.search(&key(), query, Viewer::Dm).await.unwrap().len()
        };
        assert_eq!(found("the road to mile 17").await, 1);
        assert_eq!(found("the road").await, 9);
        assert!(store.sample.lock().unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn newer_and_a_foreign_schema_are_refused() {
    in_database(|address| async move {
        let store = Postgres::open(&address).await.unwrap();
        let mut client = store.client().await.unwrap();
        let known = migrate::STEPS.map(str::to_owned);
        let longer: Vec<&str> = known.iter().map(|it| &**it).chain(["SELECT 1"]).collect();
        migrate::migrate(&mut client, &longer).await.unwrap();
        drop(client);
        let newer = Postgres::open(&address).await.err().unwrap();
        let known = u32::try_from(known.len()).unwrap();
        assert!(
            matches!(newer, Error::Newer { found, known: k } if (found, k) == (known + 1, known)),
            "{newer}"
        );
        let mut client = store.client().await.unwrap();
        let others = vec!["SELECT 1"; longer.len()];
        let foreign = migrate::migrate(&mut client, &others).await.unwrap_err();
        assert!(matches!(foreign, Error::Foreign(1)), "{foreign}");
    })
    .await;
}

/// Nodes of the version before start again while a newer one has updated the schema.
#[tokio::test]
async fn newer_schema_that_is_readable_is_used() {
    in_database(|address| async move {
        let before = Postgres::open(&address).await.unwrap();
        let known = migrate::STEPS.len();
        let steps = migrate::STEPS.map(str::to_owned);
        let adds = format!("-- readable from {known}\nCREATE TABLE added (id bigint PRIMARY KEY)");
        let also = adds.replace("added", "added_too");
        let changes = format!("-- readable from {}\nSELECT 1", known + 1);
        let newer: Vec<&str> =
            steps.iter().chain([&adds, &also, &changes]).map(String::as_str).collect();
        let mut client = before.client().await.unwrap();
        for made in [known + 1, known + 2] {
            migrate::migrate(&mut client, &newer[..made]).await.unwrap();
            let again = Postgres::open(&address).await.unwrap();
            for (store, n) in [(&before, made), (&again, made + 10)] {
                store.append(&key(), vec![said(n as u64, "beside")]).await.unwrap();
            }
            let lines = again.lines(&key(), LineFilter::default(), Viewer::Dm).await.unwrap();
            assert_eq!(lines.len(), 2 * (made - known));
        }
        migrate::migrate(&mut client, &newer[..=known]).await.unwrap();
        migrate::migrate(&mut client, &newer).await.unwrap();
        let refused = Postgres::open(&address).await.err().unwrap();
        let (last, own) = (u32::try_from(newer.len()).unwrap(), u32::try_from(known).unwrap());
        assert!(
            matches!(refused, Error::Newer { found, known } if (found, known) == (last, own)),
            "{refused}"
        );
        migrate::migrate(&mut client, &newer[..=known]).await.unwrap();
        // As made by a program that knew no such promise.
        client.batch_execute("ALTER TABLE schema_step DROP COLUMN readable_from").await.unwrap();
        migrate::migrate(&mut client, &newer).await.unwrap();
        let refused = Postgres::open(&address).await.err().unwrap();
        assert!(matches!(refused, Error::Newer { .. }), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn earlier_schemas_are_upgraded_with_their_data() {
    in_database(|address| async move {
        for earlier in suite::kept::earlier(migrate::STEPS.len()) {
            let mut client = pool(&address).unwrap().get().await.unwrap();
            let fresh = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
            client.batch_execute(fresh).await.unwrap();
            for step in 1..=earlier {
                migrate::migrate(&mut client, &migrate::STEPS[..step]).await.unwrap();
                let data = suite::kept::data("postgres/migrations", step);
                client.batch_execute(&data).await.unwrap();
            }
            let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
            for row in client.query(tables, &[]).await.unwrap() {
                let table: String = row.get(0);
                let some = format!("SELECT EXISTS (SELECT 1 FROM {table})");
                let some: bool = client.query_one(&some, &[]).await.unwrap().get(0);
                assert!(some, "nothing in {table}");
            }
            drop(client);
            suite::kept::finding(&Postgres::open(&address).await.unwrap()).await;
        }
    })
    .await;
}

/// Up to schema 5, guilds playing the same campaign shared all of its data.
#[tokio::test]
async fn guilds_of_an_earlier_store_have_their_own() {
    in_database(|address| async move {
        for earlier in 1..=5 {
            let mut client = pool(&address).unwrap().get().await.unwrap();
            let fresh = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
            client.batch_execute(fresh).await.unwrap();
            migrate::migrate(&mut client, &migrate::STEPS[..earlier]).await.unwrap();
            let data = suite::moved::data("postgres/migrations");
            client.batch_execute(&data).await.unwrap();
            drop(client);
            suite::moved::apart(&Postgres::open(&address).await.unwrap()).await;
        }
    })
    .await;
}

/// Up to schema 8, lines did not record the person an NPC answers.
#[tokio::test]
async fn answers_of_an_earlier_store_go_with_words() {
    in_database(|address| async move {
        let mut client = pool(&address).unwrap().get().await.unwrap();
        migrate::migrate(&mut client, &migrate::STEPS[..8]).await.unwrap();
        let session = "INSERT INTO session (scope, id, last_seq) VALUES ('c', 'one', 5)";
        client.batch_execute(session).await.unwrap();
        for (seq, turn, by, text) in suite::kept::ANSWERED {
            let insert = "INSERT INTO utterance (scope, session, seq, uid, turn, at, duration, \
                 speaker_id, speaker, text, present, outcome, tools, visibility, open, told, \
                 heard, players, said_by, words) \
                 VALUES ('c', 'one', $1::bigint, $1::bigint::text, $2, $1::bigint, 0, $3, '', $4, \
                 '[]', '', 'null', '\"everyone\"', true, '{}', '{}', '{}', '{}', '')";
            client.execute(insert, &[&seq, &turn, &by, &text]).await.unwrap();
        }
        drop(client);
        suite::kept::answers(&Postgres::open(&address).await.unwrap()).await;
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

fn node() -> Node {
    let [name, run, build] = ["cellar", "1f", "0.1.0"].map(str::to_owned);
    Node { name, run, build, shards: 2, ..Node::default() }
}

/// A connection that is cut off without a word would hang for each renewal until all leases are lost.
#[tokio::test]
async fn renewal_after_hanging_one_has_new_connection() {
    in_database(|address| async move {
        let store = Postgres::open(&address).await.unwrap();
        let process = async || -> i32 {
            let client = store.renewals.get().await.unwrap();
            client.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0)
        };
        let first = process().await;
        store.renew(node(), LOADED, true).await.unwrap();
        assert_eq!(process().await, first);
        let mut other = store.client().await.unwrap();
        let locks = other.transaction().await.unwrap();
        let forever = "SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE node";
        locks.batch_execute(forever).await.unwrap();
        let watcher = store.client().await.unwrap();
        let hangs = async {
            let waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND database = \
                 (SELECT oid FROM pg_database WHERE datname = current_database())";
            while watcher.query(waiting, &[]).await.unwrap().is_empty() {}
        };
        tokio::select! {
            renewed = store.renew(node(), LOADED, true) => panic!("{renewed:?}"),
            () = hangs => {}
        }
        locks.rollback().await.unwrap();
        store.renew(node(), LOADED, true).await.unwrap();
        assert_ne!(process().await, first);
    })
    .await;
}

/// A machine that is cut off or paused within a renewal keeps its rows locked no longer than a
/// moment: others pass over them.
#[tokio::test]
async fn cut_off_transaction_lets_its_leases_go() {
    in_database(|address| async move {
        let store = Postgres::open(&address).await.unwrap();
        let mut cut_off = store.renewals.get().await.unwrap();
        let renewal = cut_off.transaction().await.unwrap();
        renewal.batch_execute("LOCK TABLE shard_lease").await.unwrap();
        // It neither goes on nor closes its connection.
        let held = store.renew(node(), LOADED, true).await.unwrap();
        assert_eq!(held.len(), 2);
        assert!(renewal.commit().await.is_err(), "the server has ended it");
    })
    .await;
}

#[tokio::test]
async fn clock_that_was_set_back_holds_up_no_identify() {
    in_database(|address| async move {
        let store = Postgres::open(&address).await.unwrap();
        assert_eq!(store.identify(0).await.unwrap(), Duration::ZERO);
        let hour = "UPDATE identify_slot SET next_at = next_at + interval '1 hour'";
        store.client().await.unwrap().batch_execute(hour).await.unwrap();
        assert_eq!(store.identify(0).await.unwrap(), Duration::ZERO);
        assert!(store.identify(0).await.unwrap() <= IDENTIFY_APART);
    })
    .await;
}

/// Every acknowledged line exists once after the server was killed; an unfinished schema is
/// completed by the next opener.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "the long form is asked for by a variable")]
async fn killed_server_loses_no_acknowledged_line() {
    let kills = env::var("GLYPHOXA_TEST_CRASHES").map_or(1, |kills| kills.parse().unwrap());
    let Some(mut server) = Server::start() else { return };
    let address: Address = server.url("postgres").parse().unwrap();
    let store = Arc::new(Postgres::open(&address).await.unwrap());
    let (acknowledged, stop) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
    let writers: Vec<_> = (0..3)
        .map(|writer| {
            let written =
                writing(Arc::clone(&store), writer, Arc::clone(&acknowledged), stop.clone());
            tokio::spawn(written)
        })
        .collect();
    for kill in 0..kills {
        let making = format!("CREATE DATABASE new{kill}");
        store.client().await.unwrap().batch_execute(&making).await.unwrap();
        let before = acknowledged.lock().unwrap().len();
        let more = || acknowledged.lock().unwrap().len() > before + 20 + kill * 37 % 200;
        timeout(LOADED, async {
            while !more() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("lines are written");
        server = killed_while_making(server, &format!("new{kill}")).await;
    }
    stop.cancel();
    // A writer retries until its line is acknowledged.
    let ended = timeout(LOADED, futures::future::try_join_all(writers)).await;
    ended.expect("the last lines are acknowledged").unwrap();
    let acknowledged = std::mem::take(&mut *acknowledged.lock().unwrap());
    let there = all_there_once(&store, &acknowledged).await;
    println!("{kills} kills, {} acknowledged, {there} there", acknowledged.len());
}

/// Kills the server while a store opens in an empty database, then restarts it.
async fn killed_while_making(mut server: Server, database: &str) -> Server {
    let address: Address = server.url(database).parse().unwrap();
    let making = tokio::spawn({
        let address = address.clone();
        async move { Postgres::open(&address).await.map(drop) }
    });
    server.kill();
    if let Err(error) = making.await.unwrap() {
        assert!(error.is_passing(), "{error}");
    }
    let again = move || {
        server.again();
        server
    };
    let server = tokio::task::spawn_blocking(again).await.unwrap();
    let store = Postgres::open(&address).await.unwrap();
    assert_eq!(store.append(&key(), vec![said(1, "the first line")]).await.unwrap(), [1]);
    server
}

/// Checks that these lines exist, each once; returns the number of lines.
async fn all_there_once(store: &Postgres, acknowledged: &[Uid]) -> usize {
    let lines = store.lines(&key(), LineFilter::default(), Viewer::Dm).await.unwrap();
    let once: std::collections::BTreeSet<&Uid> = lines.iter().map(|line| &line.said.uid).collect();
    assert_eq!(once.len(), lines.len(), "no line is there twice");
    let lost: Vec<&Uid> = acknowledged.iter().filter(|uid| !once.contains(uid)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let numbers = lines.iter().map(|line| line.seq);
    assert!(numbers.eq(1..=lines.len() as u64), "numbers have no gaps");
    // The index finds the existing lines.
    let query =
        LineQuery { text: "load".to_owned(), limit: lines.len() + 1, ..LineQuery::default() };
    let found = store.search(&key(), query, Viewer::Dm).await.unwrap();
    assert_eq!(found.len(), lines.len());
    lines.len()
}

/// Writes lines one by one, each until acknowledged.
async fn writing(
    store: Arc<Postgres>,
    writer: u64,
    acknowledged: Arc<Mutex<Vec<Uid>>>,
    stop: CancellationToken,
) {
    for n in 0.. {
        let line = said(writer * 1_000_000 + n, "a line under load");
        loop {
            match store.append(&key(), vec![line.clone()]).await {
                Ok(_) => break,
                Err(error) => assert!(error.is_passing(), "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        acknowledged.lock().unwrap().push(line.uid);
        if stop.is_cancelled() {
            return;
        }
    }
}

#[tokio::test]
async fn connection_errors_say_how_to_fix_them() {
    for (url, said) in [
        ("postgres://bot:hush@127.0.0.1:1/table", "PostgreSQL at postgres://127.0.0.1:1/table: "),
        ("postgres://bot:hush@127.0.0.1:1/table?sslmode=require", "correct 'memory.url'"),
    ] {
        let error = Postgres::open(&url.parse().unwrap()).await.err().unwrap();
        let text = error.to_string();
        assert!(error.is_passing() && text.contains(said), "{text}");
        assert!(text.contains("refused") && !text.contains("hush"), "{text}");
    }
    in_database(|address| async move {
        let nowhere = address.to_string().replace("/glyphoxa_test_", "/glyphoxa_nowhere_");
        let Some(nowhere) = url(nowhere.rsplit('/').next().unwrap()) else { return };
        let error = Postgres::open(&nowhere.parse().unwrap()).await.err().unwrap();
        let text = error.to_string();
        assert!(
            !error.is_passing() && text.contains("create it, or correct 'memory.url'"),
            "{text}"
        );
    })
    .await;
}
