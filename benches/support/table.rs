//! A table with one NPC and one player whose audio never stops.

use std::{sync::Arc, time::Duration};

use glyphoxa::measure::{
    AddressMode, Backlog, Budget, Campaign, Cascaded, Chain, ChatModel, Command, Conversation,
    Declared, Definition, EngineKind, EventReader, Figures as Counted, Frame, Keywords, Ledger,
    Music, MusicPlayer, Npc, NpcCalls, NpcModel, Options, Outlets, Pace, Policy, S2s, Seat,
    SessionCalls, SessionId, SoundTime, SourceKind, Speaker, SpeakerId, SpeechToText, Synthesizer,
    TableEvent, TableEvents, TableHandle, TableParts, TableSetup, TextToSpeech, Tier, ToolHost,
    TurnLine, Voice, VoiceFrame, VoiceInput, VoiceOut, count_event, open,
};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::json;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until, timeout},
};

use super::{
    sound::{LAST, silence},
    stand_ins::{Model, Nothing, Recogniser, Stopwatch, Synthesiser},
};

/// The player.
pub const PLAYER: SpeakerId = SpeakerId(1);
/// Length of a frame.
pub const FRAME: Duration = Duration::from_millis(20);
/// Silence between the end of an answer and the next utterance: no gap is kept after it.
pub const QUIET: Duration = Duration::from_millis(360);
/// No turn takes longer.
const GIVEN_UP: Duration = Duration::from_secs(60);

/// Parts that a table is built from.
pub struct Services {
    /// Hears.
    pub recogniser: Recogniser,
    /// Thinks.
    pub model: Model,
    /// Speaks.
    pub synthesiser: Synthesiser,
    /// The only tool.
    pub tool: Definition,
}

/// Services of any kind, the NPC they work for, and the table's settings.
pub struct AnyServices {
    /// Answers.
    pub npc: Npc,
    /// Hears.
    pub recogniser: Arc<dyn SpeechToText>,
    /// Think.
    pub models: Chain<dyn ChatModel>,
    /// Speaks.
    pub voice: Arc<dyn TextToSpeech>,
    /// The only tool.
    pub tool: Definition,
    /// Of the table.
    pub options: Options,
}

impl From<Services> for AnyServices {
    fn from(services: Services) -> Self {
        Self {
            npc: npc(),
            recogniser: Arc::new(services.recogniser),
            models: Chain::of("stand-in", Arc::new(services.model)),
            voice: Arc::new(services.synthesiser),
            tool: services.tool,
            options: Options::default(),
        }
    }
}

/// A table and its player.
pub struct Room {
    /// Reports of turns.
    events: EventReader,
    /// Next utterance of the player; silence while the queue is empty.
    speech: mpsc::Sender<Vec<Frame>>,
    /// First frames.
    stopwatch: Stopwatch,
}

impl Room {
    /// Opens a table; the player's frames come every 20 ms, the first after `phase`.
    pub async fn open(services: impl Into<AnyServices>, phase: Duration) -> Self {
        Self::open_of(services.into(), phase, TableEvents::new(64)).await
    }

    /// Opens a table with a second reader of its events, as the program has one; with `figures` it
    /// counts them.
    pub async fn open_read(services: Services, figures: Option<Counted>) -> Self {
        let events = TableEvents::new(64);
        let mut read = events.subscribe();
        tokio::spawn(async move {
            while let Some(event) = read.recv().await {
                figures.iter().for_each(|figures| count_event(figures, &event));
            }
        });
        Self::open_of(services.into(), Duration::ZERO, events).await
    }

    async fn open_of(services: AnyServices, phase: Duration, events: TableEvents) -> Self {
        let stopwatch = Stopwatch::default();
        let out = Box::new(stopwatch.clone());
        let (handle, events) = open_table_of(services, out, events).await;
        Self::of(handle, events, stopwatch, phase)
    }

    /// An open table that the player has joined, and whose speech `stopwatch` gets.
    pub fn of(
        handle: TableHandle,
        events: EventReader,
        stopwatch: Stopwatch,
        phase: Duration,
    ) -> Self {
        let (speech, speech_in) = mpsc::channel(1);
        let first = Instant::now() + phase;
        tokio::spawn(player(handle, speech_in, first, stopwatch.clone()));
        Self { events, speech, stopwatch }
    }

    /// Lets the player say `frames`, of which one is marked [`LAST`]. Returns the time from
    /// handing that in to the first frame of the answer, once the answer has been played.
    pub async fn turn(&mut self, frames: Vec<Frame>) -> Duration {
        self.answered(frames).await.0
    }

    /// Like [`Self::turn`], with the answer's line.
    #[expect(clippy::panic, reason = "a bench of a failing table is none")]
    pub async fn answered(&mut self, frames: Vec<Frame>) -> (Duration, Arc<TurnLine>) {
        self.speech.send(frames).await.expect("the player is there");
        let line = loop {
            let event = timeout(GIVEN_UP, self.events.recv()).await.expect("a turn is soon over");
            match event.expect("the table is open") {
                TableEvent::Line(line) => break line,
                TableEvent::Notice(text) | TableEvent::Private(text) => {
                    panic!("the table complains: {text}")
                }
                TableEvent::Missed(missed) => panic!("{missed} events are lost"),
                TableEvent::Halted { .. }
                | TableEvent::Said(_)
                | TableEvent::Asked(_)
                | TableEvent::Forgotten(_)
                | TableEvent::State(_)
                | TableEvent::Stands(_)
                | TableEvent::Conversed(_)
                | TableEvent::Mark(_) => {}
            }
        };
        assert!(line.outcome.is_well() && !line.reply.is_empty(), "not answered: {line:?}");
        assert!(line.tools.iter().all(|tool| tool.ok), "a call failed: {line:?}");
        (self.stopwatch.total().expect("a first frame came out"), line)
    }
}

/// Opens a table with one NPC that answers to everything; its player has joined.
pub async fn open_table(
    services: impl Into<AnyServices>,
    out: Box<dyn VoiceOut>,
) -> (TableHandle, EventReader) {
    open_table_of(services.into(), out, TableEvents::new(64)).await
}

async fn open_table_of(
    services: AnyServices,
    out: Box<dyn VoiceOut>,
    events: TableEvents,
) -> (TableHandle, EventReader) {
    let told = events.subscribe();
    let music = MusicPlayer::new(events.downgrade());
    let (pace, effects) = (Pace::RealTime, Arc::new(Nothing));
    let halts = Arc::default();
    let (setup, parts) = parts(services, Outlets { out, pace, music, effects, halts, events });
    let (handle, _task) = open(setup, parts);
    join(&handle).await;
    (handle, told)
}

/// Lets the player join.
pub async fn join(table: &TableHandle) {
    let player = Speaker { id: PLAYER, name: "Player".to_owned(), is_dm: false };
    table.commands.send(Command::Join(player)).await.expect("the table is open");
}

/// Offset of the frames of table `nth` within 20 ms, so that tables are evenly spread.
pub fn phase(nth: u32, tables: u32) -> Duration {
    FRAME * nth / tables
}

/// Parts of a table with one NPC that answers everything.
pub fn parts(services: impl Into<AnyServices>, outlets: Outlets) -> (TableSetup, TableParts) {
    let AnyServices { npc, recogniser, models, voice, tool, options } = services.into();
    let npc = Arc::new(npc);
    let host = ToolHost::new(StdRng::seed_from_u64(1));
    host.catalog().set_cast(&[Arc::clone(&npc)]);
    host.offer("bench", SourceKind::BuiltIn, vec![tool]);
    let budget = Budget::new(Ledger::default());
    let (engine, conversation) = cascade(&npc, &host, (models, voice), &budget);
    let setup = TableSetup {
        is_here: false,
        is_heard: true,
        session: SessionId("bench".to_owned()),
        judge: None,
        stt: Chain::of("stand-in", recogniser),
        outlets,
        host,
        backlog: Backlog::default(),
        seed: 1,
    };
    let parts = TableParts {
        options,
        seats: vec![Seat::new(npc, conversation, Box::new(engine), "stand-in", "stand-in")],
        campaign: Arc::default(),
        music: Music::new(Arc::default(), StdRng::seed_from_u64(1)),
        keywords: Keywords::shipped(["en", "de"]),
        rules: Arc::from([]),
        budget,
        memory: None,
        continuation: None,
        traces: Default::default(),
    };
    (setup, parts)
}

/// The cascade of `npc` with what thinks and speaks, and a conversation that has not begun.
pub fn cascade(
    npc: &Arc<Npc>,
    host: &ToolHost,
    (models, voice): (Chain<dyn ChatModel>, Arc<dyn TextToSpeech>),
    budget: &Budget,
) -> (Cascaded, Conversation) {
    let (options, campaign) = (Options::default(), Campaign::default());
    let model = NpcModel {
        npc: Arc::clone(npc),
        models,
        budget: budget.clone(),
        max_tokens: options.max_tokens,
    };
    let calls = NpcCalls {
        host: host.clone(),
        made: SessionCalls::default(),
        filler_after: options.filler_after,
    };
    let voice = Synthesizer::new(Arc::clone(npc), voice, budget.clone(), &campaign.entities);
    let conversation = Conversation::new(model.clone(), &campaign, Vec::new());
    (Cascaded::new(model, calls, voice), conversation)
}

/// Measures the bench itself: plays the player without a table and drops the frames.
pub fn open_unheard(phase: Duration) {
    let (voice, mut voice_in) = mpsc::channel(256);
    let (commands, _) = mpsc::channel(1);
    let (_, speech) = mpsc::channel(1);
    let (_, seated) = watch::channel(Arc::from([]));
    let first = Instant::now() + phase;
    tokio::spawn(async move { while voice_in.recv().await.is_some() {} });
    tokio::spawn(player(
        TableHandle { voice, commands, seated, explanations: None },
        speech,
        first,
        Stopwatch::default(),
    ));
}

/// Hands a frame in, as spoken now; false when the table is closed.
pub async fn hand_in(table: &TableHandle, frame: Frame) -> bool {
    let frame = VoiceFrame { speaker: PLAYER, at: SoundTime(Instant::now()), frame };
    table.voice.send(VoiceInput::Frame(frame)).await.is_ok()
}

/// Gives frames for ever, one every 20 ms.
async fn player(
    table: TableHandle,
    mut speech: mpsc::Receiver<Vec<Frame>>,
    mut due: Instant,
    stopwatch: Stopwatch,
) {
    let mut said = Vec::new().into_iter();
    loop {
        sleep_until(due).await;
        due += FRAME;
        let next = said.next().or_else(|| {
            said = speech.try_recv().ok()?.into_iter();
            said.next()
        });
        let frame = next.unwrap_or_else(silence);
        if frame.samples().first() == Some(&LAST) {
            stopwatch.start();
        }
        if !hand_in(&table, frame).await {
            return;
        }
    }
}

/// An NPC that answers to everything.
pub fn npc() -> Npc {
    Npc {
        name: "Bartok the Barkeep".to_owned(),
        aliases: vec!["Bartok".to_owned()],
        pronunciation: Vec::new(),
        personality: "A gruff man of fifty who runs the tavern and loves dice. ".repeat(8),
        behavior_rules: vec!["Keep it short.".to_owned()],
        secret_knowledge: vec!["There is a tunnel behind the third barrel.".to_owned()],
        knowledge_scope: vec!["tavern rumours".to_owned()],
        voice: Voice::as_is("stand-in", ""),
        llm: None,
        cascade: None,
        language: "en".to_owned(),
        max_sentences: 4,
        engine: EngineKind::Cascaded,
        s2s: S2s::default(),
        budget_tier: Tier::Standard,
        tools: vec!["bench.nothing".to_owned()],
        address: AddressMode::Always,
        lines: Vec::new().into(),
        fillers: Vec::new(),
        // Two hundred turns with a call each must pass.
        policy: Policy {
            max_calls_per_minute: 10_000,
            max_calls_per_session: 10_000,
            ..Policy::default()
        },
    }
}

/// The tool that does nothing.
pub fn nothing() -> Definition {
    Definition {
        name: "nothing".to_owned(),
        description: "Does nothing.".to_owned(),
        input: json!({ "type": "object", "properties": {} }),
        output: None,
        declared: Declared {
            estimated: Some(Duration::from_millis(1)),
            max: Some(Duration::from_millis(20)),
            read_only: Some(true),
            ..Declared::default()
        },
        handler: Arc::new(Nothing),
    }
}
