//! A table with scripted surroundings, and a record of its output.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, interval, sleep, sleep_until, timeout},
};

use super::{
    super::{
        Command, Continuation, Conversations, EventReader, Halts, Memory, MusicPlayer, Options,
        Outcome, Outlets, Pace, Seat, SoundTime, Speaker, SpeakerId, State, TableEvent,
        TableEvents, TableHandle, TableParts, TableSetup, TurnLine, VoiceFrame, VoiceInput,
        VoiceOut, WeakTableEvents, open,
    },
    parts::{Shared, another, both, recogniser, setup},
    voices::{Recogniser, Said, babble},
};
use crate::{
    audio::{Frame, Gain, SampleRate},
    domain::{Campaign, Message, Npc, SessionId},
    engine::{
        Budget,
        tests::props::{self, Hearing, Hum, Model, NoEffects, Step, Tools, ms},
    },
    logic::{
        budget::{BudgetOptions, Ledger},
        music::{Library, MusicOrder, Track},
    },
    provider::{SttAbilities, TurnJudge},
    tools::{ToolHost, builtin::Music},
};

pub const THORIN: SpeakerId = SpeakerId(1);
pub const ELARA: SpeakerId = SpeakerId(2);
pub const MIRA: SpeakerId = SpeakerId(3);
pub const DM: SpeakerId = SpeakerId(9);

/// A frame that left the table.
#[derive(Clone, Debug)]
pub struct Left {
    pub npc: String,
    pub at: Duration,
    pub peak: i16,
}

/// Times at which the first and the last frame of an NPC left.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    pub first: Duration,
    pub last: Duration,
}

/// A line of the table's transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub speaker: String,
    /// Empty without an addressee.
    pub npc: String,
    pub outcome: Outcome,
    pub reply: String,
}

impl Told {
    pub fn of(speaker: &str, npc: &str, outcome: Outcome, reply: &str) -> Self {
        Self { speaker: speaker.into(), npc: npc.into(), outcome, reply: reply.into() }
    }
}

struct Ear {
    opened: Instant,
    left: Arc<Mutex<Vec<Left>>>,
    gain: Gain,
    /// Frames of its end.
    breaks: usize,
    /// Frames that leave before its connection is lost.
    leaves: usize,
    /// Frames held since then.
    waiting: usize,
    /// Music order given whenever an NPC is cut off.
    when_cut: Option<(MusicPlayer, MusicOrder)>,
}

impl Ear {
    fn new(opened: Instant, left: &Arc<Mutex<Vec<Left>>>, breaks: usize) -> Self {
        let (left, gain) = (Arc::clone(left), Gain::new(SampleRate::HZ_48000));
        Self { opened, left, gain, breaks, leaves: usize::MAX, waiting: 0, when_cut: None }
    }
}

impl VoiceOut for Ear {
    fn play(&mut self, npc: &str, frame: Frame) {
        if let Some(left) = self.breaks.checked_sub(1) {
            self.breaks = left;
            panic!("the way out is broken");
        }
        let Some(leaves) = self.leaves.checked_sub(1) else {
            self.waiting += 1;
            return;
        };
        self.leaves = leaves;
        let mut samples = frame.samples().to_vec();
        self.gain.apply(&mut samples);
        let peak = samples.iter().copied().max().unwrap_or(0);
        let left = Left { npc: npc.to_owned(), at: self.opened.elapsed(), peak };
        self.left.lock().unwrap().push(left);
    }

    fn ramp(&mut self, db: f32, over: Duration) {
        self.gain.ramp_to(db, over);
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    fn stop(&mut self) -> usize {
        if let Some((music, order)) = &self.when_cut {
            music.order(order.clone());
        }
        std::mem::take(&mut self.waiting)
    }
}

pub struct Setup {
    pub npcs: Vec<Npc>,
    pub options: Options,
    pub campaign: Campaign,
    pub abilities: SttAbilities,
    /// Abilities of a second recogniser, "second", which hears when the first fails.
    pub second: Option<SttAbilities>,
    pub voice: Hum,
    pub budget: BudgetOptions,
    /// The ledger is in a store, played by the test through [`Stage::budget`].
    pub is_kept: bool,
    pub pace: Pace,
    /// Previous conversation of each NPC.
    pub history: Vec<Message>,
    pub window: Option<u32>,
    pub price: Option<&'static str>,
    /// The output panics at the first frames played.
    pub breaks: usize,
    /// Frames that leave before the output loses its connection.
    pub leaves: usize,
    /// Sound model for pauses.
    pub judge: Option<Arc<dyn TurnJudge>>,
    pub library: Library,
    /// Saved state of the table.
    pub continuation: Option<Continuation>,
    pub memory: Option<Memory>,
    /// A track that a turn starts when its NPC is cut off.
    pub when_cut: Option<Arc<Track>>,
    /// Sound-taking models, with the numbers of frames that they received ahead.
    pub hears_sound: Option<Arc<Mutex<Vec<usize>>>>,
    /// A local table.
    pub is_here: bool,
    /// Its first answer must not wait for a voice.
    pub is_heard: bool,
    /// Its output; `None`: the test sees what leaves.
    pub out: Option<Box<dyn VoiceOut>>,
}

pub struct Stage {
    pub table: TableHandle,
    task: JoinHandle<Conversations>,
    events: EventReader,
    states: Vec<State>,
    pub models: Vec<Arc<Model>>,
    pub voice: Arc<Hum>,
    pub tools: Tools,
    pub host: ToolHost,
    pub stt: Arc<Recogniser>,
    /// The second recogniser; without [`Setup::second`] no table has it.
    pub second: Arc<Recogniser>,
    pub budget: Budget,
    left: Arc<Mutex<Vec<Left>>>,
    pub opened: Instant,
    pub music: MusicPlayer,
    /// Sends its events.
    pub teller: WeakTableEvents,
    pub halts: Arc<Halts>,
}

impl Setup {
    /// A table of these NPCs.
    pub fn of(npcs: &[&str]) -> Self {
        Self {
            npcs: npcs.iter().map(|name| props::npc(name)).collect(),
            options: Options::default(),
            campaign: Campaign::default(),
            abilities: SttAbilities { partials: true, ..SttAbilities::default() },
            second: None,
            voice: Hum::default(),
            budget: BudgetOptions::default(),
            is_kept: false,
            pace: Pace::RealTime,
            history: Vec::new(),
            window: None,
            price: None,
            breaks: 0,
            leaves: usize::MAX,
            judge: None,
            library: Library::default(),
            continuation: None,
            memory: None,
            when_cut: None,
            hears_sound: None,
            is_here: false,
            is_heard: true,
            out: None,
        }
    }

    fn account(&self) -> Budget {
        Budget::new(match self.is_kept {
            true => Ledger::kept(self.budget.clone(), false),
            false => Ledger::new(self.budget.clone(), 0.0),
        })
    }

    /// A seat for each NPC of `cast`, with its model.
    fn seats(
        &self,
        cast: impl Iterator<Item = (Arc<Npc>, Arc<Model>)>,
        shared: &Shared<'_>,
    ) -> Vec<Seat> {
        let seat = |(npc, model): (Arc<Npc>, Arc<Model>)| {
            let mut seat = shared.seat(&npc, model, self.history.clone());
            if let Some(passed) = &self.hears_sound {
                let passed = Arc::clone(passed);
                seat.engine = Box::new(Hearing { engine: seat.engine, passed });
            }
            seat
        };
        cast.map(seat).collect()
    }

    fn ear(
        &mut self,
        opened: Instant,
        left: &Arc<Mutex<Vec<Left>>>,
        music: &MusicPlayer,
    ) -> Box<dyn VoiceOut> {
        let mut ear = Ear::new(opened, left, self.breaks);
        ear.leaves = self.leaves;
        ear.when_cut = self.when_cut.take().map(|it| (music.clone(), MusicOrder::Play(it)));
        self.out.take().unwrap_or_else(|| Box::new(ear))
    }

    /// Opens it, with Thorin, Elara, Mira and the game master.
    pub async fn open(mut self) -> Stage {
        let npcs = std::mem::take(&mut self.npcs);
        let npcs: Vec<Arc<Npc>> = npcs.into_iter().map(Arc::new).collect();
        let (tools, voice) = (Tools::default(), Arc::new(std::mem::take(&mut self.voice)));
        let host = tools.host(&npcs);
        let told = TableEvents::new(512);
        let (events, music) = (told.subscribe(), MusicPlayer::new(told.downgrade()));
        let (opened, left) = (Instant::now(), Arc::default());
        let ear = self.ear(opened, &left, &music);
        let budget = self.account();
        let (window, price) = (self.window, self.price);
        let model = |_| Arc::new(Model { window, price, ..Model::default() });
        let models: Vec<Arc<Model>> = npcs.iter().map(model).collect();
        let cast = npcs.iter().cloned().zip(models.iter().cloned());
        let (campaign, speaks) = (&self.campaign, props::voice(Arc::clone(&voice) as _));
        let shared = Shared { campaign, host: &host, budget: &budget, voice: speaks };
        let seats = self.seats(cast, &shared);
        let (stt, second) = (recogniser(self.abilities), another(self.second.unwrap_or_default()));
        let (teller, halts) = (told.downgrade(), Arc::<Halts>::default());
        let outlets = Outlets {
            out: ear,
            pace: self.pace,
            music: music.clone(),
            effects: Arc::new(NoEffects),
            halts: halts.clone(),
            events: told,
        };
        let plain = setup(SessionId("test".to_owned()), &stt, &host, outlets);
        let Self { judge, is_here, is_heard, .. } = self;
        let heard = if self.second.is_some() { both(&stt, &second) } else { plain.stt.clone() };
        let setup = TableSetup { judge, is_here, is_heard, stt: heard, ..plain };
        let parts = TableParts {
            options: self.options,
            music: Music::new(Arc::new(self.library), rand::SeedableRng::seed_from_u64(1)),
            continuation: self.continuation,
            memory: self.memory,
            ..shared.parts(seats)
        };
        let (table, task) = open(setup, parts);
        let stage = Stage {
            table,
            task,
            events,
            states: vec![],
            models,
            voice,
            tools,
            host,
            stt,
            second,
            budget,
            left,
            opened,
            music,
            teller,
            halts,
        };
        stage.sit_down().await;
        stage
    }
}

/// 20 ms of `speaker`, spoken at `at`.
pub fn voiced(speaker: SpeakerId, at: Instant, frame: Frame) -> VoiceInput {
    VoiceInput::Frame(VoiceFrame { speaker, at: SoundTime(at), frame })
}

impl Stage {
    async fn sit_down(&self) {
        for (id, name) in [(THORIN, "Thorin"), (ELARA, "Elara"), (MIRA, "Mira"), (DM, "Max")] {
            let speaker = Speaker { id, name: name.to_owned(), is_dm: id == DM };
            self.order(Command::Join(speaker)).await;
        }
    }

    pub async fn order(&self, command: Command) {
        self.table.commands.send(command).await.expect("the table is open");
    }

    pub async fn types(&self, speaker: SpeakerId, text: &str) {
        self.order(Command::Typed { speaker, text: text.to_owned() }).await;
    }

    /// The first NPC's next answer is `text`.
    pub fn answers(&self, text: &'static str) {
        self.models[0].then(&[Step::Text(text)]);
    }

    /// The next stream recognises `text`, 100 ms after its end.
    pub fn hears(&self, partials: &[(usize, &'static str)], text: &'static str) {
        self.hears_so(Said { partials: partials.to_vec(), text: Some(Ok(text)), takes: ms(100) });
    }

    pub fn hears_so(&self, said: Said) {
        self.stt.script.lock().unwrap().push_back(said);
    }

    /// `speaker` has voice for `length`, in real time.
    pub async fn voice(&self, speaker: SpeakerId, length: Duration) {
        self.frames(speaker, babble(length)).await;
    }

    /// `speaker` is silent for `length` with an open microphone.
    pub async fn quiet(&self, speaker: SpeakerId, length: Duration) {
        let frames = length.as_millis() / 20;
        self.frames(speaker, (0..frames).map(|_| Frame::silence(SampleRate::HZ_16000)).collect())
            .await;
    }

    /// Speaks for a second, then is silent until the utterance has ended: 600 ms.
    pub async fn says(&self, speaker: SpeakerId) {
        self.voice(speaker, ms(1_000)).await;
        self.quiet(speaker, ms(600)).await;
    }

    async fn frames(&self, speaker: SpeakerId, frames: Vec<Frame>) {
        let mut clock = interval(ms(20));
        for frame in frames {
            clock.tick().await;
            let frame = voiced(speaker, Instant::now(), frame);
            self.table.voice.send(frame).await.expect("the table is open");
        }
        clock.tick().await;
    }

    /// Sends all at once the speech that `speaker` began `ago`.
    pub fn late(&self, speaker: SpeakerId, frames: Vec<Frame>, ago: Duration) {
        let mut at = Instant::now() - ago;
        for frame in frames {
            let frame = voiced(speaker, at, frame);
            self.table.voice.try_send(frame).expect("the table takes it");
            at += ms(20);
        }
    }

    /// Sends all at once a recording of `speaker`, a day ahead of the clock.
    pub async fn recorded(&self, speaker: SpeakerId, frames: Vec<Frame>) {
        let mut at = Instant::now() + ms(24 * 3_600_000);
        for frame in frames {
            let frame = voiced(speaker, at, frame);
            self.table.voice.send(frame).await.expect("the table is open");
            at += ms(20);
        }
    }

    /// Waits until this time after the opening.
    pub async fn at(&self, at: u64) {
        sleep_until(self.opened + ms(at)).await;
    }

    /// Waits for the first frame of a speaker from now on.
    pub async fn until_heard(&self) -> Duration {
        let before = self.left.lock().unwrap().len();
        timeout(ms(60_000), async {
            while self.left.lock().unwrap().len() == before {
                sleep(ms(1)).await;
            }
        })
        .await
        .expect("somebody is heard");
        self.opened.elapsed()
    }

    /// Waits until everything is answered.
    pub async fn settle(&self) {
        let (done, settled) = oneshot::channel();
        self.table.voice.send(VoiceInput::Settle(done)).await.expect("the table is open");
        timeout(ms(300_000), settled).await.expect("it settles").expect("the table is open");
    }

    /// Events since the last call, without the words of players for programs that listen: a card
    /// or a deletion takes them back from these later, and from conversations for the store.
    pub fn shown(&mut self) -> Vec<TableEvent> {
        let is_shown = |event: &TableEvent| {
            !matches!(event, TableEvent::Said(_) | TableEvent::Asked(_) | TableEvent::Conversed(_))
        };
        self.events().into_iter().filter(is_shown).collect()
    }

    /// Events since the last call.
    pub fn events(&mut self) -> Vec<TableEvent> {
        let events: Vec<_> = std::iter::from_fn(|| self.events.try_recv()).collect();
        self.states.extend(events.iter().filter_map(|event| match event {
            TableEvent::State(state) => Some(state.clone()),
            _ => None,
        }));
        events
    }

    /// Lines since the last call.
    pub fn lines(&mut self) -> Vec<TurnLine> {
        let lines = |event| match event {
            TableEvent::Line(line) => Some(Arc::unwrap_or_clone(line)),
            TableEvent::Missed(missed) => panic!("{missed} events are lost"),
            TableEvent::Notice(_)
            | TableEvent::Private(_)
            | TableEvent::Said(_)
            | TableEvent::Asked(_)
            | TableEvent::Forgotten(_)
            | TableEvent::Halted { .. }
            | TableEvent::Stands(_)
            | TableEvent::Conversed(_)
            | TableEvent::Mark(_)
            | TableEvent::State(_) => None,
        };
        self.events().into_iter().filter_map(lines).collect()
    }

    /// All states so far.
    pub fn states(&mut self) -> Vec<State> {
        self.events();
        self.states.clone()
    }

    /// Settles; returns lines since the last call.
    pub async fn told(&mut self) -> Vec<Told> {
        self.settle().await;
        let lines = self.lines().into_iter();
        lines
            .map(|it| Told::of(&it.speaker, it.npc.as_deref().unwrap_or(""), it.outcome, &it.reply))
            .collect()
    }

    /// All frames that left.
    pub fn left(&self) -> Vec<Left> {
        self.left.lock().unwrap().clone()
    }

    /// Times at which the first and the last frame of `npc` left.
    pub fn heard(&self, npc: &str) -> Option<Heard> {
        let left = self.left();
        let mut of = left.iter().filter(|frame| frame.npc == npc).map(|frame| frame.at);
        let first = of.next()?;
        Some(Heard { first, last: of.next_back().unwrap_or(first) })
    }

    /// Waits until the table has closed by itself; returns its conversations.
    pub async fn ended(self) -> Conversations {
        timeout(ms(60_000), self.task).await.expect("it closes").expect("no panic")
    }

    /// Drops every handle; the table ends by itself.
    pub async fn let_go(self) {
        drop(self.table);
        timeout(ms(1_000), self.task).await.expect("it closes").expect("no panic");
    }

    /// Closes the table; checks that nothing is left running.
    pub async fn close(self) -> Conversations {
        self.order(Command::Close).await;
        let kept = timeout(ms(1_000), self.task).await.expect("it closes").expect("no panic");
        // Cancelled tasks end when they are next polled.
        sleep(ms(1)).await;
        let models: usize = self.models.iter().map(|model| model.live.count()).sum();
        let recognisers = self.stt.live.count() + self.second.live.count();
        assert_eq!((models, self.voice.live.count(), recognisers), (0, 0, 0));
        let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        assert_eq!(tasks, 0, "tasks outlive the table");
        kept
    }
}
