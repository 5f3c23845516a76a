//! One run of the program: its services on a folder, and its table.

use std::{
    path::Path,
    sync::{Arc, Mutex, OnceLock},
};

use arc_swap::ArcSwap;
use futures::{FutureExt, future::BoxFuture};
use tokio::{
    task::JoinHandle,
    time::{Instant, interval, sleep, timeout},
};

use super::{
    super::{BOUND, scope},
    services::{Echo, Face, Voice, Wire, tools},
};
use crate::{
    audio::{Frame, SampleRate},
    campaign::{
        AddedServer, Factory, Handles, Indexed, Indexer, KeptSession, KeptStore, MadeTable,
        OpenError, RunningTable, ServerError, SharedSettings, TableRequest, TranscriptWriter, now,
        stand_in::{NoEngines, Nowhere, handles_over},
    },
    domain::{Campaign, Npc, SessionId},
    engine::{
        Budget, Synthesizer,
        tests::props::{self, Hum, ms},
    },
    logic::budget::Ledger,
    memory::{MemoryStore, Sqlite},
    provider::{Error, SttAbilities},
    session::{
        Command, Conversations, EventReader, Halts, Memory, MusicPlayer, Outlets, Pace, Speaker,
        SpeakerId, TableEvents, TableHandle, TableParts, TableSetup, open,
        tests::{
            parts::{Shared, recogniser, setup},
            stage::voiced,
            voices::{Recogniser, Said, babble},
        },
    },
    tools::{SourceKind, ToolHost, builtin::Meaning, connection::ServerOptions},
};

/// NPCs of the evening; the first one's model has a small window, so that it is summed up.
pub const CAST: [&str; 2] = ["Bartok", "Elda"];
/// Tokens of that window.
const WINDOW: u32 = 1_700;

/// Makes the tables of one run.
struct EveningTables {
    wire: Arc<Wire>,
    parts: OnceLock<Parts>,
    /// Of the table made last.
    stt: Mutex<Arc<Recogniser>>,
}

/// Services of a table.
struct Parts {
    settings: SharedSettings,
    host: ToolHost,
    transcripts: TranscriptWriter,
}

impl Factory for EveningTables {
    fn table(&self, wanted: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>> {
        let abilities = SttAbilities { partials: true, ..SttAbilities::default() };
        let stt = recogniser(abilities);
        *self.stt.lock().unwrap() = Arc::clone(&stt);
        let parts = self.parts.get().expect("the program has started");
        let (settings, wire) = (parts.settings.load_full(), Arc::clone(&self.wire));
        let host = parts.host.at(&wanted.session, &wanted.scope);
        let (store, backlog) = (parts.transcripts.store(), parts.transcripts.backlog());
        async move {
            // Making a table takes its time, before and after it reads what is kept.
            sleep(ms(300)).await;
            let kept = match &wanted.after {
                Some(after) => {
                    let at = KeptStore::new(&*store, &settings.data_dir);
                    at.open(&after.0, &wanted.scope).await?
                }
                None => KeptSession::unkept(),
            };
            let histories = kept.histories();
            sleep(ms(300)).await;
            let budget = Budget::new(Ledger::default());
            let campaign = Campaign::default();
            let hum = Hum { length: ms(400), ..Hum::default() };
            let voice = props::voice(Arc::new(Voice { wire: Arc::clone(&wire), hum }));
            let shared = Shared { campaign: &campaign, host: &host, budget: &budget, voice };
            let seat = |(npc, window): (Arc<Npc>, Option<u32>)| {
                let model = Arc::new(Echo { wire: Arc::clone(&wire), window });
                let history = histories.get(&npc.name).cloned().unwrap_or_default();
                shared.seat(&npc, model, history)
            };
            let seats = cast().into_iter().zip([Some(WINDOW), None]).map(seat).collect();
            let memory = Some(Memory { store, scope: wanted.scope, now });
            let parts = TableParts { memory, ..shared.parts(seats) };
            let setup = setup(wanted.session, &stt, &host, wanted.outlets);
            let (handle, task) = open(TableSetup { backlog, ..setup }, parts);
            let engines = Arc::new(NoEngines(Arc::new(settings.services.clone())));
            let assistant = Arc::new(ArcSwap::from_pointee(settings.assistant.clone()));
            let table = RunningTable { handle, task, cannot_hear: None, engines };
            Ok(MadeTable { table, budget, assistant })
        }
        .boxed()
    }

    fn closed(&self, _: &SessionId) {}

    fn voice(&self, npc: &Arc<Npc>, budget: Budget) -> Result<Synthesizer, Error> {
        Ok(Synthesizer::new(Arc::clone(npc), props::hum(), budget, &[]))
    }

    fn server(&self, _: &str, _: &AddedServer) -> Result<ServerOptions, ServerError> {
        Err(ServerError::TooNear)
    }
}

fn cast() -> Vec<Arc<Npc>> {
    CAST.iter().map(|name| Arc::new(props::npc(name))).collect()
}

/// One run of the program.
pub struct Run {
    pub handles: Handles,
    pub store: Arc<Sqlite>,
    factory: Arc<EveningTables>,
    indexer: Indexer,
}

impl Run {
    /// Starts on what is in `folder`.
    pub fn start(folder: &Path, wire: &Arc<Wire>) -> Self {
        let factory = Arc::new(EveningTables {
            wire: Arc::clone(wire),
            parts: OnceLock::new(),
            stt: Mutex::new(recogniser(SttAbilities::default())),
        });
        let store = Arc::new(Sqlite::open(&folder.join("memory.db")).unwrap());
        let shared = Arc::clone(&store) as Arc<dyn MemoryStore>;
        let handles = handles_over(folder, Arc::clone(&factory) as Arc<dyn Factory>, shared);
        let transcripts = handles.sessions.transcripts();
        let parts = Parts {
            settings: Arc::clone(&handles.settings),
            host: handles.tools.clone(),
            transcripts: transcripts.clone(),
        };
        assert!(factory.parts.set(parts).is_ok());
        handles.tools.catalog().set_cast(&cast());
        assert_eq!(handles.tools.offer("stub", SourceKind::BuiltIn, tools(wire)), []);
        // Everything said is old enough to be indexed.
        let (meaning, written) = (Meaning::by_spelling(), transcripts.written());
        let scopes = Indexed::Served(transcripts.served().clone());
        let indexer = Indexer::open(transcripts.store(), scopes, meaning, written, || i64::MAX);
        Self { handles, store, factory, indexer }
    }

    /// Opens a session that goes on from `after`.
    pub async fn open(&self, id: SessionId, after: Option<SessionId>) -> Playing {
        let events = TableEvents::new(4_096);
        let (told, to_be_written) = (events.subscribe(), events.subscribe());
        let halts = Arc::<Halts>::default();
        let face = Face { halts: Arc::clone(&halts), asked: Default::default() };
        let request = TableRequest {
            session: id.clone(),
            scope: scope(),
            played: None,
            after,
            began: None,
            is_heard: true,
            outlets: Outlets {
                out: Box::new(Nowhere),
                pace: Pace::RealTime,
                music: MusicPlayer::new(events.downgrade()),
                effects: Arc::new(face),
                halts,
                events,
            },
        };
        let sessions = &self.handles.sessions;
        let table = sessions.open(request, Default::default()).await.unwrap();
        let transcript = tokio::spawn(sessions.clone().write_down(id.clone(), to_be_written));
        let stt = Arc::clone(&self.factory.stt.lock().unwrap());
        let RunningTable { handle, task, .. } = table;
        Playing { id, table: handle, told, stt, task, transcript, speaking: None }
    }

    /// Writes what is left and ends; lines that wait in the spill are for the next run.
    pub async fn close(self) {
        self.handles.privacy.close().await;
        _ = self.handles.sessions.transcripts().close().await;
        self.indexer.close().await;
    }
}

/// A session that is played.
pub struct Playing {
    pub id: SessionId,
    pub told: EventReader,
    table: TableHandle,
    stt: Arc<Recogniser>,
    task: JoinHandle<Conversations>,
    transcript: JoinHandle<()>,
    speaking: Option<JoinHandle<()>>,
}

impl Playing {
    pub async fn order(&self, command: Command) {
        self.table.commands.send(command).await.expect("the table is open");
    }

    pub async fn join(&self, id: SpeakerId, name: &str) {
        self.order(Command::Join(Speaker { id, name: name.to_owned(), is_dm: false })).await;
    }

    /// Starts speaking, unless another speaker does; true if it started.
    pub fn says(&mut self, speaker: SpeakerId, text: &str) -> bool {
        if self.speaking.as_ref().is_some_and(|speaking| !speaking.is_finished()) {
            return false;
        }
        // A few hundred bytes, in tests alone.
        let text: &'static str = text.to_owned().leak();
        let said = Said { partials: vec![(30, text)], text: Some(Ok(text)), takes: ms(100) };
        let mut script = self.stt.script.lock().unwrap();
        script.clear();
        script.push_back(said);
        drop(script);
        let voice = self.table.voice.clone();
        self.speaking = Some(tokio::spawn(async move {
            let silence = (0..30).map(|_| Frame::silence(SampleRate::HZ_16000));
            let mut clock = interval(ms(20));
            for frame in babble(ms(1_000)).into_iter().chain(silence) {
                clock.tick().await;
                if voice.send(voiced(speaker, Instant::now(), frame)).await.is_err() {
                    // The table is closed.
                    return;
                }
            }
        }));
        true
    }

    /// Silences this speaker from now on.
    pub fn says_no_more(&self) {
        self.stt.script.lock().unwrap().clear();
    }

    /// Ends it as a face does; returns its NPCs' memory and the remaining events.
    pub async fn stop(self, handles: &Handles) -> (String, EventReader) {
        let Self { id, told, table, task, transcript, .. } = self;
        table.commands.send(Command::Close).await.expect("the table is open");
        drop(table);
        let kept = timeout(BOUND, task).await.expect("it closes").expect("no panic");
        timeout(BOUND, transcript).await.expect("the table is gone").expect("no panic");
        let remembered = format!("{:?}", kept.histories);
        handles.sessions.keep(&id, Some(kept)).await.unwrap();
        (remembered, told)
    }
}
