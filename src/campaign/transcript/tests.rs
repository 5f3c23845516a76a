//! Entries written of a line, and failures to write them.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    DeletionFiles, Transcript, TranscriptOptions, TranscriptWriter,
    deletions::DeletedLines,
    name,
    spill::Entry,
    task::{Note, WriterParts, WriterTask},
    utterances,
    writer::NOTES_CAPACITY,
};
use crate::{
    campaign::{Served, Tables},
    domain::{CampaignKey, Owner, PersonId, Scope, SessionId},
    figures::Figures,
    memory::{
        ASKED, Asked, Deletion, Deletions as _, ForgetFrom, LineFilter, MemoryStore, SessionFilter,
        Sqlite, Transcript as _, TranscriptLine, Viewer, Visibility,
    },
    session::{
        AskedId, Backlog, Circumstances, EventReader, Outcome, SpeakerId, TableEvent, TableEvents,
        ToolLine, TurnLine, Unwritten,
    },
    tools::NamedBy,
};

/// Longest wait of these tests.
const BOUND: Duration = Duration::from_secs(60);

fn options(folder: &tempfile::TempDir) -> TranscriptOptions {
    TranscriptOptions { spill: folder.path().join("waiting"), retention_days: None }
}

fn of(owner: Owner) -> Transcript {
    let scope = Scope { owner, campaign: CampaignKey("c".to_owned()) };
    Transcript { scope, session: SessionId("s".to_owned()) }
}

fn line() -> TurnLine {
    TurnLine {
        from: Some(SpeakerId(7)),
        understood: "Bartok, hello".to_owned(),
        npc: Some("Bartok".to_owned()),
        reply: "Well met.".to_owned(),
        outcome: Outcome::Spoken,
        circumstances: Circumstances {
            raw: "bar talk hello".to_owned(),
            npcs: vec!["Bartok".to_owned()],
            people: vec![(SpeakerId(7), "Anna".to_owned())],
            ..Circumstances::default()
        },
        ..TurnLine::without_speech(3, "Anna", String::new())
    }
}

#[test]
fn turn_is_a_question_and_an_answer() {
    let said = utterances(&of(Owner::Guild(5)), &line(), 1_000);
    let [question, answer] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(question.speaker_id.as_deref(), Some("7"));
    assert_eq!(question.raw.as_deref(), Some("bar talk hello"));
    assert_eq!((answer.speaker.as_str(), &answer.speaker_id), ("Bartok", &None));
    assert_eq!(answer.present, question.present);
    assert_ne!(answer.uid, question.uid);
    assert_eq!(answer.asked, Some(Asked { by: "7".to_owned(), at: question.at }));
    assert_eq!(question.asked, None);
    // Without a guild no id lasts.
    let said = utterances(&of(Owner::Local), &line(), 1_000);
    assert_eq!(said[0].speaker_id.as_deref(), Some("Anna"));
    assert_eq!(said[0].present[1].player.as_deref(), Some("Anna"));
}

#[test]
fn stopped_and_empty_turns_are_not_recorded() {
    let x_card = TurnLine { from: None, outcome: Outcome::Stopped, ..line() };
    assert!(utterances(&of(Owner::Local), &x_card, 1_000).is_empty());
    let puppet =
        utterances(&of(Owner::Local), &TurnLine { understood: String::new(), ..line() }, 1_000);
    assert_eq!(puppet.len(), 1);
    assert_eq!(puppet[0].speaker, "Bartok");
    let order = TurnLine { outcome: Outcome::Command, reply: String::new(), ..line() };
    assert_eq!(utterances(&of(Owner::Local), &order, 1_000)[0].visibility, Visibility::Dm);
    let nothing = TurnLine { understood: String::new(), reply: String::new(), ..line() };
    assert!(utterances(&of(Owner::Local), &nothing, 1_000).is_empty());
}

#[test]
fn calls_are_stored_with_words_of_a_person() {
    let call = ToolLine {
        tool: "sky.find".to_owned(),
        named_by: NamedBy::Operator,
        server: None,
        arguments: json!({ "about": "my wombat" }),
        result: Value::Null,
        ok: true,
        ms: 0.0,
        tier: None,
        attempts: 1,
        cached: false,
        pending: false,
    };
    let asked = TurnLine { tools: vec![call], ..line() };
    let said = utterances(&of(Owner::Guild(5)), &asked, 1_000);
    assert!(!said[0].tools.is_null() && said[1].tools.is_null(), "{said:?}");
    // A late result answers no words.
    let late = TurnLine { understood: String::new(), ..asked };
    let said = utterances(&of(Owner::Guild(5)), &late, 1_000);
    assert!(said.len() == 1 && said[0].tools.is_null(), "{said:?}");
    assert_eq!(said[0].asked.as_ref().map(|asked| &*asked.by), Some("7"), "it is still theirs");
}

#[tokio::test]
async fn lines_are_written_in_order_before_close() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn MemoryStore> =
        Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
    let writer = TranscriptWriter::open(Arc::clone(&store), Tables::default(), &options(&folder));
    let of = of(Owner::Local);
    writer.begins(&of);
    for turn in 1..=100 {
        writer.line(&of, &TurnLine { turn, ..line() });
    }
    writer.ends(&of);
    assert_eq!(writer.close().await, None);
    assert_eq!(writer.backlog().count(), Unwritten::default());
    let lines = store.lines(&of.scope, LineFilter::default(), Viewer::Dm).await.unwrap();
    assert_eq!(lines.len(), 200);
    assert!(lines.is_sorted_by_key(|line| (line.said.turn, line.seq)));
    let sessions = store.sessions(&of.scope, SessionFilter::default()).await.unwrap();
    assert!(sessions[0].session.ended >= sessions[0].session.started);
}

#[tokio::test]
async fn unwritable_lines_are_counted_as_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = Arc::new(Sqlite::open(&path).unwrap());
    let of = of(Owner::Local);
    // The store refuses a campaign without a name.
    let scope = Scope { campaign: CampaignKey(String::new()), ..of.scope.clone() };
    let refused = Transcript { scope, ..of.clone() };
    let writer = TranscriptWriter::open(store, Tables::default(), &options(&folder));
    writer.line(&refused, &line());
    writer.settled(BOUND).await;
    assert_eq!(writer.backlog().count(), Unwritten { waiting: 0, lost: 2 });
    assert!(writer.backlog().count().is_troubled());
    // Lines that can be written still are.
    writer.line(&of, &line());
    let missing = writer.close().await.unwrap();
    assert!(missing.contains("lacks 2 lines"), "{missing}");
    writer.line(&of, &line());
    assert_eq!(writer.backlog().count().lost, 4, "after its end nothing is written");
}

/// Writes four turns with a writer of this many faults and stops it. Returns its spill.
async fn written_with(
    faults: usize,
    store: &Arc<dyn MemoryStore>,
    spill: &tempfile::TempDir,
) -> u64 {
    let (backlog, stop) = (Backlog::default(), CancellationToken::new());
    let parts = WriterParts {
        store: Arc::clone(store),
        tables: Tables::default(),
        written: Arc::default(),
        options: options(spill),
        deleted: DeletedLines::default(),
        served: Served::default(),
        backlog: backlog.clone(),
        stuck: watch::Sender::default(),
        figures: Figures::default(),
        stop: stop.clone(),
        faults: Arc::new(faults.into()),
    };
    let (notes, queue) = mpsc::channel(16);
    let task = tokio::spawn(WriterTask::new(parts).write_all(queue));
    let of = of(Owner::Local);
    for turn in 1..=4 {
        let lines = utterances(&of, &TurnLine { turn, ..line() }, 1_000);
        backlog.wait(2);
        notes.send(Note::Write(Entry::Lines(of.scope.clone(), lines))).await.unwrap();
    }
    let (done, heard) = oneshot::channel();
    notes.send(Note::Mark(done)).await.unwrap();
    let heard = timeout(BOUND, heard).await.expect("it goes on");
    heard.expect("it goes on after a panic");
    stop.cancel();
    timeout(BOUND, task).await.expect("it ends").expect("its task does not end with one")
}

#[tokio::test]
async fn lines_survive_writer_panic() {
    for (faults, spilled, there) in [(1, 0, 8), (2, 8, 0)] {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn MemoryStore> =
            Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
        let scope = of(Owner::Local).scope;
        let lines =
            async || store.lines(&scope, LineFilter::default(), Viewer::Dm).await.unwrap().len();
        assert_eq!(written_with(faults, &store, &folder).await, spilled);
        assert_eq!(lines().await, there);
        // The next run writes down what waits.
        let next = TranscriptWriter::open(Arc::clone(&store), Tables::default(), &options(&folder));
        assert_eq!(next.close().await, None);
        assert_eq!(lines().await, 8);
    }
}

/// Notices to a table.
fn notices(told: &mut EventReader) -> Vec<String> {
    let notice = |event| match event {
        TableEvent::Notice(text) => Some(text),
        _ => None,
    };
    std::iter::from_fn(|| told.try_recv()).filter_map(notice).collect()
}

#[tokio::test(start_paused = true)]
async fn left_out_line_does_not_end_an_outage() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
    let (tables, events) = (Tables::default(), TableEvents::new(8));
    tables.add(&events);
    let mut told = events.subscribe();
    let any = Arc::clone(&store) as Arc<dyn MemoryStore>;
    let writer = TranscriptWriter::open(any, tables, &options(&folder));
    store.set_away(true);
    let of = of(Owner::Local);
    writer.line(&of, &TurnLine { npc: None, reply: String::new(), ..line() });
    writer.settled(BOUND).await;
    assert!(notices(&mut told)[0].contains("is not being written for now"));
    let from = ForgetFrom { owner: Owner::Local, session: None };
    writer.leave_out(&Deletion::of("Anna".to_owned(), from, i64::MAX));
    sleep(Duration::from_secs(600)).await;
    assert_eq!(writer.backlog().count(), Unwritten::default());
    assert_eq!(notices(&mut told), [""; 0], "the store is still away");
    store.set_away(false);
    writer.line(&of, &TurnLine { speaker: "Ben".to_owned(), ..line() });
    writer.settled(BOUND).await;
    assert!(notices(&mut told)[0].contains("is being written again"));
}

#[tokio::test]
async fn deleted_lines_of_earlier_runs_are_left_out() {
    for is_away in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn MemoryStore> =
            Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
        assert_eq!(written_with(2, &store, &folder).await, 8);
        let from = ForgetFrom { owner: Owner::Local, session: None };
        let deletion = Deletion::of("Anna".to_owned(), from, i64::MAX);
        if is_away {
            DeletionFiles::new(&options(&folder).spill).put(&deletion).unwrap();
        } else {
            store.put_deletion(deletion).await.unwrap();
        }
        let next = TranscriptWriter::open(Arc::clone(&store), Tables::default(), &options(&folder));
        assert_eq!(next.close().await, None);
        let scope = of(Owner::Local).scope;
        let lines = store.lines(&scope, LineFilter::default(), Viewer::Dm).await.unwrap();
        assert!(lines.is_empty(), "nor the answers to them: {lines:?}");
    }
}

/// A writer of a server that this process serves, and its store.
fn serving(folder: &tempfile::TempDir, tables: Tables) -> (TranscriptWriter, Arc<Sqlite>) {
    let store = Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
    let any = Arc::clone(&store) as Arc<dyn MemoryStore>;
    let writer = TranscriptWriter::open(any, tables, &options(folder));
    writer.served().hold(1, [0], Instant::now() + 60 * BOUND);
    (writer, store)
}

async fn written(store: &Sqlite, scope: &Scope) -> Vec<TranscriptLine> {
    store.lines(scope, LineFilter::default(), Viewer::Dm).await.unwrap()
}

async fn count(store: &Sqlite, scope: &Scope) -> usize {
    written(store, scope).await.len()
}

/// The words of [`line`] before their turn ends, and with what came of it.
fn exchange() -> (TurnLine, TurnLine) {
    let told = Circumstances { asked: Some(AskedId::next()), ..line().circumstances };
    let answered = TurnLine { circumstances: told, ..line() };
    (TurnLine { turn: 0, reply: String::new(), ..answered.clone() }, answered)
}

#[tokio::test(start_paused = true)]
async fn words_are_stored_before_their_answer() {
    for is_away in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (writer, store) = serving(&folder, Tables::default());
        let (of, (words, answered)) = (of(Owner::Local), exchange());
        store.set_away(is_away);
        writer.asked(&of, &words);
        assert!(writer.settled(BOUND).await, "it is in the store, or in the spill");
        let stored = written(&store, &of.scope).await;
        assert_eq!(stored.len(), usize::from(!is_away));
        assert!(stored.iter().all(|it| it.said.outcome == ASKED && it.said.turn == 0));
        writer.line(&of, &answered);
        writer.settled(BOUND).await;
        store.set_away(false);
        assert_eq!(writer.close().await, None);
        let stored = written(&store, &of.scope).await;
        let [asked, answer] = stored.as_slice() else { panic!("{stored:?}") };
        assert_eq!((asked.seq, asked.said.turn, asked.said.outcome.as_str()), (1, 3, "spoken"));
        assert_eq!(
            (asked.said.turn, asked.said.text.as_str()),
            (answer.said.turn, "Bartok, hello")
        );
        assert_eq!(answer.said.asked.as_ref().map(|it| it.at), Some(asked.said.at));
        assert_eq!(writer.backlog().count(), Unwritten::default());
    }
}

#[tokio::test(start_paused = true)]
async fn asked_words_are_withdrawn_if_taken_back() {
    for (is_away, by_card) in [(false, true), (false, false), (true, true), (true, false)] {
        let folder = tempfile::tempdir().unwrap();
        let (writer, store) = serving(&folder, Tables::default());
        let (of, (words, answered)) = (of(Owner::Local), exchange());
        store.set_away(is_away);
        writer.asked(&of, &words);
        // Another's words stay.
        let (mut others, _) = exchange();
        others.speaker = "Ben".to_owned();
        writer.asked(&of, &others);
        if by_card {
            let (understood, reply) = (String::new(), String::new());
            writer.line(&of, &TurnLine { from: None, understood, reply, ..answered });
        } else {
            writer.forget(&of, &PersonId("Anna".to_owned()));
        }
        writer.settled(BOUND).await;
        store.set_away(false);
        assert_eq!(writer.close().await, None);
        let stored = written(&store, &of.scope).await;
        let by: Vec<&str> = stored.iter().map(|it| it.said.speaker.as_str()).collect();
        assert_eq!(by, ["Ben"], "away: {is_away}, by a card: {by_card}");
    }
}

#[tokio::test(start_paused = true)]
async fn card_withdraws_words_of_a_slow_turn() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, store) = serving(&folder, Tables::default());
    let (of, (words, answered)) = (of(Owner::Local), exchange());
    writer.asked(&of, &words);
    // It names the lines before the card; the turn's own line comes once its engine has ended.
    writer.take_back(&of, &[]);
    writer.settled(BOUND).await;
    assert_eq!(count(&store, &of.scope).await, 0);
    let (understood, reply) = (String::new(), String::new());
    writer.line(&of, &TurnLine { from: None, understood, reply, ..answered });
    writer.settled(BOUND).await;
    assert_eq!(count(&store, &of.scope).await, 0);
    assert_eq!(writer.close().await, None);
}

#[tokio::test(start_paused = true)]
async fn words_go_if_events_were_missed() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, store) = serving(&folder, Tables::default());
    let of = of(Owner::Local);
    let (taken_back, (words, answered)) = (exchange().0, exchange());
    writer.asked(&of, &taken_back);
    writer.asked(&of, &words);
    // The line that took the first ones back may be among them.
    writer.missed(&of);
    writer.settled(BOUND).await;
    assert_eq!(count(&store, &of.scope).await, 0);
    writer.line(&of, &answered);
    writer.settled(BOUND).await;
    let stored = written(&store, &of.scope).await;
    let outcomes: Vec<&str> = stored.iter().map(|it| it.said.outcome.as_str()).collect();
    assert_eq!(outcomes, ["spoken", "spoken"], "what still comes is whole");
    assert_eq!(stored[0].said.text, "Bartok, hello");
    assert_eq!(writer.close().await, None);
}

#[tokio::test(start_paused = true)]
async fn words_under_way_are_not_caught_up() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, store) = serving(&folder, Tables::default());
    let (of, (words, _)) = (of(Owner::Local), exchange());
    store.set_silent(true);
    writer.asked(&of, &words);
    assert!(writer.caught_up().await.is_err(), "a deletion would overtake them");
    store.set_silent(false);
    assert!(writer.settled(BOUND).await);
    assert!(writer.caught_up().await.is_ok());
    assert_eq!(count(&store, &of.scope).await, 1);
    assert_eq!(writer.close().await, None);
    assert!(writer.caught_up().await.is_ok(), "nothing waits after its end");
}

/// Events of a table, which `writer` records as for a session.
fn recorded(writer: &TranscriptWriter, of: &Transcript) -> TableEvents {
    let events = TableEvents::new(8);
    let (mut told, writer, of) = (events.subscribe(), writer.clone(), of.clone());
    tokio::spawn(async move {
        while let Some(event) = told.recv().await {
            match event {
                TableEvent::Asked(line) => writer.asked(&of, &line),
                TableEvent::Mark(mark) => mark.reach(),
                _ => {}
            }
        }
    });
    events
}

#[tokio::test]
async fn words_left_open_end_as_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, store) = serving(&folder, Tables::default());
    let (of, (mut words, _)) = (of(Owner::Local), exchange());
    words.circumstances.said_for = Duration::from_secs(1);
    writer.asked(&of, &words);
    assert!(writer.settled(BOUND).await);
    // Its process is killed.
    let any = Arc::clone(&store) as Arc<dyn MemoryStore>;
    let next = TranscriptWriter::open(any, Tables::default(), &options(&folder));
    next.begins(&of);
    next.asked(&of, &exchange().0);
    assert!(next.settled(BOUND).await);
    let stored = written(&store, &of.scope).await;
    let outcomes: Vec<&str> = stored.iter().map(|it| it.said.outcome.as_str()).collect();
    assert_eq!(outcomes, [name(Outcome::Cancelled).as_str(), ASKED]);
    assert!(!stored[0].said.is_open_in("s") && stored[1].said.is_open_in("s"));
    assert_eq!(next.close().await, None);
}

#[tokio::test(start_paused = true)]
async fn lost_line_is_not_called_stored() {
    for is_full in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (writer, store) = serving(&folder, Tables::default());
        let of = of(Owner::Local);
        let events = recorded(&writer, &of);
        assert!(writer.settled(BOUND).await);
        let mut lossy = of.clone();
        if is_full {
            let from = ForgetFrom { owner: Owner::Local, session: None };
            let deletion = Deletion::of("Zoe".to_owned(), from, 0);
            (0..NOTES_CAPACITY).for_each(|_| writer.leave_out(&deletion));
        } else {
            // The store refuses it.
            lossy.scope.campaign = CampaignKey(String::new());
        }
        writer.asked(&lossy, &exchange().0);
        let table = events.downgrade();
        assert!(!writer.answers_for(Owner::Local, &table).await, "full: {is_full}");
        sleep(BOUND).await;
        events.tell(TableEvent::Asked(Arc::new(exchange().0)));
        assert!(writer.answers_for(Owner::Local, &table).await, "full: {is_full}");
        assert_eq!(count(&store, &of.scope).await, 1, "only the second line");
        assert_eq!(writer.close().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn answer_waits_for_slow_store_within_bound() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, store) = serving(&folder, Tables::default());
    let of = of(Owner::Local);
    let events = recorded(&writer, &of);
    let table = events.downgrade();
    let says = || {
        store.set_silent(true);
        events.tell(TableEvent::Asked(Arc::new(exchange().0)));
    };
    says();
    let slow = async {
        sleep(Duration::from_secs(1)).await;
        store.set_silent(false);
    };
    let (is_written, ()) = tokio::join!(writer.answers_for(Owner::Local, &table), slow);
    assert!(is_written);
    assert_eq!(count(&store, &of.scope).await, 1);
    says();
    let began = Instant::now();
    assert!(!writer.answers_for(Owner::Local, &table).await, "it never answers");
    let after = began.elapsed();
    assert!(after < Duration::from_secs(2), "Discord waits for 3 s: {after:?}");
    assert_eq!(count(&store, &of.scope).await, 1);
    store.set_silent(false);
    assert!(writer.settled(BOUND).await);
    assert_eq!(count(&store, &of.scope).await, 2, "the second line came late");
    let gone = TableEvents::new(1).downgrade();
    assert!(!writer.answers_for(Owner::Local, &gone).await, "its table is gone");
}

#[tokio::test(start_paused = true)]
async fn refused_line_ends_its_table_silently() {
    let folder = tempfile::tempdir().unwrap();
    let (tables, events) = (Tables::default(), TableEvents::new(8));
    tables.add(&events);
    let mut told = events.subscribe();
    let (writer, store) = serving(&folder, tables);
    let (of, served) = (of(Owner::Guild(5)), writer.served());
    store.set_fenced(true);
    for turn in 1..=2 {
        assert_eq!(served.serves(of.scope.owner), turn == 1);
        writer.line(&of, &TurnLine { turn, ..line() });
        writer.settled(BOUND).await;
    }
    timeout(BOUND, served.refused(0)).await.expect("the shard is told");
    assert_eq!(notices(&mut told), [""; 0], "another process speaks there");
    assert_eq!(writer.backlog().count(), Unwritten::default());
    assert_eq!(writer.close().await, None);
    assert_eq!(count(&store, &of.scope).await, 0);
}

#[tokio::test(start_paused = true)]
async fn lines_said_while_served_are_never_refused() {
    for is_away in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (writer, store) = serving(&folder, Tables::default());
        let of = of(Owner::Guild(5));
        store.set_away(is_away);
        writer.line(&of, &line());
        if is_away {
            writer.settled(BOUND).await;
            assert_eq!(writer.backlog().count().waiting, 2);
        }
        // Another process serves it before they are written.
        writer.served().hold(1, [], Instant::now());
        store.set_fenced(true);
        store.set_away(false);
        sleep(10 * BOUND).await;
        assert_eq!(writer.backlog().count(), Unwritten::default());
        assert_eq!(count(&store, &of.scope).await, 2);
        assert_eq!(writer.close().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn deletion_elsewhere_covers_waiting_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, store) = serving(&folder, Tables::default());
    let other = Sqlite::open(&folder.path().join("memory.db")).unwrap();
    let of = of(Owner::Local);
    for turn in 1..=2 {
        store.set_away(true);
        writer.line(&of, &TurnLine { turn, ..line() });
        writer.settled(BOUND).await;
        if turn == 2 {
            let from = ForgetFrom { owner: Owner::Local, session: None };
            let deletion = Deletion::of("Anna".to_owned(), from, i64::MAX);
            other.put_deletion(deletion).await.unwrap();
        }
        store.set_away(false);
        sleep(10 * BOUND).await;
        assert_eq!(writer.backlog().count(), Unwritten::default());
        assert_eq!(count(&store, &of.scope).await, 2, "{turn}");
    }
    assert_eq!(writer.close().await, None);
}
