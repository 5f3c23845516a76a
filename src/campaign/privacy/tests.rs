//! Deleting while a session ends.

use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use arc_swap::ArcSwap;
use futures::future::BoxFuture;
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};

use super::{ForgetFrom, ForgetRequest};
use crate::{
    audio::Frame,
    campaign::{
        AddedServer, EngineError, EngineOffer, Engines, Factory, Handles, MadeTable, OpenError,
        RunningTable, ServerError, Sessions, SharedSettings, TableRequest, stand_in_handles,
    },
    domain::{CampaignKey, EngineKind, Message, Owner, PersonId, Said, Scope, SessionId},
    engine::{Budget, tests::props::NoEffects},
    logic::budget::Ledger,
    provider::Services,
    session::{
        Command, Conversations, MusicPlayer, Outlets, Pace, TableEvents, TableHandle, VoiceOut,
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

struct NoEngines(Arc<Services>);

impl Engines for NoEngines {
    fn services(&self) -> Arc<Services> {
        Arc::clone(&self.0)
    }

    fn offer(&self, _: &str, _: EngineKind) -> Result<EngineOffer, EngineError> {
        Err(EngineError::NoService)
    }

    fn change(&self, _: &str, _: EngineKind) -> Result<(), EngineError> {
        Err(EngineError::NoService)
    }
}

impl Factory for OneTable {
    fn table(&self, _: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>> {
        let commands = self.commands.lock().unwrap().take().expect("one table");
        let settings = self.settings.lock().unwrap().take().expect("settings").load_full();
        let handle = TableHandle {
            voice: mpsc::channel(1).0,
            commands,
            seated: watch::channel([].into()).1,
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

    fn server(&self, _: &str, _: &AddedServer) -> Result<ServerOptions, ServerError> {
        Err(ServerError::TooNear)
    }
}

struct Nowhere;

impl VoiceOut for Nowhere {
    fn play(&mut self, _: &str, _: Frame) {}

    fn ramp(&mut self, _: f32, _: Duration) {}

    fn stop(&mut self) -> usize {
        0
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
    let what = ForgetRequest {
        player: "1".to_owned(),
        names: Vec::new(),
        from: ForgetFrom { owner: Owner::Guild(GUILD), session: None },
    };
    let deleting = tokio::spawn(handles.privacy.clone().forget(what));
    // The table ends with the command unread.
    let command = timeout(BOUND, told.recv()).await.expect("in time");
    assert!(matches!(command, Some(Command::Erase(..))), "{command:?}");
    drop((command, table, told));
    let said = |text: &str, by: &str| {
        Message::User(Said { text: text.to_owned(), by: Some(PersonId(by.to_owned())) })
    };
    let histories = vec![("Bartok".to_owned(), vec![said("my wombat", "1"), said("my owl", "2")])];
    let kept = Conversations { histories, ..Conversations::default() };
    handles.sessions.keep(&session, kept).await.unwrap();
    timeout(BOUND, deleting).await.expect("in time").unwrap().unwrap();
    let file = folder.path().join(format!("sessions/{session}.json"));
    let file = fs::read_to_string(file).unwrap();
    assert!(file.contains("owl") && !file.contains("wombat"), "{file}");
}
