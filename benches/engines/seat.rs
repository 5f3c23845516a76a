//! One NPC whose voice model is the stand-in, turn after turn, as a table has them.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use glyphoxa::measure::{
    Budget, Cascaded, Cause, Chain, ChatModel, Conversation, EngineKind, Frame, Gate, Labels,
    Ledger, Materials, Npc, PlayedPart, Position, Realtime, Reply, ReplyPort, SessionId,
    SessionLimits, Setting, SpeechOptions, SpeechService, SpeechToSpeech, TextToSpeech, Tier,
    ToolHost, Turn, TurnFacts, TurnId, TurnReport, VoiceEngine, offer_built_ins,
};
use rand::{SeedableRng, rngs::StdRng};
use tokio::{
    sync::{mpsc, watch},
    time::{sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    service::{
        Answer::{self, Call, Cut, Say},
        Peer, Wire,
    },
    support::{
        figures::ms,
        stand_ins::{Model, Nothing, Synthesiser},
        table::{cascade, npc},
    },
};

/// Length of a frame.
const FRAME: Duration = Duration::from_millis(20);
/// Time between two tokens of the cascade's model, whose first sentence exists with the sixth.
const TOKEN: Duration = Duration::from_millis(20);
/// Length of an answer that is heard before the player interrupts it.
const HEARD: Duration = Duration::from_millis(300);
/// Pieces of replies that wait for a table.
const REPLIES: usize = 128;
/// No piece of an answer is awaited longer.
const GIVEN_UP: Duration = Duration::from_secs(10);
/// Default limits of sessions.
const LIMITS: SessionLimits =
    SessionLimits { max_age: Duration::from_mins(55), idle: Duration::from_secs(60) };

/// The course of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// An answer.
    Plain,
    /// A call of a tool, then an answer.
    Tool,
    /// An answer that the player interrupts.
    BargeIn,
    /// An answer in the middle of which the connection is cut.
    Cut,
}

impl Case {
    /// All of them, as they follow each other.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Tool, Self::BargeIn, Self::Cut];

    /// Answers of the service.
    const fn answers(self) -> &'static [Answer] {
        match self {
            Self::Plain | Self::BargeIn => &[Say],
            Self::Tool => &[Call, Say],
            Self::Cut => &[Cut],
        }
    }

    /// Last event on the wire.
    const fn last(self) -> Wire {
        match self {
            Self::Plain | Self::Tool => Wire::Sound,
            Self::BargeIn => Wire::Truncated,
            Self::Cut => Wire::Ready,
        }
    }
}

/// Times in ms, of all turns of one kind each.
#[derive(Default)]
pub struct Times {
    /// End of turn to commit.
    pub commit: Vec<f64>,
    /// First sound of the service to first frame.
    pub first_frame: Vec<f64>,
    /// End of the answer with a call to its result, less the tool's own time.
    pub tool_round: Vec<f64>,
    /// Interruption to truncation.
    pub truncate: Vec<f64>,
    /// Cut to the cascade's first frame.
    pub cut: Vec<f64>,
    /// End of turn to first frame, where the cascade is asked at once.
    pub cascade: Vec<f64>,
}

/// An NPC and its place at a table.
pub struct Seat {
    npc: Arc<Npc>,
    host: ToolHost,
    engine: SpeechToSpeech,
    cascade: Cascaded,
    conversation: Conversation,
    service: Peer,
    /// The player's words in every turn.
    spoken: Arc<[Frame]>,
    turns: u64,
    times: Times,
}

impl Seat {
    /// An NPC with a session at `service`, to whom the player says `spoken`.
    pub async fn open(mut service: Peer, spoken: Arc<[Frame]>) -> Self {
        let tools = vec!["dice-roller.*".to_owned()];
        let npc = Arc::new(Npc { tools, engine: EngineKind::SpeechToSpeech, ..npc() });
        let host = ToolHost::new(StdRng::seed_from_u64(1));
        host.catalog().set_cast(&[Arc::clone(&npc)]);
        offer_built_ins(&host, Materials::dice(StdRng::seed_from_u64(1)));
        let speaks: Arc<dyn TextToSpeech> = Arc::new(Synthesiser::new(Duration::from_millis(100)));
        let thinks: Chain<dyn ChatModel> =
            Chain::of("stand-in", Arc::new(Model { token: TOKEN, calls: 0 }));
        let budget = Budget::new(Ledger::default());
        let (cascade, conversation) = cascade(&npc, &host, (thinks, speaks), &budget);
        let options = SpeechOptions {
            name: SpeechService::OpenAi.name().to_owned(),
            service: SpeechService::OpenAi,
            base_url: service.base_url.clone(),
            api_key: None,
            model: "gpt-realtime-2.1".to_owned(),
            priced_as: None,
            first_byte_timeout: GIVEN_UP,
            max_age: LIMITS.max_age,
            idle: LIMITS.idle,
        };
        let talks = Arc::new(Realtime::new(options).expect("an address"));
        let engine = SpeechToSpeech::new(talks, cascade.clone(), LIMITS, false);
        let times = Times::default();
        tokio::spawn(engine.warm(conversation.excerpt(&host)));
        assert!(!service.until(Wire::Ready).await.is_empty(), "no session");
        Self { npc, host, engine, cascade, conversation, service, spoken, turns: 0, times }
    }

    /// One turn.
    pub async fn turn(&mut self, case: Case) {
        self.service.answers(case.answers());
        let cancel = CancellationToken::new();
        speak(&mut self.engine, &self.spoken).await;
        let (_gate, gate) = decided();
        let (turn, port, replies) = self.asked(gate, &cancel);
        let ended = Instant::now();
        let making = tokio::spawn(self.engine.start(turn, port));
        let interrupts = (case == Case::BargeIn).then_some(&cancel);
        let played = Played::of(replies, interrupts).await;
        let report = making.await.expect("a report");
        let heard = played.heard();
        self.engine.played(&heard);
        self.conversation.add(&report, &heard.text);
        tokio::spawn(self.engine.warm(self.conversation.excerpt(&self.host)));
        self.note(case, ended, &played, &report).await;
    }

    /// A turn that the cascade answers from the beginning; no conversation keeps it.
    pub async fn turn_of_cascade(&mut self) {
        let (_gate, gate) = decided();
        let (turn, port, replies) = self.asked(gate, &CancellationToken::new());
        let ended = Instant::now();
        let making = tokio::spawn(self.cascade.start(turn, port));
        let played = Played::of(replies, None).await;
        let report = making.await.expect("a report");
        assert!(report.failure.is_none(), "not answered: {report:?}");
        self.times.cascade.push(since(played.first, Some(ended)));
    }

    /// All its times.
    pub fn into_times(self) -> Times {
        self.times
    }

    /// A turn about to start.
    fn asked(
        &mut self,
        gate: watch::Receiver<Gate>,
        cancel: &CancellationToken,
    ) -> (Arc<Turn>, ReplyPort, Replies) {
        self.turns += 1;
        let id = TurnId(self.turns);
        let tier = Tier::Standard;
        let turn = Turn {
            session: SessionId("bench".to_owned()),
            id,
            facts: Arc::new(TurnFacts {
                by: None,
                speaker: "Player".to_owned(),
                utterance: "well what is new in town".to_owned(),
                dice: None,
                odds: None,
                last: None,
                dice_withheld: false,
                stops_music: false,
                language: None,
            }),
            final_words: Arc::default(),
            setting: Setting::default(),
            audio: Arc::clone(&self.spoken),
            recall: None,
            prompt: None,
            cause: Cause::Utterance,
            labels: Arc::new(Labels::new(["Player"], [self.npc.name.as_str()])),
            conversation: self.conversation.excerpt(&self.host),
            tier,
            tier_is_asked: false,
            tools: self.host.visible(&self.npc.name, tier, tier.ceiling()),
            gate,
            cancel: cancel.clone(),
            effects: Arc::new(Nothing),
            trace: Default::default(),
        };
        let (to, replies) = mpsc::channel(REPLIES);
        (Arc::new(turn), ReplyPort::new(id, to), replies)
    }

    /// Takes the times of a turn, which must have gone as its case says.
    async fn note(&mut self, case: Case, ended: Instant, played: &Played, report: &TurnReport) {
        let wire = self.service.until(case.last()).await;
        let at = |what| wire.iter().find(|(it, _)| *it == what).map(|(_, at)| *at);
        let is_replaced = at(Wire::Ready).is_some() != (case == Case::Cut);
        assert!(!is_replaced, "{case:?}: a session was replaced, or none after a cut: {wire:?}");
        assert!(report.failure.is_none(), "{case:?}: not answered: {report:?}");
        let is_cascaded = report.engine.kind == EngineKind::Cascaded;
        assert_eq!(is_cascaded, case == Case::Cut, "{case:?}: {report:?}");
        self.times.commit.push(since(at(Wire::Committed), Some(ended)));
        self.times.first_frame.push(since(played.first, at(Wire::Sound)));
        match case {
            Case::Plain => {}
            Case::Tool => {
                let [call] = report.calls.as_slice() else { unreachable!("{report:?}") };
                assert!(call.result.is_ok(), "{call:?}");
                let round = since(at(Wire::Result), at(Wire::Called));
                self.times.tool_round.push(round - ms(call.took));
            }
            Case::BargeIn => {
                self.times.truncate.push(since(at(Wire::Truncated), played.interrupted));
            }
            Case::Cut => self.times.cut.push(since(played.goes_on, at(Wire::Cut))),
        }
    }
}

/// The player speaks, and the NPC hears it.
async fn speak(engine: &mut SpeechToSpeech, spoken: &[Frame]) {
    let (mut due, mut said) = (Instant::now(), VecDeque::new());
    for frame in spoken {
        due += FRAME;
        sleep_until(due.into()).await;
        said.push_back(frame.clone());
        engine.receive(&said);
    }
}

/// Pieces of a turn's reply, as they come out.
type Replies = mpsc::Receiver<(TurnId, Reply)>;

/// A turn of which nothing is unclear, and all is played at once.
fn decided() -> (watch::Sender<Gate>, watch::Receiver<Gate>) {
    watch::channel(Gate { confirmed: true, playing: usize::MAX })
}

/// From `earlier` to `later` in ms; NaN, which reaches no goal, where one of them never was.
fn since(later: Option<Instant>, earlier: Option<Instant>) -> f64 {
    let time = later.zip(earlier).map(|(later, earlier)| later.saturating_duration_since(earlier));
    time.map_or(f64::NAN, ms)
}

/// The result of a turn.
#[derive(Default)]
struct Played {
    /// Its words.
    text: String,
    /// Sentences so far.
    sentences: usize,
    /// Sound of the last one.
    into: Duration,
    /// The first frame.
    first: Option<Instant>,
    /// The first frame of the second sentence, which is the cascade's.
    goes_on: Option<Instant>,
    /// The player interrupted it.
    interrupted: Option<Instant>,
}

impl Played {
    /// Takes all of a reply; where `interrupts` is given, the turn ends once enough was heard.
    async fn of(mut replies: Replies, interrupts: Option<&CancellationToken>) -> Self {
        let mut played = Self::default();
        loop {
            let begun = played.first.filter(|_| played.interrupted.is_none());
            let due = begun.zip(interrupts).map(|(begun, cancel)| (begun + HEARD, cancel));
            let until = due.map_or_else(Instant::now, |(until, _)| until);
            tokio::select! {
                biased;
                () = sleep_until(until.into()), if due.is_some() => {
                    played.interrupted = Some(Instant::now());
                    played.into = HEARD;
                    if let Some((_, cancel)) = due {
                        cancel.cancel();
                    }
                }
                reply = timeout(GIVEN_UP, replies.recv()) => {
                    let Some((_, reply)) = reply.expect("the answer goes on") else {
                        return played;
                    };
                    if played.interrupted.is_none() {
                        played.take(reply);
                    }
                }
            }
        }
    }

    fn take(&mut self, reply: Reply) {
        match reply {
            Reply::Sentence { text, .. } => {
                self.text.push_str(&text);
                self.sentences += 1;
                self.into = Duration::ZERO;
            }
            Reply::Words { text, .. } => self.text.push_str(&text),
            Reply::Audio { .. } => {
                self.into += FRAME;
                let at = match self.sentences {
                    1 => &mut self.first,
                    _ => &mut self.goes_on,
                };
                at.get_or_insert_with(Instant::now);
            }
            Reply::Word { .. } | Reply::SentenceDone { .. } | Reply::Instead { .. } => {}
        }
    }

    /// All of it, or what came before the interruption.
    fn heard(&self) -> PlayedPart {
        let position = Position { sentence: self.sentences.saturating_sub(1), into: self.into };
        PlayedPart {
            text: self.text.clone(),
            audio: self.into,
            position: Some(position),
            ..PlayedPart::default()
        }
    }
}
