//! The suite, and tests of SQLite alone.

mod others;
mod power_loss;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use super::{
    super::{
        CampaignKey, Deletions, Error, Index, ItemQuery, LineFilter, LineQuery, MemoryStore, Owner,
        Scope, Settings, Transcript, Uid, Utterance, Viewer, suite,
    },
    Sqlite,
    connect::connect,
    failure, migrate,
};

fn key() -> Scope {
    Scope::local(CampaignKey("c".to_owned()))
}

fn line(n: u64) -> Utterance {
    Utterance {
        uid: Uid(format!("u{n}")),
        session: "s".to_owned(),
        text: format!("line {n}"),
        ..Utterance::default()
    }
}

async fn count(store: &Sqlite) -> usize {
    store.lines(&key(), LineFilter::default(), Viewer::Dm).await.unwrap().len()
}

#[test]
fn store_that_is_away_names_the_fix() {
    use rusqlite::ffi;
    for (code, fix) in [
        (ffi::SQLITE_BUSY, "end that program"),
        (ffi::SQLITE_READONLY, "memory.path"),
        (ffi::SQLITE_CANTOPEN, "memory.path"),
    ] {
        let error = failure(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        assert!(error.is_passing() && error.to_string().contains(fix), "{error}");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Sqlite::open(&file.path().join("memory.db")).err().unwrap();
    assert!(error.to_string().contains("memory.path"), "{error}");
}

#[tokio::test]
async fn does_what_every_store_must() {
    let folder = tempfile::tempdir().unwrap();
    let number = AtomicU32::new(0);
    suite::run(|| {
        let file = format!("{}.db", number.fetch_add(1, Ordering::Relaxed));
        Arc::new(Sqlite::open(&folder.path().join(file)).unwrap()) as Arc<dyn MemoryStore>
    })
    .await;
}

#[tokio::test]
async fn lines_survive_reopening_in_private_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/memory.db");
    let store = Sqlite::open(&path).unwrap();
    store.append(&key(), vec![line(1)]).await.unwrap();
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        use std::os::unix::fs::PermissionsExt;
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    drop(store);
    assert_eq!(count(&Sqlite::open(&path).unwrap()).await, 1);
}

#[tokio::test]
async fn two_processes_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (one, two) = (Sqlite::open(&path).unwrap(), Sqlite::open(&path).unwrap());
    for n in 0..20 {
        let (first, second) = (vec![line(2 * n)], vec![line(2 * n + 1)]);
        let campaign = key();
        let (a, b) = tokio::join!(one.append(&campaign, first), two.append(&campaign, second));
        assert_ne!(a.unwrap(), b.unwrap(), "numbers are given once");
    }
    assert_eq!(count(&one).await, 40);
}

#[tokio::test]
async fn two_processes_fire_a_schedule_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (one, two) = (Sqlite::open(&path).unwrap(), Sqlite::open(&path).unwrap());
    suite::automation::contest(&one, &two).await;
}

#[tokio::test]
async fn two_processes_change_a_state_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (one, two) = (Sqlite::open(&path).unwrap(), Sqlite::open(&path).unwrap());
    suite::kept_tables::contest(&one, &two).await;
}

#[test]
fn emptied_file_is_not_taken_for_a_new_one() {
    for (beside, is_refused) in
        [("memory.db-wal", true), ("sessions/x.json", true), ("other.json", false)]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        std::fs::create_dir(folder.path().join("sessions")).unwrap();
        std::fs::write(&path, "").unwrap();
        std::fs::write(folder.path().join(beside), "x").unwrap();
        let opened = Sqlite::open(&path).map(drop).map_err(|error| error.to_string());
        assert_eq!(opened.is_err(), is_refused, "{beside}");
        assert!(opened.err().is_none_or(|error| error.contains("is empty")), "{beside}");
        assert_eq!(std::fs::read(folder.path().join(beside)).unwrap(), b"x");
    }
}

#[tokio::test]
async fn forgotten_lines_are_erased_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = Sqlite::open(&path).unwrap();
    let said =
        Utterance { text: "xyzzyplugh".to_owned(), speaker_id: Some("7".to_owned()), ..line(1) };
    store.append(&key(), vec![said]).await.unwrap();
    store
        .forget(&key(), super::super::Forget::Player { id: "7".to_owned(), before: i64::MAX })
        .await
        .unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(10).any(|window| window == b"xyzzyplugh"));
    }
    let check = "INSERT INTO line_text (line_text) VALUES ('integrity-check')";
    connect(&path).unwrap().execute_batch(check).unwrap();
}

#[tokio::test]
async fn withdrawn_lines_are_erased_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("memory.db")).unwrap();
    let said = Utterance { text: "my wombat".to_owned(), ..line(1) };
    store.append(&key(), vec![said.clone(), line(2)]).await.unwrap();
    assert_eq!(store.withdraw(&key(), vec![said.uid]).await.unwrap().lines, 1);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"wombat"), "{}", path.display());
    }
}

#[tokio::test]
async fn deletion_is_not_done_while_log_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = Sqlite::open(&path).unwrap();
    let said = Utterance { text: "my wombat".to_owned(), ..line(1) };
    store.append(&key(), vec![said.clone(), line(2)]).await.unwrap();
    let reader = connect(&path).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count: u32 = reader.query_row("SELECT count(*) FROM line", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 2);
    assert_eq!(store.withdraw(&key(), vec![said.uid]).await.unwrap().lines, 1);
    let busy = store.purge_removed().await.unwrap_err();
    assert!(busy.is_passing(), "{busy}");
    reader.execute_batch("COMMIT").unwrap();
    store.purge_removed().await.unwrap();
    let log = std::fs::read(folder.path().join("memory.db-wal")).unwrap();
    assert!(log.is_empty());
}

#[tokio::test]
async fn earlier_schemas_are_upgraded_with_their_data() {
    let folder = tempfile::tempdir().unwrap();
    for earlier in suite::kept::earlier(migrate::STEPS.len()) {
        let path = folder.path().join(format!("{earlier}.db"));
        let mut db = connect(&path).unwrap();
        for step in 1..=earlier {
            migrate::migrate(&mut db, &migrate::STEPS[..step]).unwrap();
            db.execute_batch(&suite::kept::data("sqlite/schema", step)).unwrap();
        }
        let tables = "SELECT name FROM pragma_table_list WHERE type = 'table' \
                      AND schema = 'main' AND name <> 'sqlite_schema'";
        let names: Result<Vec<String>, _> =
            db.prepare(tables).unwrap().query_map([], |row| row.get(0)).unwrap().collect();
        for table in names.unwrap() {
            let some = format!("SELECT EXISTS (SELECT 1 FROM {table})");
            let some: bool = db.query_row(&some, [], |row| row.get(0)).unwrap();
            assert!(some, "nothing in {table}");
        }
        drop(db);
        suite::kept::finding(&Sqlite::open(&path).unwrap()).await;
    }
}

/// Up to schema 5, guilds playing the same campaign shared all of its data.
#[tokio::test]
async fn guilds_of_an_earlier_file_have_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for earlier in 1..=5 {
        let path = folder.path().join(format!("{earlier}.db"));
        let mut db = connect(&path).unwrap();
        migrate::migrate(&mut db, &migrate::STEPS[..earlier]).unwrap();
        db.execute_batch(&suite::moved::data("sqlite/schema")).unwrap();
        drop(db);
        let store = Sqlite::open(&path).unwrap();
        let check = "INSERT INTO line_text (line_text, rank) VALUES ('integrity-check', 1);
                     INSERT INTO item_text (item_text, rank) VALUES ('integrity-check', 1);";
        connect(&path).unwrap().execute_batch(check).unwrap();
        suite::moved::apart(&store).await;
    }
}

/// Up to schema 8, lines did not record the person an NPC answers.
#[tokio::test]
async fn answers_of_an_earlier_file_go_with_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut db = connect(&path).unwrap();
    migrate::migrate(&mut db, &migrate::STEPS[..8]).unwrap();
    let earlier = "INSERT INTO campaign (id, key) VALUES (1, 'c');
        INSERT INTO session (id, campaign, key) VALUES (1, 1, 'one');
        INSERT INTO presence (id, campaign, members) VALUES (1, 1, '[]');";
    db.execute_batch(earlier).unwrap();
    for (seq, turn, by, text) in suite::kept::ANSWERED {
        let insert =
            "INSERT INTO line (campaign, session, seq, uid, turn, at, duration, speaker_id,
                speaker, text, presence, outcome, visibility, seen_by, said_by)
            VALUES (1, 1, ?1, ?1, ?2, ?1, 0, ?3, '', ?4, 1, '', '\"everyone\"', '*', '')";
        db.execute(insert, rusqlite::params![seq, turn, by, text]).unwrap();
    }
    drop(db);
    suite::kept::answers(&Sqlite::open(&path).unwrap()).await;
}

/// Up to schema 3, the index kept accents of non-Latin letters.
#[tokio::test]
async fn upgraded_index_finds_words_in_every_script() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut db = connect(&path).unwrap();
    migrate::migrate(&mut db, &migrate::STEPS[..3]).unwrap();
    db.execute_batch(&suite::kept::data("sqlite/schema", 1)).unwrap();
    for table in ["line", "item"] {
        let said = format!("UPDATE {table} SET text = 'Старый король.' WHERE id = 1");
        db.execute_batch(&said).unwrap();
    }
    drop(db);
    let store = Sqlite::open(&path).unwrap();
    let saltmarsh =
        Scope { owner: Owner::Guild(42), campaign: CampaignKey("saltmarsh".to_owned()) };
    let text = || "старый".to_owned();
    let query = LineQuery { text: text(), ..LineQuery::default() };
    assert_eq!(store.search(&saltmarsh, query, Viewer::Dm).await.unwrap().len(), 1);
    let query = ItemQuery { text: text(), ..ItemQuery::default() };
    assert_eq!(store.search_items(&saltmarsh, query, Viewer::Dm).await.unwrap().len(), 1);
    let check = "INSERT INTO line_text (line_text, rank) VALUES ('integrity-check', 1)";
    connect(&path).unwrap().execute_batch(check).unwrap();
}

#[test]
fn newer_damaged_unwritable_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    drop(Sqlite::open(&path).unwrap());
    let newer = "INSERT INTO migration (version, checksum) VALUES (99, 'x')";
    connect(&path).unwrap().execute_batch(newer).unwrap();
    let error = Sqlite::open(&path).err().unwrap();
    assert!(matches!(error, Error::Newer { found: 99, .. }), "{error}");
    std::fs::write(&path, "this was a database once, and now it is a text of some length").unwrap();
    let error = Sqlite::open(&path).err().unwrap();
    assert!(matches!(error, Error::Damaged(_)), "{error}");
    let error = Sqlite::open(&path.join("inside")).err().unwrap();
    assert!(error.is_passing() && error.to_string().contains("memory.db"), "{error}");
}

#[tokio::test]
async fn health_reports_engine_and_path() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("memory.db")).unwrap();
    let health = store.health().await.unwrap();
    assert!(health.engine.starts_with("SQLite 3.") && health.place.ends_with("memory.db"));
}

#[test]
fn full_disk_error_states_cause_and_remedy() {
    // SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: no room for the log's index.
    for code in [13, 4_874] {
        let said = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        let told = failure(said).to_string();
        assert!(told.contains("is it full? make room"), "{told}");
        assert!(told.contains(&format!("code {code}")), "{told}");
    }
}
