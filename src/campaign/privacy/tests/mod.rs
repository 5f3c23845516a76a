//! Deleting while a session ends, while the store is away, after a kill, and in random evenings.

mod evenings;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use arc_swap::ArcSwap;
use futures::future::BoxFuture;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, timeout},
};

use super::{Deleted, erasure::Eraser, failure::PrivacyError, played_by_node, played_elsewhere};
use crate::{
    campaign::{
        AddedServer, Factory, GuildSettings, Handles, KeptSession, MadeTable, OpenError,
        RunningSession, RunningTable, ServerError, Sessions, SharedSettings, TableRequest,
        Transcript, now,
        stand_in::{NoEngines, Nowhere, handles_over},
        stand_in_handles,
    },
    domain::{CampaignKey, Message, Npc, Owner, PersonId, Said, Scope, SessionId},
    engine::{
        Budget, Synthesizer,
        tests::props::{NoEffects, hum},
    },
    logic::budget::Ledger,
    memory::{
        Deletion, Deletions as _, ForgetFrom, GuildRecord, LineFilter, MemoryStore, Node, Sqlite,
        Transcript as _, Uid, Utterance, Viewer,
    },
    provider::Error,
    session::{
        Command, Conversations, MusicPlayer, Outcome, Outlets, Pace, SpeakerId, TableEvents,
        TableHandle, TurnLine,
    },
    tools::connection::ServerOptions,
};

const GUILD: u64 = 7;
/// Longest wait of these tests.
const BOUND: Duration = Duration::from_secs(60);

/// Makes one table, whose commands the test reads.
struct OneTable {
    commands: Mutex<Option<mpsc::Sender<Command>>>,
    settings: Mutex<Option<SharedSettings>>,
}

impl Factory for OneTable {
    fn table(&self, _: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>> {
        let commands = self.commands.lock().unwrap().take().expect("one table");
        let settings = self.settings.lock().unwrap().take().expect("settings").load_full();
        let handle = TableHandle {
            voice: mpsc::channel(1).0,
            commands,
            seated: watch::channel([].into()).1,
            explanations: None,
        };
        Box::pin(async move {
            let table = RunningTable {
                handle,
                task: tokio::spawn(async { Conversations::default() }),
                cannot_hear: None,
                engines: Arc::new(NoEngines(Arc::new(settings.services.clone()))),
            };
            let assistant = Arc::new(ArcSwap::from_pointee(settings.assistant.clone()));
            Ok(MadeTable { table, budget: Budget::new(Ledger::default()), assistant })
        })
    }

    fn closed(&self, _: &SessionId) {}

    fn voice(&self, npc: &Arc<Npc>, budget: Budget) -> Result<Synthesizer, Error> {
        Ok(Synthesizer::new(Arc::clone(npc), hum(), budget, &[]))
    }

    fn server(&self, _: &str, _: &AddedServer) -> Result<ServerOptions, ServerError> {
        Err(ServerError::TooNear)
    }
}

/// A running session.
struct Playing {
    handles: Handles,
    session: SessionId,
    table: RunningTable,
    told: mpsc::Receiver<Command>,
}

async fn playing(folder: &std::path::Path) -> Playing {
    let (commands, told) = mpsc::channel(8);
    let factory =
        Arc::new(OneTable { commands: Mutex::new(Some(commands)), settings: Mutex::default() });
    let handles = stand_in_handles(folder, Arc::clone(&factory) as Arc<dyn Factory>);
    *factory.settings.lock().unwrap() = Some(Arc::clone(&handles.settings));
    let (session, events) = (Sessions::name(GUILD), TableEvents::new(8));
    let request = TableRequest {
        session: session.clone(),
        scope: Scope { owner: Owner::Guild(GUILD), campaign: CampaignKey("c".to_owned()) },
        played: None,
        after: None,
        began: None,
        is_heard: true,
        outlets: Outlets {
            out: Box::new(Nowhere),
            pace: Pace::RealTime,
            music: MusicPlayer::new(events.downgrade()),
            effects: Arc::new(NoEffects),
            halts: Arc::default(),
            events,
        },
    };
    let table = handles.sessions.open(request, Default::default()).await.unwrap();
    Playing { handles, session, table, told }
}

#[tokio::test]
async fn deleting_waits_for_a_session_that_ends() {
    let folder = tempfile::tempdir().unwrap();
    let Playing { handles, session, table, mut told } = playing(folder.path()).await;
    let deleting = tokio::spawn(handles.privacy.clone().forget(asked(now())));
    // The table ends with the command unread.
    let command = timeout(BOUND, told.recv()).await.expect("in time");
    assert!(matches!(command, Some(Command::Erase(..))), "{command:?}");
    drop((command, table, told));
    let said = |text: &str, by: &str| {
        Message::User(Said { text: text.to_owned(), by: Some(PersonId(by.to_owned())) })
    };
    let histories = vec![("Bartok".to_owned(), vec![said("my wombat", "1"), said("my owl", "2")])];
    let kept = Conversations { histories, ..Conversations::default() };
    handles.sessions.keep(&session, Some(kept)).await.unwrap();
    timeout(BOUND, deleting).await.expect("in time").unwrap().unwrap();
    let store = handles.sessions.transcripts().store();
    let kept = store.kept_table(Owner::Guild(GUILD), &session.0).await.unwrap().unwrap().text;
    assert!(kept.contains("owl") && !kept.contains("wombat"), "{kept}");
}

fn scope() -> Scope {
    Scope { owner: Owner::Guild(GUILD), campaign: CampaignKey("c".to_owned()) }
}

/// Person 9 requests deletion of everything person 1 said before this time.
fn asked(before: i64) -> Deletion {
    let from = ForgetFrom { owner: Owner::Guild(GUILD), session: None };
    Deletion { asker: "9".to_owned(), ..Deletion::of("1".to_owned(), from, before) }
}

/// A run of the program without a table.
struct Run {
    handles: Handles,
    store: Arc<Sqlite>,
}

impl Run {
    fn begin(folder: &Path) -> Self {
        let factory = OneTable { commands: Mutex::default(), settings: Mutex::default() };
        let store = Arc::new(Sqlite::open(&folder.join("memory.db")).unwrap());
        let any = Arc::clone(&store) as Arc<dyn MemoryStore>;
        Self { handles: handles_over(folder, Arc::new(factory), any), store }
    }

    async fn write(&self, by: &str, at: i64, text: &str) {
        let line = Utterance {
            uid: Uid(format!("{by}-{at}")),
            session: "s".to_owned(),
            at,
            speaker_id: Some(by.to_owned()),
            speaker: format!("name of {by}"),
            text: text.to_owned(),
            ..Utterance::default()
        };
        self.store.append(&scope(), vec![line]).await.unwrap();
    }

    async fn lines(&self) -> Vec<String> {
        let lines = self.store.lines(&scope(), LineFilter::default(), Viewer::Dm).await.unwrap();
        lines.into_iter().map(|line| line.said.text).collect()
    }

    /// Records of deletions that are not done, in the store and in files.
    async fn recorded(&self) -> (usize, usize) {
        let files = self.handles.sessions.transcripts().deletion_files();
        (self.store.deletions().await.unwrap().len(), files.all().unwrap().len())
    }

    /// Resumes deletions of earlier runs until one is done.
    async fn resume(&self) {
        let mut finished = self.handles.privacy.finished();
        self.handles.privacy.resume();
        let done = timeout(BOUND, finished.recv()).await.expect("in time").unwrap();
        let asker = PersonId("9".to_owned());
        assert_eq!(done, Deleted { owner: Owner::Guild(GUILD), asker });
    }

    async fn end(self) {
        self.handles.privacy.close().await;
        self.handles.sessions.transcripts().close().await;
    }
}

#[tokio::test]
async fn deletion_waits_for_store_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::begin(folder.path());
    run.write("1", 1_000, "my wombat").await;
    run.write("2", 1_000, "an owl").await;
    let mut finished = run.handles.privacy.finished();
    run.store.set_away(true);
    let refused = run.handles.privacy.clone().forget(asked(2_000)).await.unwrap_err();
    assert!(matches!(refused, PrivacyError::Store(_)), "{refused}");
    assert_eq!(run.recorded().await, (0, 1));
    run.store.set_away(false);
    // They have opted in again.
    run.write("1", 3_000, "my badger").await;
    let done = timeout(BOUND, finished.recv()).await.expect("in time").unwrap();
    assert_eq!(done.asker, PersonId("9".to_owned()));
    assert_eq!(run.lines().await, ["an owl", "my badger"]);
    assert_eq!(run.recorded().await, (0, 0));
    // A deletion done at once is answered and no longer recorded.
    assert_eq!(run.handles.privacy.clone().forget(asked(4_000)).await.unwrap(), 1);
    assert_eq!(run.recorded().await, (0, 0));
    assert!(finished.try_recv().is_err());
}

#[tokio::test]
async fn killed_deletion_is_done_at_next_start() {
    for (is_away, erased) in [(false, false), (true, true)] {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::begin(folder.path());
        run.write("1", 1_000, "my wombat").await;
        let mut left = asked(2_000);
        left.erased = erased;
        if is_away {
            run.handles.sessions.transcripts().deletion_files().put(&left).unwrap();
        } else {
            run.store.put_deletion(left).await.unwrap();
        }
        run.write("1", 2_000, "my badger").await;
        let said = Said { text: "my ferret".to_owned(), by: Some(PersonId("1".to_owned())) };
        let histories = [("Bartok".to_owned(), vec![Message::User(said)])].into();
        let session = Sessions::name(GUILD);
        KeptSession::open(folder.path(), &session.0, &scope())
            .unwrap()
            .save(histories, 0.0)
            .unwrap();
        run.end().await;

        let run = Run::begin(folder.path());
        run.resume().await;
        assert_eq!(run.lines().await, ["my badger"]);
        assert_eq!(run.recorded().await, (0, 0));
        // Tables and files erase once only.
        let file = folder.path().join(format!("sessions/{session}.json"));
        assert_eq!(fs::read_to_string(file).unwrap().contains("ferret"), erased);
    }
}

#[tokio::test(start_paused = true)]
async fn deletion_from_before_a_clock_change_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::begin(folder.path());
    run.write("1", 1_000, "my wombat").await;
    let tomorrow = now() + 24 * 3_600_000;
    run.store.put_deletion(asked(tomorrow)).await.unwrap();
    run.resume().await;
    assert!(run.lines().await.is_empty());
    assert_eq!(run.recorded().await, (0, 0));
    // A deletion that this run has begun is not taken up from its record.
    let mut finished = run.handles.privacy.finished();
    run.handles.privacy.clone().forget(asked(2_000)).await.unwrap();
    run.store.put_deletion(asked(2_000)).await.unwrap();
    run.handles.privacy.resume();
    sleep(Duration::from_secs(600)).await;
    assert!(finished.try_recv().is_err());
    assert_eq!(run.recorded().await, (1, 0));
}

#[tokio::test(start_paused = true)]
async fn deletion_of_another_process_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::begin(folder.path());
    run.write("1", 1_000, "my wombat").await;
    run.store.put_deletion(asked(2_000)).await.unwrap();
    let mut finished = run.handles.privacy.finished();
    let served = run.handles.sessions.transcripts().served().clone();
    let until = Instant::now() + 60 * BOUND;
    served.hold(2, [1], until);
    run.handles.privacy.resume();
    sleep(BOUND).await;
    assert_eq!(run.lines().await, ["my wombat"], "another process serves its server");
    served.hold(2, [0, 1], until);
    timeout(BOUND, finished.recv()).await.expect("in time").unwrap();
    assert!(run.lines().await.is_empty());
    assert_eq!(run.recorded().await, (0, 0));
    // The other one lost the server before it could record this one.
    run.write("1", 2_500, "my badger").await;
    run.store.put_deletion(asked(3_000)).await.unwrap();
    timeout(3 * BOUND, finished.recv()).await.expect("in time").unwrap();
    assert!(run.lines().await.is_empty());
    run.end().await;
}

/// Keeps a word of person 1 in the file of an earlier session, and returns the file.
fn keep(folder: &Path, word: &str) -> PathBuf {
    keep_said(folder, Said { text: format!("my {word}"), by: Some(PersonId("1".to_owned())) })
}

/// Keeps what was said in the file of an earlier session, and returns the file.
fn keep_said(folder: &Path, said: Said) -> PathBuf {
    let histories = [("Bartok".to_owned(), vec![Message::User(said)])].into();
    let kept = KeptSession::open(folder, "discord-7-99", &scope()).unwrap();
    kept.save(histories, 0.0).unwrap();
    folder.join("sessions/discord-7-99.json")
}

#[tokio::test(start_paused = true)]
async fn retry_of_deletion_tries_failed_files_only() {
    let folder = tempfile::tempdir().unwrap();
    let Playing { handles, table, mut told, .. } = playing(folder.path()).await;
    let good = keep(folder.path(), "ferret");
    let foreign = folder.path().join("sessions/discord-7-9.json");
    fs::write(&foreign, "a diary").unwrap();
    let erased = Arc::new(Mutex::new(0));
    let count = Arc::clone(&erased);
    let erases = tokio::spawn(async move {
        while let Some(command) = told.recv().await {
            if let Command::Erase(_, done) = command {
                *count.lock().unwrap() += 1;
                _ = done.send(());
            }
        }
    });
    let mut finished = handles.privacy.finished();
    // One name, so that words of earlier versions are searched too.
    let request = Deletion { names: vec!["Anna".to_owned()], ..asked(now()) };
    let refused = handles.privacy.clone().forget(request).await.unwrap_err();
    assert!(matches!(refused, PrivacyError::Kept(_)), "{refused}");
    assert!(!fs::read_to_string(&good).unwrap().contains("ferret"));
    let first = *erased.lock().unwrap();
    // They have opted in again, and the file stays as it is for many attempts.
    keep(folder.path(), "badger");
    sleep(Duration::from_secs(600)).await;
    assert_eq!(*erased.lock().unwrap(), first, "at the first attempt");
    assert!(fs::read_to_string(&good).unwrap().contains("badger"));
    let left = handles.sessions.transcripts().store().deletions().await.unwrap();
    assert_eq!(left[0].files, ["discord-7-9"]);
    fs::remove_file(foreign).unwrap();
    // It is tried once a minute.
    timeout(3 * BOUND, finished.recv()).await.expect("in time").unwrap();
    assert_eq!(handles.sessions.transcripts().store().deletions().await.unwrap(), []);
    handles.privacy.close().await;
    drop((table, handles));
    timeout(BOUND, erases).await.expect("in time").unwrap();
}

#[tokio::test(start_paused = true)]
async fn failed_retry_by_name_is_not_done() {
    let folder = tempfile::tempdir().unwrap();
    let Playing { handles, table, told, .. } = playing(folder.path()).await;
    let sessions = handles.sessions.clone();
    let eraser = Eraser { settings: Arc::clone(&handles.settings), sessions };
    let files = vec!["discord-7-9".to_owned()];
    let mut deletion = Deletion { erased: true, named: true, files, ..asked(now()) };
    let names = ["Anna".to_owned()];
    // The table never answers, so files are not what fails.
    for _ in 0..2 {
        let tried = deletion.files.clone();
        let failed = eraser.by_name(&mut deletion, &names, &tried).await;
        assert!(matches!(failed, Err(PrivacyError::NotSaved(_))), "{failed:?}");
    }
    drop((table, told));
}

#[tokio::test(start_paused = true)]
async fn names_unread_at_retry_are_erased_later() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::begin(folder.path());
    let file = keep(folder.path(), "owl");
    fs::write(&file, "a diary").unwrap();
    let mut finished = run.handles.privacy.finished();
    let request = Deletion { names: vec!["Anna".to_owned()], ..asked(now()) };
    let refused = run.handles.privacy.clone().forget(request).await.unwrap_err();
    assert!(matches!(refused, PrivacyError::Kept(_)), "{refused}");
    // A record of an earlier version, in the file that failed.
    fs::remove_file(&file).unwrap();
    keep_said(folder.path(), Said::from("Anna: my ferret"));
    run.store.set_away(true);
    // While a line waits for the store, names are not read.
    let of = Transcript { scope: scope(), session: SessionId("s".to_owned()) };
    let line = TurnLine {
        from: Some(SpeakerId(2)),
        understood: "an owl".to_owned(),
        outcome: Outcome::Spoken,
        ..TurnLine::without_speech(2, "somebody", String::new())
    };
    run.handles.sessions.transcripts().line(&of, &line);
    sleep(Duration::from_secs(600)).await;
    let waiting = run.handles.sessions.transcripts().deletion_files().all().unwrap();
    assert!(waiting.iter().any(|it| it.erased), "by identity it is done");
    assert!(fs::read_to_string(&file).unwrap().contains("ferret"));
    run.store.set_away(false);
    timeout(3 * BOUND, finished.recv()).await.expect("in time").unwrap();
    assert!(!fs::read_to_string(&file).unwrap().contains("ferret"));
}

#[tokio::test(start_paused = true)]
async fn second_deletion_of_person_joins_first() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::begin(folder.path());
    let foreign = folder.path().join("sessions/discord-7-9.json");
    fs::create_dir_all(foreign.parent().unwrap()).unwrap();
    fs::write(&foreign, "a diary").unwrap();
    let mut finished = run.handles.privacy.finished();
    // The second one comes from an opt-out, in one session; another person requests the last one.
    let from = ForgetFrom {
        owner: Owner::Guild(GUILD),
        session: Some(SessionId("discord-7-9".to_owned())),
    };
    for deletion in [
        asked(2_000),
        Deletion { from, ..asked(3_000) },
        asked(4_000),
        Deletion { asker: "8".to_owned(), ..asked(5_000) },
    ] {
        run.handles.privacy.clone().forget(deletion).await.unwrap_err();
    }
    assert_eq!(run.recorded().await, (2, 0));
    fs::remove_file(foreign).unwrap();
    for asker in ["8", "9"] {
        let done = timeout(3 * BOUND, finished.recv()).await.expect("in time").unwrap();
        assert_eq!(done.asker, PersonId(asker.to_owned()));
    }
    sleep(Duration::from_secs(600)).await;
    assert!(finished.try_recv().is_err(), "nobody is notified twice");
    assert_eq!(run.recorded().await, (0, 0));
}

#[tokio::test(start_paused = true)]
async fn deletion_waits_for_session_of_other_program() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::begin(folder.path());
    let file = keep(folder.path(), "ferret");
    let calls = file.with_extension("calls.jsonl");
    fs::write(&calls, "{\"speaker\": \"Anna\", \"speaker_id\": \"1\"}\n").unwrap();
    let mut other = KeptSession::open(folder.path(), "discord-7-99", &scope()).unwrap();
    let hold = other.hold().unwrap();
    let words = || fs::read_to_string(&file).unwrap() + &fs::read_to_string(&calls).unwrap();
    let before = words();
    let from = asked(0).from;
    let played = played_elsewhere(folder.path(), &from, None).unwrap();
    assert_eq!(played.as_deref(), Some("discord-7-99"));
    let mut finished = run.handles.privacy.finished();
    let refused = run.handles.privacy.clone().forget(asked(now())).await.unwrap_err();
    assert!(matches!(refused, PrivacyError::Kept(_)), "{refused}");
    assert_eq!(words(), before, "the other program has both open");
    drop(hold);
    timeout(3 * BOUND, finished.recv()).await.expect("in time").unwrap();
    assert!(!words().contains("ferret") && !words().contains("Anna"), "{}", words());
    assert_eq!(played_elsewhere(folder.path(), &from, None).unwrap(), None);
}

#[tokio::test]
async fn session_of_another_machine_counts_as_played() {
    let folder = tempfile::tempdir().unwrap();
    let store: &dyn MemoryStore = &Sqlite::open(&folder.path().join("memory.db")).unwrap();
    let running = RunningSession {
        session: "discord-7-99".to_owned(),
        after: None,
        campaign: CampaignKey("c".to_owned()),
        text_channel: 5,
        voice_channel: 6,
        by: 1,
        began: 1_000,
        seen: 1_000,
        panel: None,
        told: [].into(),
        told_of: [].into(),
        is_listened_to: false,
        answering: None,
        tries: 0,
    };
    let mut settings = GuildSettings::default();
    settings.running = Some(running);
    let record = GuildRecord { revision: 1, text: settings.text().unwrap() };
    store.put_guild(GUILD, record).await.unwrap();
    let played = async |owner| played_by_node(store, owner).await.unwrap();
    assert_eq!(played(Owner::Guild(GUILD)).await, None, "it has ended, or waits to go on");
    let [name, run, build] = ["cellar", "1f", "0.1.0"].map(str::to_owned);
    let node = Node { name, run, build, shards: 2, tables: 1, ..Node::default() };
    store.renew(node, BOUND, true).await.unwrap();
    assert_eq!(played(Owner::Guild(GUILD)).await.as_deref(), Some("discord-7-99"));
    assert_eq!(played(Owner::Guild(9)).await, None);
    assert_eq!(played(Owner::Local).await, None);
}

#[tokio::test(start_paused = true)]
async fn part_of_killed_save_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::begin(folder.path());
    let part = keep(folder.path(), "ferret").with_extension("json.0.part");
    // No process has this number.
    fs::write(&part, "my ferret").unwrap();
    run.handles.privacy.clone().forget(asked(now())).await.unwrap();
    assert!(!part.exists());
    // The next start removes every part, whatever it holds.
    fs::write(&part, "an owl").unwrap();
    run.handles.privacy.resume();
    let is_gone = async {
        while part.exists() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(BOUND, is_gone).await.expect("in time");
}

#[tokio::test]
async fn spilled_words_of_deleted_person_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::begin(folder.path());
    run.store.set_away(true);
    let transcripts = run.handles.sessions.transcripts().clone();
    let of = Transcript { scope: scope(), session: SessionId("s".to_owned()) };
    for (speaker, heard) in [(1, "my wombat"), (2, "an owl")] {
        let line = TurnLine {
            from: Some(SpeakerId(speaker)),
            understood: heard.to_owned(),
            npc: Some("Bartok".to_owned()),
            reply: format!("I know of {heard}"),
            outcome: Outcome::Spoken,
            ..TurnLine::without_speech(speaker, "somebody", String::new())
        };
        transcripts.line(&of, &line);
    }
    transcripts.settled(BOUND).await;
    let spilled = || fs::read_to_string(folder.path().join("waiting.0.jsonl")).unwrap();
    assert!(spilled().contains("wombat"));
    run.handles.privacy.clone().forget(asked(now() + 1_000)).await.unwrap_err();
    transcripts.settled(BOUND).await;
    assert!(spilled().contains("owl") && !spilled().contains("wombat"), "{}", spilled());
    assert_eq!(transcripts.backlog().count().waiting, 2);
    run.end().await;

    let run = Run::begin(folder.path());
    run.resume().await;
    assert_eq!(run.lines().await, ["an owl", "I know of an owl"]);
}
