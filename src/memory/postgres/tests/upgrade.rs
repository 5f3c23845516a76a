//! Programs of neighbouring versions on one schema.

use deadpool_postgres::{Client, GenericClient};

use super::*;

/// Steps of the last program without leases.
const BEFORE_LEASES: usize = 12;
/// Statement with which that program wrote lines.
const WRITE_BEFORE_LEASES: &str = include_str!("before_leases.sql");
const LONG: Duration = Duration::from_secs(3_600);
/// Tables that nodes write.
const WRITTEN: [&str; 7] =
    ["node", "shard_lease", "identify_slot", "kept_table", "session", "utterance", "run"];
/// Server 42 in the data beside the steps.
const GUILD: u64 = 42;

fn of_guild() -> Scope {
    Scope { owner: Owner::Guild(GUILD), campaign: CampaignKey("saltmarsh".to_owned()) }
}

fn node(run: &str, shards: u32) -> Node {
    Node {
        name: format!("node-{run}"),
        run: run.to_owned(),
        build: "1.2.3".to_owned(),
        shards,
        tables: 2,
        ..Node::default()
    }
}

fn state(revision: u64) -> KeptTable {
    KeptTable { revision, text: format!(r#"{{"spent":{revision}}}"#) }
}

/// A connection to a database as the last program without leases left it.
async fn before_leases(address: &Address) -> Client {
    let mut client = pool(address).unwrap().get().await.unwrap();
    for step in 1..=BEFORE_LEASES {
        migrate::migrate(&mut client, &migrate::STEPS[..step]).await.unwrap();
        let data = suite::kept::data("postgres/migrations", step);
        client.batch_execute(&data).await.unwrap();
    }
    client.batch_execute("ALTER TABLE schema_step DROP COLUMN readable_from").await.unwrap();
    client
}

/// Numbers of the steps that are done, as programs without leases read them.
async fn done(client: &Client) -> Vec<i32> {
    let sql = "SELECT number, checksum FROM schema_step ORDER BY number";
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// Writes a line as programs without leases did; returns its number.
async fn write_before_leases(client: &impl GenericClient, uid: &str) -> i64 {
    let scope = of_guild();
    let given = json!([{
        "place": 0, "session": "s", "uid": uid, "turn": 1, "at": 1_000_000, "duration": 900,
        "speaker_id": "7", "speaker": "Anna", "text": "my mule", "present": "[]",
        "outcome": "spoken", "tools": "null", "visibility": "\"everyone\"", "open": true,
        "told": [], "heard": [], "players": ["7"], "said_by": ["anna", "7"],
        "words": sql::lexemes(&scope, "my mule"),
    }]);
    let statement = client.prepare_cached(WRITE_BEFORE_LEASES).await.unwrap();
    let rows = client.query(&statement, &[&scope.key(), &given.to_string()]).await.unwrap();
    assert_eq!(rows.len(), 1);
    rows[0].get(1)
}

/// The schema that a following version makes with `step`.
fn followed_by(step: &str) -> Vec<&str> {
    let mut steps: Vec<&str> = migrate::STEPS.to_vec();
    steps.push(step);
    steps
}

#[tokio::test]
async fn store_before_leases_is_upgraded_once() {
    in_database(|address| async move {
        let client = before_leases(&address).await;
        let opened = futures::future::try_join_all((0..4).map(|_| Postgres::open(&address)));
        let stores = opened.await.unwrap();
        assert!(done(&client).await.into_iter().eq((1..).take(migrate::STEPS.len())));
        let (scope, owner) = (of_guild(), Owner::Guild(GUILD));
        let settings = stores[0].guild(GUILD).await.unwrap().unwrap();
        assert_eq!((settings.revision, settings.text.as_str()), (1, "{}"));
        let spent = stores[1].spent(&scope).await.unwrap();
        assert_eq!((spent.len(), spent[0].month.as_str()), (1, "2026-11"));
        let day = "2026-11-01".to_owned();
        let costs = stores[1].costs(&scope, day.clone()..=day).await.unwrap();
        assert_eq!((costs.len(), costs[0].cost.payer.as_str()), (1, "Bartok"));
        let token = stores[2].token("h").await.unwrap().unwrap();
        assert_eq!((token.id.as_str(), token.owner), ("t", owner));
        assert_eq!(stores[2].runs(&scope, 0).await.unwrap().len(), 1);
        assert_eq!(stores[2].schedules(&scope).await.unwrap().len(), 1);
        suite::kept::finding(&stores[3]).await;
    })
    .await;
}

/// It starts no more, but one that runs knows no leases: it writes beside the nodes. Nothing is
/// lost, but both serve all servers; therefore all processes are stopped for this one upgrade.
#[tokio::test]
async fn program_before_leases_is_refused() {
    in_database(|address| async move {
        let mut earlier = before_leases(&address).await;
        assert_eq!(write_before_leases(&earlier, "before").await, 1);
        let work = earlier.transaction().await.unwrap();
        assert_eq!(write_before_leases(&work, "meanwhile").await, 2);
        let store = Postgres::open(&address).await.unwrap();
        work.commit().await.unwrap();
        let held = store.renew(node("a", 1), LONG, true).await.unwrap();
        assert_eq!(held, [Lease { shard: 0, epoch: 1 }]);
        assert_eq!(store.append(&of_guild(), vec![said(1, "my owl")]).await.unwrap(), [3]);
        assert_eq!(write_before_leases(&earlier, "after").await, 4);
        assert_eq!(write_before_leases(&earlier, "before").await, 1, "it is known");
        let filter = LineFilter { session: Some("s".to_owned()), ..LineFilter::default() };
        let lines = store.lines(&of_guild(), filter, Viewer::Dm).await.unwrap();
        let uids: Vec<_> = lines.iter().map(|line| line.said.uid.0.as_str()).collect();
        assert_eq!(uids, ["before", "meanwhile", "u1", "after"]);

        assert!(done(&earlier).await.into_iter().any(|number| number > 12), "it compared this");
        let known = &migrate::STEPS[..BEFORE_LEASES];
        let refused = migrate::migrate(&mut earlier, known).await.unwrap_err();
        assert!(matches!(refused, Error::Newer { known: 12, .. }), "{refused}");
        assert!(refused.to_string().contains("update glyphoxa"), "{refused}");
    })
    .await;
}

/// Both serve shards, write, and keep each other from writing, whichever is the newer one.
#[tokio::test]
async fn neighbouring_versions_share_one_schema() {
    in_database(|address| async move {
        let opened = (0..3).map(|_| Postgres::open(&address));
        let stores = futures::future::try_join_all(opened).await.unwrap();
        let [earlier, beside, without] = &stores[..] else { unreachable!() };
        // Prepares their statements before the tables change.
        suite::leases::fence([earlier, beside, beside, without]).await;
        kept(earlier, beside).await;
        let adds = WRITTEN
            .map(|table| format!("ALTER TABLE {table} ADD COLUMN later text NOT NULL DEFAULT ''"));
        let step = format!("-- readable from {}\n{}", migrate::STEPS.len(), adds.join(";\n"));
        let mut client = pool(&address).unwrap().get().await.unwrap();
        migrate::migrate(&mut client, &followed_by(&step)).await.unwrap();
        let opened = (0..2).map(|_| Postgres::open(&address));
        let later = futures::future::try_join_all(opened).await.unwrap();
        let [later, later_without] = &later[..] else { unreachable!() };
        let clear = format!("TRUNCATE {} CASCADE", WRITTEN.join(", "));
        for [one, two, without] in [[earlier, later, without], [later, earlier, later_without]] {
            client.batch_execute(&clear).await.unwrap();
            suite::leases::shares(one, two).await;
            suite::leases::identifies(one, two).await;
            client.batch_execute(&clear).await.unwrap();
            suite::leases::fence([one, two, two, without]).await;
            kept(one, two).await;
            let sql = "SELECT count(*) FROM kept_table WHERE later = ''";
            let rows: i64 = client.query_one(sql, &[]).await.unwrap().get(0);
            assert_eq!(rows, 1);
        }
    })
    .await;
}

/// The state of a table goes from the owner of its shard to the next. Begins as the test of the
/// fence ends: `one` holds the second of two shards, and `two` the first.
async fn kept(one: &Postgres, two: &Postgres) {
    let guild = 1 << 22;
    assert_eq!(shard_of(guild, 2), 1);
    let owner = Owner::Guild(guild);
    assert!(one.put_kept_table(owner, "s", state(1)).await.unwrap());
    let refused = two.put_kept_table(owner, "s", state(2)).await.unwrap_err();
    assert!(matches!(refused, Error::Fenced(_)), "{refused}");
    one.give_back("a".to_owned(), vec![1]).await.unwrap();
    assert_eq!(two.renew(node("b", 2), LONG, true).await.unwrap().len(), 2);
    assert_eq!(two.kept_table(owner, "s").await.unwrap(), Some(state(1)));
    assert!(two.put_kept_table(owner, "s", state(2)).await.unwrap());
    let refused = one.put_kept_table(owner, "s", state(3)).await.unwrap_err();
    assert!(matches!(refused, Error::Fenced(_)), "{refused}");
    assert_eq!(one.kept_table(owner, "s").await.unwrap(), Some(state(2)));
}

/// A step that is not readable waits until no node runs; a node that comes back is refused.
#[tokio::test]
async fn unreadable_step_waits_until_no_node_runs() {
    in_database(|address| async move {
        let node_a = Postgres::open(&address).await.unwrap();
        assert_eq!(node_a.renew(node("a", 1), LONG, true).await.unwrap().len(), 1);
        let mut client = pool(&address).unwrap().get().await.unwrap();
        let steps = followed_by("UPDATE utterance SET outcome = 'heard'");
        let refused = migrate::migrate(&mut client, &steps).await.unwrap_err();
        assert!(matches!(refused, Error::Asked(_)), "{refused}");
        for part in ["'node-a'", "glyphoxa 1.2.3", "stop all nodes"] {
            assert!(refused.to_string().contains(part), "{refused}");
        }
        assert_eq!(node_a.append(&of_guild(), vec![said(1, "my mule")]).await.unwrap(), [1]);

        // Its leases end, as if it slept for longer.
        let beside = Postgres::open(&address).await.unwrap();
        beside.give_back("a".to_owned(), vec![0]).await.unwrap();
        migrate::migrate(&mut client, &steps).await.unwrap();
        for takes in [true, false] {
            let refused = node_a.renew(node("a", 1), LONG, takes).await.unwrap_err();
            assert!(matches!(refused, Error::Newer { .. }), "{refused}");
        }
        let again = Postgres::open(&address).await.err().unwrap();
        assert!(again.to_string().contains("update glyphoxa"), "{again}");
        let refused = node_a.append(&of_guild(), vec![said(2, "my owl")]).await.unwrap_err();
        assert!(matches!(refused, Error::Fenced(GUILD)), "{refused}");
        let lines = "SELECT count(*) FROM utterance";
        let lines: i64 = client.query_one(lines, &[]).await.unwrap().get(0);
        assert_eq!(lines, 1);
    })
    .await;
}
