//! Schedules over the store, with paused time.

mod at_table;

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use futures::{
    FutureExt,
    future::{BoxFuture, join_all, pending, ready},
};
use serde_json::json;
use tempfile::TempDir;
use tokio::{sync::broadcast::Receiver, task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    starts::{NotStarted, Start, Starts},
    *,
};
use crate::{
    campaign::{clock::paused, settings::ScheduleOptions, settings::Settings, stand_in},
    domain::{CampaignKey, Owner, PersonId, Scope},
    logic::{
        schedule::Planned,
        workflow::{Workflow, Workflows},
    },
    memory::{Automation as _, KeptSchedule, Sqlite},
};

const MINUTE: Duration = Duration::from_secs(60);
/// An evening in 2026.
const EVENING: i64 = 1_795_800_000_000;

/// Records what is started.
#[derive(Clone, Default)]
struct Started(Arc<Mutex<Vec<String>>>);

impl Starts for Started {
    fn start(&self, start: Start) -> BoxFuture<'static, Result<(), NotStarted>> {
        let Start { workflow, inputs, outside, .. } = start;
        let outside = if outside { " from outside" } else { "" };
        self.0.lock().unwrap().push(format!("{workflow} {inputs}{outside}"));
        ready(Ok(())).boxed()
    }
}

impl Started {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

fn guild() -> Scope {
    Scope { owner: Owner::Guild(7), campaign: CampaignKey("saltmarsh".to_owned()) }
}

/// A program over the store in a folder.
struct Program {
    schedules: Schedules,
    evenings: Evenings,
    started: Started,
    notices: Receiver<ScheduleNotice>,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Program {
    fn open(folder: &Path, catch_up: bool) -> Self {
        let bells = Workflow {
            name: "bells".to_owned(),
            description: "The bells ring".to_owned(),
            inputs: json!({}),
            offer: false,
            steps: Vec::new(),
        };
        let settings = Settings {
            workflows: Arc::new(Workflows::new([bells])),
            schedules: ScheduleOptions { zone: jiff::tz::TimeZone::UTC, catch_up },
            ..stand_in::settings(folder)
        };
        let (evenings, started) = (Evenings::default(), Started::default());
        let schedules = Schedules::new(SchedulesParts {
            settings: Arc::new(ArcSwap::from_pointee(settings)),
            store: Arc::new(Sqlite::open(&folder.join("memory.db")).unwrap()),
            evenings: evenings.clone(),
        });
        let (notices, stop) = (schedules.notices(), CancellationToken::new());
        Self { schedules, evenings, started, notices, stop, task: None }
    }

    /// Fires what is due from now on.
    fn begin(mut self) -> Self {
        let starts = Arc::new(self.started.clone());
        let run = self.schedules.clone().run(Drives::Only(guild()), starts, self.stop.clone());
        self.task = Some(tokio::spawn(run));
        self
    }

    async fn end(self) {
        self.stop.cancel();
        if let Some(task) = self.task {
            task.await.unwrap();
        }
    }

    fn planner(&self) -> Planner {
        self.schedules.within(guild())
    }

    async fn bells(&self, when: &str) -> String {
        self.plan(when, bells()).await.unwrap()
    }

    /// Makes a schedule; its id, or the refusal.
    async fn plan(&self, when: &str, action: Planned) -> Result<String, String> {
        self.plan_by(PersonId("11".to_owned()), when, action).await
    }

    async fn plan_by(
        &self,
        maker: PersonId,
        when: &str,
        action: Planned,
    ) -> Result<String, String> {
        let new = NewSchedule { when: when.to_owned(), action, by: Some(maker) };
        let made = self.planner().create(new).await;
        made.map(|entry| entry.id).map_err(|error| error.to_string())
    }

    async fn left(&self) -> usize {
        self.planner().list().await.unwrap().len()
    }
}

/// A program at [`EVENING`] that fires nothing yet, and the folder of its store.
fn opened() -> (TempDir, Program) {
    paused::begin(EVENING);
    let folder = tempfile::tempdir().unwrap();
    let program = Program::open(folder.path(), false);
    (folder, program)
}

/// Like [`opened`], but fires what is due.
fn begun() -> (TempDir, Program) {
    let (folder, program) = opened();
    (folder, program.begin())
}

fn bells() -> Planned {
    Planned::Workflow { name: "bells".to_owned(), inputs: json!({"times": 3}) }
}

fn line(npc: &str, text: &str) -> Planned {
    Planned::Line { npc: npc.to_owned(), text: text.to_owned() }
}

const RUNG: &str = "bells {\"times\":3}";

#[tokio::test(start_paused = true)]
async fn workflow_planned_by_a_program_is_tainted() {
    let (folder, program) = begun();
    program.plan_by(by_program("a1b2c3d4"), "in 5m", bells()).await.unwrap();
    program.bells("in 90m").await;
    let store = Sqlite::open(&folder.path().join("memory.db")).unwrap();
    for (token, made) in [("a1b2c3d4", 1), ("0badcafe", 0)] {
        assert_eq!(schedules_of_program(&store, token).await.unwrap(), made);
    }
    sleep(6 * MINUTE).await;
    assert_eq!(program.started.all(), [format!("{RUNG} from outside")]);
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn planned_workflow_fires_once_at_its_time() {
    let (_folder, program) = begun();
    program.bells("in 90m").await;
    sleep(89 * MINUTE).await;
    assert!(program.started.all().is_empty());
    sleep(2 * MINUTE).await;
    assert_eq!(program.started.all(), [RUNG]);
    sleep(100 * MINUTE).await;
    assert_eq!((program.started.all().len(), program.left().await), (1, 0));
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn schedule_survives_the_end_of_the_program() {
    paused::begin(EVENING);
    let folder = tempfile::tempdir().unwrap();
    // It never began its task: as good as killed.
    drop({
        let killed = Program::open(folder.path(), false);
        killed.bells("in 30m").await;
        killed
    });
    sleep(10 * MINUTE).await;
    let program = Program::open(folder.path(), false).begin();
    sleep(19 * MINUTE).await;
    assert!(program.started.all().is_empty());
    sleep(2 * MINUTE).await;
    assert_eq!(program.started.all(), [RUNG]);
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn two_programs_fire_each_time_once() {
    let (folder, one) = begun();
    let other = Program::open(folder.path(), false).begin();
    one.bells("every 15m").await;
    sleep(61 * MINUTE).await;
    assert_eq!(one.started.all().len() + other.started.all().len(), 4);
    one.end().await;
    other.end().await;
}

#[tokio::test(start_paused = true)]
async fn missed_time_is_told_and_not_made_up_for() {
    paused::begin(EVENING);
    let folder = tempfile::tempdir().unwrap();
    Program::open(folder.path(), false).bells("in 10m").await;
    sleep(60 * MINUTE).await;
    let mut program = Program::open(folder.path(), false).begin();
    let notice = program.notices.recv().await.unwrap();
    assert_eq!(notice.scope, guild());
    assert!(notice.text.contains("missed (workflow bells, due 2026-11-"), "{}", notice.text);
    sleep(60 * MINUTE).await;
    assert!(program.started.all().is_empty() && program.left().await == 0);
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn missed_time_is_made_up_for_if_wanted() {
    paused::begin(EVENING);
    let folder = tempfile::tempdir().unwrap();
    Program::open(folder.path(), true).bells("every 15m").await;
    sleep(65 * MINUTE).await;
    let program = Program::open(folder.path(), true).begin();
    sleep(5 * MINUTE).await;
    assert_eq!(program.started.all(), [RUNG], "one of the four that were missed");
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn clock_set_back_repeats_nothing() {
    let (_folder, program) = begun();
    program.bells("every 15m").await;
    sleep(16 * MINUTE).await;
    assert_eq!(program.started.all().len(), 1);
    paused::begin(EVENING - 60 * 60_000);
    sleep(70 * MINUTE).await;
    assert_eq!(program.started.all().len(), 1);
    sleep(21 * MINUTE).await;
    assert_eq!(program.started.all().len(), 2);
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn cancelled_schedule_never_fires() {
    let (_folder, program) = begun();
    let id = program.bells("in 5m").await;
    let known = program.planner().known();
    assert!(known.iter().all(|line| line.starts_with(&id)), "{known:?}");
    assert_eq!(program.planner().cancel(&known.concat()).await.unwrap(), id);
    sleep(10 * MINUTE).await;
    assert!(program.started.all().is_empty());
    let gone = program.planner().cancel(&id).await.unwrap_err().to_string();
    assert_eq!(gone, format!("unknown schedule '{id}' (list shows them)"));
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn wrong_schedules_are_refused_with_a_way_out() {
    let (_folder, program) = opened();
    let unknown = Planned::Workflow { name: "belfry".to_owned(), inputs: json!({}) };
    let wrong = Planned::Workflow { name: "bells".to_owned(), inputs: json!([1]) };
    for (action, why) in [
        (unknown, "unknown workflow 'belfry' (known: bells)"),
        (wrong, "invalid inputs (use a JSON object"),
        (line("Nemo", "Hello."), "unknown npc 'Nemo' (known: Bartok)"),
        (line("Bartok", " "), "the line is empty"),
    ] {
        let refused = program.plan("in 5m", action).await.unwrap_err();
        assert!(refused.starts_with(why), "{refused}");
    }
    assert!(program.plan("every 30s", line("Bartok", "Hello.")).await.is_err());
    assert_eq!(program.left().await, 0);
}

/// Begins no run, however long it takes.
struct Stuck;

impl Starts for Stuck {
    fn start(&self, _: Start) -> BoxFuture<'static, Result<(), NotStarted>> {
        pending().boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn schedule_cut_off_as_it_began_is_told() {
    let (folder, killed) = opened();
    killed.bells("in 5m").await;
    killed.bells("every 15m").await;
    let schedules = killed.schedules.clone();
    let task =
        tokio::spawn(schedules.run(Drives::Only(guild()), Arc::new(Stuck), killed.stop.clone()));
    sleep(16 * MINUTE).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    let mut program = Program::open(folder.path(), false).begin();
    for _ in 0..2 {
        let notice = program.notices.recv().await.unwrap().text;
        assert!(notice.contains("cut off as it began (workflow bells, due 2026-11-"), "{notice}");
    }
    assert!(program.started.all().is_empty());
    sleep(15 * MINUTE).await;
    assert_eq!(program.started.all(), [RUNG], "the repeated one fires at its next time");
    assert_eq!(program.left().await, 1);
    program.end().await;
}

/// From [`EVENING`] to 20:00 in UTC, in ms.
const LEFT: i64 = 2 * 60 * 60_000 + 40 * 60_000;

#[tokio::test(start_paused = true)]
async fn daily_workflow_fires_once_each_day() {
    let (_folder, program) = begun();
    program.bells("every day at 20:00").await;
    let list = program.planner().known().concat();
    assert!(list.contains("every day at 20:00, next 2026-11-"), "{list}");
    // Short of 20:00 on that day and the next.
    for day in 0..2 {
        paused::begin(EVENING + day * 24 * 60 * 60_000 + LEFT - 60_000);
        sleep(3 * MINUTE).await;
    }
    assert_eq!(program.started.all(), [RUNG, RUNG]);
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn server_without_the_bot_fires_nothing() {
    let (_folder, mut program) = opened();
    program.bells("in 5m").await;
    let is_here = Arc::new(AtomicBool::new(false));
    let (serves, starts) = (Arc::clone(&is_here), Arc::new(program.started.clone()));
    let drives = Drives::Guilds(Box::new(move |_| serves.load(Ordering::SeqCst)));
    let run = program.schedules.clone().run(drives, starts, program.stop.clone());
    program.task = Some(tokio::spawn(run));
    sleep(10 * MINUTE).await;
    assert_eq!((program.started.all().len(), program.left().await), (0, 1));
    is_here.store(true, Ordering::SeqCst);
    let notice = program.notices.recv().await.unwrap().text;
    assert!(notice.contains("missed (workflow bells"), "{notice}");
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn schedules_of_a_campaign_are_limited() {
    let (folder, program) = opened();
    program.bells("every 1h").await;
    let (store, scope) = (Sqlite::open(&folder.path().join("memory.db")).unwrap(), guild());
    let first = store.schedules(&scope).await.unwrap().remove(0);
    let copy = |number: usize| KeptSchedule { id: format!("copy{number}"), ..first.clone() };
    let copies: Vec<KeptSchedule> = (1..1_000).map(copy).collect();
    for some in copies.chunks(100) {
        let added = some.iter().map(|it| store.add_schedule(&scope, it.clone()));
        join_all(added).await.into_iter().for_each(|added| added.unwrap());
    }
    let refused = program.plan("in 5m", line("Bartok", "Hello.")).await.unwrap_err();
    assert!(refused.starts_with("too many schedules (up to 1000"), "{refused}");
    assert_eq!(program.left().await, 1_000);
}

#[tokio::test(start_paused = true)]
async fn another_server_sees_no_schedule() {
    let (_folder, program) = opened();
    let id = program.bells("every 1h").await;
    let other = program.schedules.within(Scope { owner: Owner::Guild(8), ..guild() });
    assert!(other.list().await.unwrap().is_empty() && other.known().is_empty());
    assert!(other.cancel(&id).await.is_err());
    assert_eq!(program.left().await, 1);
}
