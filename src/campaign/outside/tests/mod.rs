//! Programs outside at a scripted table, in paused time.

mod asking;
mod blocked;
mod listening;
mod sound;
mod speaking;

use std::{path::Path, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};
use tempfile::TempDir;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{ListenFor, ListenUntil, OutsideError, OutsideSpoken, WantedLine, lines::OutsideLine};
use crate::{
    campaign::{
        AddedServer, Factory, Handles, MadeTable, OpenError, RunningTable, ServerError, Sessions,
        TableRequest,
        link::TableLink,
        stand_in::{self, NoEngines, Nowhere},
        stand_in_handles,
    },
    domain::{Campaign, CampaignKey, Npc, Owner, Scope, SessionId},
    engine::{
        Budget, Synthesizer,
        tests::props::{self, Model, NoEffects, Tools, ms},
    },
    logic::budget::Ledger,
    provider::{Error, SttAbilities},
    session::{
        Command, EventReader, MusicPlayer, Outcome, Outlets, Pace, Speaker, SpeakerId, TableEvent,
        TableEvents, TurnLine, VoiceOut, open,
        tests::{
            parts::{Shared, recogniser, setup},
            stage::{ELARA, THORIN},
        },
    },
    tools::{CastChanges, ToolHost, connection::ServerOptions},
};

/// Longest wait of these tests, in the table's time.
const BOUND: Duration = Duration::from_secs(120);

/// Makes tables of Bartok and Gundren.
struct Tables {
    npcs: Vec<Arc<Npc>>,
    host: ToolHost,
    model: Arc<Model>,
}

impl Factory for Tables {
    fn table(&self, wanted: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>> {
        let (budget, campaign) = (Budget::new(Ledger::default()), Campaign::default());
        let voice = props::hum();
        let shared = Shared { campaign: &campaign, host: &self.host, budget: &budget, voice };
        let seat = |npc| shared.seat(npc, Arc::clone(&self.model) as _, Vec::new());
        let seats = self.npcs.iter().map(seat).collect();
        let stt = recogniser(SttAbilities::default());
        let setup = setup(wanted.session, &stt, &self.host, wanted.outlets);
        let (handle, task) = open(setup, shared.parts(seats));
        let settings = stand_in::settings(Path::new("nowhere"));
        let engines = Arc::new(NoEngines(Arc::new(settings.services)));
        let table = RunningTable { handle, task, cannot_hear: None, engines };
        let assistant = Arc::new(ArcSwap::from_pointee(settings.assistant));
        ready(Ok(MadeTable { table, budget, assistant })).boxed()
    }

    fn closed(&self, _: &SessionId) {}

    fn voice(&self, npc: &Arc<Npc>, budget: Budget) -> Result<Synthesizer, Error> {
        Ok(Synthesizer::new(Arc::clone(npc), props::hum(), budget, &[]))
    }

    fn server(&self, _: &str, _: &AddedServer) -> Result<ServerOptions, ServerError> {
        Err(ServerError::TooNear)
    }
}

/// The services without a table.
struct Program {
    handles: Handles,
    model: Arc<Model>,
    _folder: TempDir,
}

impl Program {
    fn start() -> Self {
        let npcs: Vec<Arc<Npc>> =
            ["Bartok", "Gundren"].map(|name| Arc::new(props::npc(name))).into();
        let (host, model) = (Tools::default().host(&npcs), Arc::<Model>::default());
        let folder = tempfile::tempdir().unwrap();
        let tables = Tables { npcs, host, model: Arc::clone(&model) };
        let handles = stand_in_handles(folder.path(), Arc::new(tables));
        handles.outside.set_listens(true);
        Self { handles, model, _folder: folder }
    }

    /// The table of `session`, and the task that writes it down.
    async fn opens(
        &self,
        session: &SessionId,
        campaign: &str,
        (out, pace): (Box<dyn VoiceOut>, Pace),
    ) -> (RunningTable, JoinHandle<()>) {
        let events = TableEvents::new(64);
        let written = events.subscribe();
        let wanted = TableRequest {
            session: session.clone(),
            scope: Scope::local(CampaignKey(campaign.to_owned())),
            played: None,
            after: None,
            began: None,
            is_heard: true,
            outlets: Outlets {
                out,
                pace,
                music: MusicPlayer::new(events.downgrade()),
                effects: Arc::new(NoEffects),
                halts: Arc::default(),
                events,
            },
        };
        let sessions = &self.handles.sessions;
        let table = sessions.open(wanted, CastChanges::default()).await.expect("it opens");
        (table, tokio::spawn(sessions.clone().write_down(session.clone(), written)))
    }

    async fn plays(self, out: Box<dyn VoiceOut>, pace: Pace) -> Evening {
        let session = Sessions::name_here();
        let (table, writes) = self.opens(&session, "default", (out, pace)).await;
        let evening = Evening { program: self, session, table, writes };
        for (id, name) in [(THORIN, "Thorin"), (ELARA, "Elara")] {
            let (name, is_dm) = (name.to_owned(), false);
            evening.order(Command::Join(Speaker { id, name, is_dm })).await;
        }
        evening
    }

    /// Ends the table of `session`, whose events `writes` writes down.
    async fn closes(&self, session: &SessionId, table: RunningTable, writes: JoinHandle<()>) {
        table.handle.commands.send(Command::Close).await.expect("the table is open");
        drop(table.handle);
        let kept = timeout(BOUND, table.task).await.expect("it closes").expect("no panic");
        timeout(BOUND, writes).await.expect("it is written").expect("no panic");
        self.handles.sessions.keep(session, Some(kept)).await.expect("it is saved");
    }
}

/// A running table.
struct Evening {
    program: Program,
    session: SessionId,
    table: RunningTable,
    writes: JoinHandle<()>,
}

impl Evening {
    async fn new() -> Self {
        Program::start().plays(Box::new(Nowhere), Pace::RealTime).await
    }

    async fn order(&self, command: Command) {
        self.table.handle.commands.send(command).await.expect("the table is open");
    }

    async fn types(&self, speaker: SpeakerId, text: &str) {
        self.order(Command::Typed { speaker, text: text.to_owned() }).await;
    }

    fn link(&self) -> TableLink {
        self.program.handles.sessions.tables(Owner::Local).remove(0).link
    }

    async fn says(&self, text: &str) -> OutsideSpoken {
        let said = self.program.handles.outside.speak(to_say(text));
        timeout(BOUND, said).await.expect("it ends").expect("it is said")
    }

    async fn listens(&self, until: ListenUntil, seconds: u64) -> Vec<OutsideLine> {
        let wanted = ListenFor { most: Duration::from_secs(seconds), until };
        let lines = self.program.handles.outside.listen(Owner::Local, None, wanted);
        timeout(BOUND, lines).await.expect("it ends").expect("it listens")
    }

    async fn close(self) {
        let Self { program, session, table, writes } = self;
        program.closes(&session, table, writes).await;
        assert!(program.handles.sessions.tables(Owner::Local).is_empty());
        program.handles.workflows.close().await;
    }
}

/// Words for the NPC that speaks by default, at the newest local table.
fn to_say(text: &str) -> WantedLine<'_> {
    WantedLine { owner: Owner::Local, table: None, npc: None, text }
}

/// The next line that `is_it` accepts.
async fn next_line(events: &mut EventReader, is_it: impl Fn(&TurnLine) -> bool) -> Arc<TurnLine> {
    let line = async {
        loop {
            match events.recv().await {
                Some(TableEvent::Line(line)) if is_it(&line) => return line,
                Some(_) => {}
                None => panic!("the table has closed"),
            }
        }
    };
    timeout(BOUND, line).await.expect("it ends")
}

async fn next_outcome(events: &mut EventReader) -> Outcome {
    next_line(events, |_| true).await.outcome
}

fn line(speaker: &str, npc: Option<&str>, text: &str) -> OutsideLine {
    let npc = npc.map(str::to_owned);
    OutsideLine { speaker: speaker.to_owned(), npc, text: text.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn table_of_another_owner_does_not_exist() {
    let evening = Evening::new().await;
    let (outside, table) = (&evening.program.handles.outside, evening.session.0.as_str());
    let other = Owner::Guild(7);
    let hello = WantedLine { owner: other, table: Some(table), ..to_say("Hello.") };
    let named = outside.speak(hello).await;
    assert!(matches!(named, Err(OutsideError::UnknownTable { .. })), "{named:?}");
    let asked = outside.ask(other, None, "Bartok", "Hello.").await;
    assert!(matches!(asked, Err(OutsideError::NoTable(_))), "{asked:?}");
    outside.set_listens(false);
    let wanted = ListenFor { most: ms(1_000), until: ListenUntil::Time };
    let heard = outside.listen(Owner::Local, None, wanted).await;
    assert!(matches!(heard, Err(OutsideError::ListenOff)), "{heard:?}");
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn newest_table_is_meant_unless_one_is_named() {
    let evening = Evening::new().await;
    sleep(ms(10)).await;
    let (first, later) = (&evening.session, SessionId(format!("{}1", evening.session.0)));
    let quiet = (Box::new(Nowhere) as Box<dyn VoiceOut>, Pace::RealTime);
    let (table, writes) = evening.program.opens(&later, "inn", quiet).await;
    let outside = &evening.program.handles.outside;
    let newest = outside.newest(Owner::Local).expect("a table");
    assert_eq!(newest.link.session, later);
    let played = outside.scope(Owner::Local, Some(&newest)).await.expect("settings");
    assert_eq!(played.campaign.0, "inn");
    let named = outside.table(Owner::Local, Some(&first.0)).expect("known").expect("a table");
    assert_eq!(named.link.session, *first);
    assert!(outside.newest(Owner::Guild(7)).is_none());
    evening.program.closes(&later, table, writes).await;
    evening.close().await;
}
