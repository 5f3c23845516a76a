//! Runs at a scripted table, in paused time.

mod hostile;

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
    future::{BoxFuture, pending, ready},
};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, timeout},
};

use super::{
    Origin, RunsSlot, WantedRun, WorkflowParts, WorkflowRuns, offered_workflows,
    started::{EndedRun, RunError, StartedRun},
};
use crate::{
    campaign::{Accounts, Dice, LinkParts, Settings, TableLink, stand_in},
    domain::{CampaignKey, Npc, Owner, PersonId, Scope, SessionId, Tier},
    engine::tests::props::{self, Step::Call, Step::Text, count, ms},
    logic::workflow::{
        Audience, JsonTemplate, OnError, Step, StepKind, Template, Workflow, Workflows,
        event::RUNS_MAX,
        record::{CancelReason, Outcome, RunEnd, Starter},
    },
    memory::{Automation, Claim, Error, KeptRun, KeptSchedule, StoreFuture},
    session::{
        Command, Speaker, TableEvent,
        tests::stage::{DM, Setup, Stage, THORIN},
    },
    tools::{ApprovalRequest, Attachment, Decision, Effects, SourceKind, Taint, builtin::Music},
};

/// Longest run of these tests, in the table's time.
const BOUND: Duration = Duration::from_secs(120);

#[derive(Default)]
struct Kept {
    runs: Mutex<Vec<KeptRun>>,
    /// Another process serves the server.
    is_fenced: AtomicBool,
    /// It does not answer before `gives_up`.
    hangs: AtomicBool,
    gives_up: Notify,
}

impl Kept {
    fn all(&self) -> Vec<KeptRun> {
        self.runs.lock().unwrap().clone()
    }
}

fn done<T: Send + 'static>(value: T) -> BoxFuture<'static, Result<T, crate::memory::Error>> {
    ready(Ok(value)).boxed()
}

impl Automation for Kept {
    fn keep_run<'a>(&'a self, _: &'a Scope, run: KeptRun) -> StoreFuture<'a, ()> {
        if self.is_fenced.load(Ordering::SeqCst) {
            return ready(Err(Error::Fenced(5))).boxed();
        }
        if self.hangs.load(Ordering::SeqCst) {
            let late = async {
                self.gives_up.notified().await;
                Err(Error::Away("no answer".to_owned()))
            };
            return late.boxed();
        }
        let mut all = self.runs.lock().unwrap();
        all.retain(|it| it.id != run.id);
        all.insert(0, run);
        done(())
    }

    fn runs<'a>(&'a self, _: &'a Scope, _: usize) -> StoreFuture<'a, Vec<KeptRun>> {
        done(self.all())
    }

    fn add_schedule<'a>(&'a self, _: &'a Scope, _: KeptSchedule) -> StoreFuture<'a, ()> {
        done(())
    }

    fn schedules<'a>(&'a self, _: &'a Scope) -> StoreFuture<'a, Vec<KeptSchedule>> {
        done(Vec::new())
    }

    fn due_schedules<'a>(
        &'a self,
        _: &'a Scope,
        _: i64,
        _: bool,
    ) -> StoreFuture<'a, Vec<KeptSchedule>> {
        done(Vec::new())
    }

    fn remove_schedule<'a>(&'a self, _: &'a Scope, _: &'a str) -> StoreFuture<'a, bool> {
        done(false)
    }

    fn claim_schedule<'a>(&'a self, _: &'a Scope, _: Claim<'a>) -> StoreFuture<'a, bool> {
        done(false)
    }
}

#[derive(Default)]
struct Shown(Mutex<Vec<String>>);

impl Effects for Shown {
    fn show(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }

    fn attach(&self, tool: &str, _: &Attachment) -> bool {
        self.show(&format!("attached {tool}"));
        true
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        None
    }

    /// Never decides.
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        self.show(&format!("asked {}", request.tool));
        pending().boxed()
    }

    fn tell_dm(&self, text: &str) {
        self.show(text);
    }
}

/// A table, and the workflows that use it.
struct Evening {
    stage: Stage,
    runs: WorkflowRuns,
    scope: Scope,
    kept: Arc<Kept>,
    shown: Arc<Shown>,
}

fn scope() -> Scope {
    Scope::local(CampaignKey("default".to_owned()))
}

fn service(stage: &Stage, all: Vec<Workflow>, kept: &Arc<Kept>) -> WorkflowRuns {
    WorkflowRuns::new(parts(stage, all, kept))
}

fn parts(stage: &Stage, all: Vec<Workflow>, kept: &Arc<Kept>) -> WorkflowParts {
    let settings = Settings {
        workflows: Arc::new(Workflows::new(all)),
        ..stand_in::settings(Path::new("nowhere"))
    };
    WorkflowParts {
        settings: Arc::new(ArcSwap::from_pointee(settings)),
        accounts: Accounts::new(None),
        tools: stage.host.clone(),
        music: Music::new(Arc::default(), StdRng::seed_from_u64(1)),
        dice: Dice::new(1),
        guilds: None,
        store: Some(Arc::clone(kept) as Arc<dyn Automation>),
    }
}

impl Evening {
    /// Spoken lines, without those that are only prepared.
    fn said(&self) -> Vec<String> {
        let mut said = self.stage.voice.said();
        said.retain(|it| it != "Let me think.");
        said
    }

    /// A table of Bartok and Gundren.
    async fn new(all: Vec<Workflow>) -> Self {
        Self::of(Setup::of(&["Bartok", "Gundren"]), all).await
    }

    async fn of(setup: Setup, all: Vec<Workflow>) -> Self {
        let (stage, kept) = (setup.open().await, Arc::<Kept>::default());
        let (runs, shown) = (service(&stage, all, &kept), Arc::<Shown>::default());
        let evening = Self { stage, runs, scope: scope(), kept, shown };
        evening.runs.opened(&evening.scope, evening.link()).await;
        evening
    }

    fn link(&self) -> TableLink {
        let parts = LinkParts {
            session: SessionId("test".to_owned()),
            events: self.stage.teller.clone(),
            effects: Arc::clone(&self.shown) as Arc<dyn Effects>,
            halts: Arc::clone(&self.stage.halts),
            budget: self.stage.budget.clone(),
        };
        TableLink::new(&self.stage.table, parts)
    }

    async fn start(&self, inputs: Value) -> Result<StartedRun, RunError> {
        let wanted = WantedRun {
            scope: self.scope.clone(),
            workflow: "main".to_owned(),
            inputs,
            outside: false,
            origin: Origin {
                starter: Starter::Person(PersonId("Max".to_owned())),
                speaker: Some(Speaker { id: DM, name: "Max".to_owned(), is_dm: true }),
                effects: Arc::clone(&self.shown) as Arc<dyn Effects>,
                decided: None,
                taint: Taint::default(),
            },
        };
        self.runs.start(wanted).await
    }

    async fn run(&self) -> EndedRun {
        let started = self.start(json!({})).await.expect("it starts");
        ended(started).await
    }

    fn shown(&self) -> Vec<String> {
        self.shown.0.lock().unwrap().clone()
    }

    /// Ends everything; returns what is stored.
    async fn close(self) -> Vec<KeptRun> {
        self.runs.close().await;
        self.stage.close().await;
        self.kept.all()
    }
}

async fn ended(started: StartedRun) -> EndedRun {
    timeout(BOUND, started.ended).await.expect("it ends").expect("the service runs")
}

fn outcomes(ended: &EndedRun) -> Vec<Outcome> {
    ended.record.steps.iter().map(|step| step.outcome.clone()).collect()
}

/// The reason of the first failed step.
fn failure(ended: &EndedRun) -> String {
    let why = ended.record.steps.iter().find_map(|step| match &step.outcome {
        Outcome::Failed(why) => Some(why.clone()),
        _ => None,
    });
    why.unwrap_or_default()
}

fn text(text: &str) -> Template {
    Template::parse(text).unwrap()
}

fn step(kind: StepKind) -> Step {
    Step { name: None, when: None, on_error: OnError::Stop, kind }
}

fn named(name: &str, kind: StepKind) -> Step {
    Step { name: Some(name.to_owned()), ..step(kind) }
}

fn say(npc: &str, words: &str) -> StepKind {
    StepKind::Say { npc: text(npc), text: text(words) }
}

fn ask(words: &str) -> StepKind {
    StepKind::Ask { npc: text("Bartok"), text: text(words) }
}

fn roll() -> StepKind {
    StepKind::Roll(text("2d6"))
}

fn call(tool: &str, npc: Option<&str>) -> StepKind {
    let arguments = JsonTemplate::parse(&json!({ "expression": "1d6" })).unwrap();
    StepKind::Tool { identity: tool.to_owned(), npc: npc.map(text), arguments }
}

const fn wait(seconds: u64) -> StepKind {
    StepKind::Wait(Duration::from_secs(seconds))
}

fn workflow(name: &str, steps: Vec<Step>) -> Workflow {
    let inputs = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
    let description = "Rings the bells.".to_owned();
    Workflow { name: name.to_owned(), description, inputs, offer: name == "bells", steps }
}

fn main_of(kinds: Vec<StepKind>) -> Vec<Workflow> {
    vec![workflow("main", kinds.into_iter().map(step).collect())]
}

#[tokio::test(start_paused = true)]
async fn steps_are_done_in_order_and_recorded() {
    let evening = Evening::new(vec![workflow(
        "main",
        vec![
            named("luck", roll()),
            step(say("Bartok", "You rolled ${steps.luck.total}.")),
            named("seen", call("stub.look", Some("Bartok"))),
            step(StepKind::Mute(text("Gundren"))),
            step(StepKind::Silence { at_most: None }),
            step(StepKind::Notify { to: Audience::Players, text: text("${steps.seen.total}") }),
            named("answer", ask("Well?")),
        ],
    )])
    .await;
    let ended = evening.run().await;
    assert_eq!(ended.record.end, Some(RunEnd::Done), "{ended:?}");
    let results = ended.result.expect("results").value;
    assert_eq!(results["luck"]["total"], 11);
    assert_eq!(
        (&results["answer"], &results["seen"]),
        (&json!("Well met."), &json!({"total": 11}))
    );
    let said = evening.said();
    assert_eq!(said, ["You rolled eleven.", "Well met."]);
    assert_eq!(evening.shown().last().map(String::as_str), Some("11"));
    let stored = evening.close().await;
    let [run] = stored.as_slice() else { panic!("{stored:?}") };
    assert!(run.ended.is_some() && run.record.contains("\"answer\""), "{run:?}");
}

#[tokio::test(start_paused = true)]
async fn starter_learns_of_each_step() {
    let evening = Evening::new(main_of(vec![roll(), wait(1)])).await;
    let mut started = evening.start(json!({})).await.expect("it starts");
    let mut steps = Vec::new();
    while let Some(step) = timeout(BOUND, started.steps.recv()).await.expect("it ends") {
        steps.push((step.kind, step.outcome));
    }
    let step = |kind: &str, outcome| (kind.to_owned(), outcome);
    let (running, done) = (Outcome::Running, Outcome::Done);
    assert_eq!(
        steps,
        [
            step("roll", running.clone()),
            step("roll", done.clone()),
            step("wait", running),
            step("wait", done)
        ]
    );
    assert_eq!(ended(started).await.record.end, Some(RunEnd::Done));
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn failing_step_ends_run_unless_continued() {
    let lost = || say("Nobody", "Hello.");
    for (on_error, wanted) in [(OnError::Stop, 1), (OnError::Continue, 2)] {
        let first = Step { on_error, ..step(lost()) };
        let evening = Evening::new(vec![workflow("main", vec![first, step(roll())])]).await;
        let ended = evening.run().await;
        assert_eq!(ended.record.steps.len(), wanted, "{ended:?}");
        assert!(failure(&ended).contains("unknown npc 'Nobody'"), "{ended:?}");
        assert_eq!(ended.record.end == Some(RunEnd::Done), on_error == OnError::Continue);
        evening.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_run_sounds_after_an_x_card() {
    let lines = ["One.", "Two.", "Three."].map(|line| say("Bartok", line));
    let evening = Evening::new(main_of(lines.into())).await;
    let started = evening.start(json!({})).await.expect("it starts");
    evening.stage.until_heard().await;
    evening.stage.order(Command::Halt).await;
    let at = evening.stage.opened.elapsed();
    let ended = ended(started).await;
    assert_eq!(ended.record.end, Some(RunEnd::Cancelled(CancelReason::XCard)));
    sleep(ms(5_000)).await;
    assert_eq!(evening.said(), ["One."]);
    let last = evening.stage.heard("Bartok").expect("he spoke").last;
    assert!(last <= at + ms(20), "{last:?} after {at:?}");
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn stopping_takes_no_time_in_any_step() {
    let kinds = [
        wait(60),
        say("Bartok", "A long line."),
        ask("Well?"),
        call("stub.long", Some("Bartok")),
        StepKind::Parallel(vec![step(wait(60)), step(say("Gundren", "Hm."))]),
    ];
    for kind in kinds {
        let evening = Evening::new(main_of(vec![kind.clone(), roll()])).await;
        let started = evening.start(json!({})).await.expect("it starts");
        sleep(ms(300)).await;
        let before = Instant::now();
        let stopped = evening.runs.stop(&evening.scope, Some("main")).await;
        let ended = ended(started).await;
        assert!(before.elapsed() < ms(100), "{kind:?}");
        assert_eq!(stopped.len(), 1);
        assert_eq!(ended.record.end, Some(RunEnd::Cancelled(CancelReason::Requested)), "{kind:?}");
        assert!(outcomes(&ended).iter().all(|it| *it == Outcome::Cancelled), "{ended:?}");
        assert_eq!(count(&evening.stage.tools.long), 0, "the call was taken back");
        evening.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn tool_needs_whitelist_of_its_npc() {
    for (npc, wanted) in [(None, "Assistant may not use"), (Some("Bartok"), "")] {
        let evening = Evening::new(main_of(vec![call("stub.look", npc)])).await;
        let ended = evening.run().await;
        let why = failure(&ended);
        assert!(why.contains(wanted) && why.is_empty() == npc.is_some(), "{why}");
        evening.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn steps_without_a_session_are_missed() {
    let stage = Setup::of(&["Bartok"]).open().await;
    let kept = Arc::<Kept>::default();
    let runs = service(&stage, main_of(vec![say("Bartok", "Hello."), roll()]), &kept);
    let shown = Arc::<Shown>::default();
    let evening = Evening { stage, runs, scope: scope(), kept, shown };
    let ended = evening.run().await;
    let missed = Outcome::Missed("no play session".to_owned());
    assert_eq!(outcomes(&ended), [missed, Outcome::Done]);
    assert!(evening.shown().last().is_some_and(|line| line.contains("had no play session")));
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn ninth_run_and_unfit_inputs_are_refused() {
    let evening = Evening::new(main_of(vec![wait(60)])).await;
    let unfit = evening.start(json!({ "count": "many" })).await;
    assert!(matches!(unfit, Err(RunError::Inputs { .. })), "{unfit:?}");
    let mut all = Vec::new();
    for _ in 0..RUNS_MAX {
        all.push(evening.start(json!({ "count": 2 })).await.expect("it starts"));
    }
    let refused = evening.start(json!({})).await;
    assert!(matches!(refused, Err(RunError::Refused(_))), "{refused:?}");
    evening.runs.withdraw(Owner::Local, &PersonId("Max".to_owned())).await;
    for started in all {
        let end = ended(started).await.record.end;
        assert_eq!(end, Some(RunEnd::Cancelled(CancelReason::Withdrawn)));
    }
    let stored = evening.close().await;
    assert!(stored.iter().all(|run| !run.record.contains("Max")), "{stored:?}");
}

#[tokio::test(start_paused = true)]
async fn run_that_was_cut_off_is_reported_once() {
    let mut evening = Evening::new(main_of(vec![wait(60)])).await;
    let cut = KeptRun {
        id: "a".to_owned(),
        workflow: "main".to_owned(),
        began: 0,
        ended: None,
        record: "{}".to_owned(),
    };
    evening.runs.idle(&evening.scope).await;
    evening.kept.runs.lock().unwrap().push(cut);
    for (wanted, is_fenced) in [(0, true), (1, false), (0, false)] {
        evening.kept.is_fenced.store(is_fenced, Ordering::SeqCst);
        // The program starts again.
        let again = service(&evening.stage, main_of(vec![wait(60)]), &evening.kept);
        again.opened(&evening.scope, evening.link()).await;
        again.idle(&evening.scope).await;
        let told = evening.stage.events().into_iter().filter(
            |event| matches!(event, TableEvent::Private(text) if text.contains("was cut off")),
        );
        assert_eq!(told.count(), wanted);
        again.close().await;
    }
    assert_eq!(evening.kept.all().len(), 1, "it is not run again");
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn abandoned_runs_end_without_a_word() {
    let evening = Evening::new(main_of(vec![wait(60), roll()])).await;
    let started = evening.start(json!({})).await.expect("it starts");
    evening.runs.stored(&evening.scope, 1).await.expect("its start is stored");
    evening.runs.abandon(Owner::Guild(5));
    assert_eq!(evening.runs.running(&evening.scope).len(), 1, "it is another's");
    evening.runs.abandon(evening.scope.owner);
    assert!(timeout(BOUND, started.ended).await.expect("it ends").is_err());
    assert_eq!(evening.shown(), [""; 0]);
    let stored = evening.close().await;
    assert!(matches!(stored.as_slice(), [run] if run.ended.is_none()), "{stored:?}");
}

#[tokio::test(start_paused = true)]
async fn ended_runs_are_recorded_first() {
    let evening = Evening::new(main_of(vec![wait(60), roll()])).await;
    let started = evening.start(json!({})).await.expect("it starts");
    evening.runs.end(evening.scope.owner).await;
    let stored = evening.kept.all();
    assert!(matches!(stored.as_slice(), [run] if run.ended.is_some()), "{stored:?}");
    let end = ended(started).await.record.end;
    assert_eq!(end, Some(RunEnd::Cancelled(CancelReason::Shutdown)));
    evening.runs.end(evening.scope.owner).await;
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn runs_that_are_ending_can_be_abandoned() {
    let evening = Evening::new(main_of(vec![wait(60), roll()])).await;
    let started = evening.start(json!({})).await.expect("it starts");
    evening.runs.stored(&evening.scope, 1).await.expect("its start is stored");
    evening.kept.hangs.store(true, Ordering::SeqCst);
    let owner = evening.scope.owner;
    assert!(timeout(ms(1_000), evening.runs.end(owner)).await.is_err(), "it cannot be recorded");
    evening.runs.abandon(owner);
    timeout(BOUND, evening.runs.close()).await.expect("nothing waits for the record");
    evening.kept.gives_up.notify_waiters();
    let stored = evening.close().await;
    assert!(matches!(stored.as_slice(), [run] if run.ended.is_none()), "{stored:?}");
    drop(started);
}

#[tokio::test(start_paused = true)]
async fn offered_workflow_is_a_tool_within_its_tier() {
    let npc = props::npc("Bartok");
    let tools = [npc.tools.clone(), vec!["workflow.bells".to_owned()]].concat();
    let npcs = vec![Npc { tools, ..npc }, props::npc("Gundren")];
    let bells = workflow("bells", vec![named("luck", roll()), step(wait(1))]);
    let setup = Setup { npcs, ..Setup::of(&[]) };
    let mut evening = Evening::of(setup, vec![bells.clone(), workflow("hidden", Vec::new())]).await;
    let (slot, host) = (RunsSlot::default(), evening.stage.host.clone());
    slot.fill(&evening.runs);
    let all = Workflows::new([bells]);
    let tools = offered_workflows(&all, &host.snapshot(), &slot);
    assert_eq!(host.offer("workflow", SourceKind::BuiltIn, tools), []);
    let seen = |npc: &str, tier: Tier| {
        let visible = host.visible(npc, tier, tier.ceiling());
        visible.iter().any(|entry| &*entry.tool.identity == "workflow.bells")
    };
    assert!(seen("Bartok", Tier::Deep) && !seen("Bartok", Tier::Fast));
    assert!(!seen("Gundren", Tier::Deep), "it does not list it");
    let name = host.snapshot().find("workflow.bells").expect("it is there").spec.name.to_string();
    evening.stage.models[0].then(&[Call(name.leak(), "{}")]).then(&[Text("They ring.")]);
    let deep = Command::SetTier { seat: None, tier: Some(Tier::Deep), until: None };
    evening.stage.order(deep).await;
    evening.stage.types(THORIN, "Bartok, ring the bells").await;
    evening.stage.settle().await;
    let lines = evening.stage.lines();
    let calls: Vec<_> = lines.iter().flat_map(|line| &line.tools).collect();
    let [call] = calls.as_slice() else { panic!("{lines:#?}") };
    assert!(call.ok && call.result["results"]["luck"]["total"].is_i64(), "{call:?}");
    assert_eq!(call.result["steps"].as_array().map(Vec::len), Some(2));
    evening.close().await;
}
