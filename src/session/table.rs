//! The table's task: one loop over everything that can happen.
//!
//! Entry function: [`open`]. **Never**: blocks, or awaits anything but the next event.

use std::{collections::HashMap, future::poll_fn, sync::Arc, task::Poll, time::Duration};

use rand::{SeedableRng, rngs::StdRng};
use tokio::{
    sync::{mpsc, oneshot},
    task::{self, JoinHandle},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    Backlog, Command, Memory, Options, Pace, Seat, Seats, SpeakerId, State, TableEvent,
    TableEvents, TurnLine, VoiceOut,
    clock::{SoundClock, SoundTime},
    effects::TableEffects,
    pipeline::SpeakerPipeline,
    playback::Playback,
    recall::Recaller,
    recognition::{Recogniser, RecognitionEvent},
    retraction::RecentLines,
    routing::Router,
    speakers::{SOMEBODY, Speakers},
    statistics::Statistics,
    summaries::{self, Summaries},
    turns::{Active, Turns},
};
use crate::{
    audio::Frame,
    domain::{Campaign, Message, SessionId, TurnId},
    engine::{Purse, Reply, TurnReport},
    logic::tier::Keywords,
    provider::SpeechToText,
    tools::{Effects, FollowUp, ToolHost},
};

/// Frames waiting for the table: 5 s of one speaker; a full queue makes the sender wait or drop.
const VOICE_CAPACITY: usize = 256;
/// Commands waiting for the table; they overtake frames. Everybody of a full voice channel may sit
/// down at once, and say whom they play.
const COMMAND_CAPACITY: usize = 256;
/// Pieces of replies waiting for the table: a second of speech and more.
const REPLY_CAPACITY: usize = 128;
/// Late results of tools; more at once are dropped with a warning.
const LATE_CAPACITY: usize = 16;

/// How often an unfinished recogniser is looked at while somebody waits for it.
const DRAIN_POLL: Duration = Duration::from_millis(2);

/// What a table is made of.
pub struct TableParts {
    /// Play session.
    pub session: SessionId,
    /// What can be set.
    pub options: Options,
    /// The NPCs.
    pub seats: Vec<Seat>,
    /// The world.
    pub campaign: Arc<Campaign>,
    /// What raises a turn's tier.
    pub keywords: Keywords,
    /// Phrases that name a rule, which raise it too.
    pub rules: Arc<[String]>,
    /// What hears.
    pub stt: Arc<dyn SpeechToText>,
    /// Where speech goes.
    pub out: Box<dyn VoiceOut>,
    /// How fast it goes there.
    pub pace: Pace,
    /// What may be called.
    pub host: ToolHost,
    /// What tools may do to the table.
    pub effects: Arc<dyn Effects>,
    /// Who pays.
    pub purse: Purse,
    /// Lines that are still to be written down.
    pub backlog: Backlog,
    /// Where the NPCs remember; `None`: they have their conversations alone.
    pub memory: Option<Memory>,
    /// Seed of pauses.
    pub seed: u64,
    /// Where lines and notices go.
    pub events: TableEvents,
}

/// 20 ms of one speaker.
#[derive(Debug)]
pub struct VoiceFrame {
    /// Whose voice it is.
    pub speaker: SpeakerId,
    /// When it was spoken.
    pub at: SoundTime,
    /// Its sound at 16 kHz.
    pub frame: Frame,
}

/// Sound, and marks in it.
#[derive(Debug)]
pub enum VoiceInput {
    /// 20 ms of one speaker.
    Frame(VoiceFrame),
    /// Answered when everything before it is heard, answered and played; speech that is still
    /// going on does not count.
    Settle(oneshot::Sender<()>),
}

/// How a table is reached. Cloning it shares the table.
#[derive(Clone, Debug)]
pub struct TableHandle {
    /// Sound in.
    pub voice: mpsc::Sender<VoiceInput>,
    /// Everything else in.
    pub commands: mpsc::Sender<Command>,
}

/// What is worth keeping of a closed table.
#[derive(Debug, Default)]
pub struct Kept {
    /// Each NPC's conversation, by name.
    pub histories: Vec<(String, Vec<Message>)>,
}

/// Opens a table; its task ends after [`Command::Close`] or when every handle is gone.
pub fn open(parts: TableParts) -> (TableHandle, JoinHandle<Kept>) {
    let (voice, voice_in) = mpsc::channel(VOICE_CAPACITY);
    let (commands, commands_in) = mpsc::channel(COMMAND_CAPACITY);
    let task = tokio::spawn(Table::new(parts).run(commands_in, voice_in));
    (TableHandle { voice, commands }, task)
}

/// Everything that can happen.
enum Event {
    Command(Command),
    Voice(VoiceInput),
    Recognised(SpeakerId, RecognitionEvent),
    Late(Box<FollowUp>),
    Reply(TurnId, Reply),
    Made(TurnId, Box<TurnReport>),
    Lost(task::Id),
    Summarised(summaries::Ended),
    Wake,
    Closed,
}

/// A table's state; only its task touches it.
pub(super) struct Table {
    pub(super) session: SessionId,
    pub(super) options: Options,
    pub(super) seats: Seats,
    pub(super) speakers: Speakers,
    pub(super) router: Router,
    pub(super) sound: SoundClock,
    pub(super) pipelines: HashMap<SpeakerId, SpeakerPipeline>,
    pub(super) recogniser: Recogniser,
    pub(super) playback: Playback,
    pub(super) turns: Turns,
    pub(super) host: ToolHost,
    pub(super) effects: Arc<dyn Effects>,
    pub(super) purse: Purse,
    pub(super) backlog: Backlog,
    pub(super) recaller: Option<Arc<Recaller>>,
    pub(super) replies: mpsc::Sender<(TurnId, Reply)>,
    /// Nobody is answered until resumed.
    pub(super) paused: bool,
    pub(super) statistics: Statistics,
    pub(super) recent: RecentLines,
    pub(super) summaries: Summaries,
    /// As it was last told.
    state: State,
    replies_in: mpsc::Receiver<(TurnId, Reply)>,
    late_in: mpsc::Receiver<FollowUp>,
    settling: Vec<oneshot::Sender<()>>,
    /// Cancelled when the table closes.
    pub(super) closed: CancellationToken,
    events: TableEvents,
    lines: u64,
}

impl Table {
    fn new(parts: TableParts) -> Self {
        let (replies, replies_in) = mpsc::channel(REPLY_CAPACITY);
        let (late, late_in) = mpsc::channel(LATE_CAPACITY);
        let rng = StdRng::seed_from_u64(parts.seed);
        let speakers = Speakers::new(parts.campaign.players.clone());
        let words = (&parts.keywords, &*parts.rules);
        let session = parts.session;
        let seats = Seats::new(parts.seats);
        let recaller = parts.memory.map(|memory| Recaller::new(memory, session.clone()));
        Self {
            session,
            options: parts.options,
            recaller: recaller.map(Arc::new),
            router: Router::new(&seats, &parts.campaign, words, &speakers.characters()),
            speakers,
            seats,
            sound: SoundClock::default(),
            pipelines: HashMap::new(),
            recogniser: Recogniser { stt: parts.stt, purse: parts.purse.clone() },
            playback: Playback::new(parts.out, parts.pace, rng),
            turns: Turns::default(),
            host: parts.host,
            effects: Arc::new(TableEffects::new(parts.effects, late)),
            purse: parts.purse,
            backlog: parts.backlog,
            replies,
            paused: false,
            statistics: Statistics::default(),
            recent: RecentLines::default(),
            summaries: Summaries::default(),
            state: State::default(),
            replies_in,
            late_in,
            settling: Vec::new(),
            closed: CancellationToken::new(),
            events: parts.events,
            lines: 0,
        }
    }

    async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        mut voice: mpsc::Receiver<VoiceInput>,
    ) -> Kept {
        self.warm();
        self.expect_names();
        self.summaries.due();
        loop {
            let event = self.next(&mut commands, &mut voice).await;
            self.sound.behind = !voice.is_empty();
            match event {
                Event::Command(Command::Close) | Event::Closed => break,
                Event::Command(command) => self.command(command),
                Event::Voice(VoiceInput::Frame(frame)) => self.frame(frame),
                Event::Voice(VoiceInput::Settle(done)) => self.settling.push(done),
                Event::Recognised(speaker, event) => self.recognised(speaker, event),
                Event::Reply(turn, reply) => self.reply(turn, reply),
                Event::Made(turn, report) => self.made(turn, *report),
                Event::Lost(task) => self.lost(task),
                Event::Summarised(ended) => self.summarised(ended),
                Event::Late(late) => self.late(*late),
                Event::Wake => {}
            }
            self.act(Instant::now());
        }
        self.close().await
    }

    /// Control first, then what engines and recognisers say, sound last; time never waits, since
    /// [`Self::act`] follows every event.
    async fn next(
        &mut self,
        commands: &mut mpsc::Receiver<Command>,
        voice: &mut mpsc::Receiver<VoiceInput>,
    ) -> Event {
        let wake = self.wake_at();
        tokio::select! {
            biased;
            command = commands.recv() => command.map_or(Event::Closed, Event::Command),
            Some((turn, reply)) = self.replies_in.recv() => Event::Reply(turn, reply),
            (speaker, event) = recognised(&mut self.pipelines) => Event::Recognised(speaker, event),
            Some(done) = self.turns.tasks.join_next() => match done {
                Ok((turn, report)) => Event::Made(turn, Box::new(report)),
                Err(lost) => Event::Lost(lost.id()),
            },
            Some(ended) = self.summaries.next() => Event::Summarised(ended),
            Some(late) = self.late_in.recv() => Event::Late(Box::new(late)),
            Some(input) = voice.recv() => Event::Voice(input),
            () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => Event::Wake,
        }
    }

    fn wake_at(&self) -> Option<Instant> {
        let pipelines = self.pipelines.values().filter_map(SpeakerPipeline::wake_at).min();
        let turns = [self.turns.wake_at(), self.timeout_at()].into_iter().flatten().min();
        // A recogniser does not say when it has taken everything; whoever settles asks again.
        let undrained = !self.settling.is_empty()
            && (self.host.has_late_calls()
                || !self.pipelines.values().all(SpeakerPipeline::is_drained));
        let again = undrained.then(|| Instant::now() + DRAIN_POLL);
        let playback = self.playback.wake_at();
        [pipelines, turns, playback, self.barge_in_wake_at(), again].into_iter().flatten().min()
    }

    /// Everything that is due now.
    fn act(&mut self, now: Instant) {
        self.listen(now);
        self.end_overdue(now);
        self.interrupt_on_time(now);
        self.play(now);
        self.begin_waiting();
        self.summarise();
        let state = self.state();
        if state != self.state {
            self.tell(TableEvent::State(state.clone()));
            self.state = state;
        }
        if !self.settling.is_empty() && self.is_settled() {
            for done in self.settling.drain(..) {
                // Whoever asked may have given up.
                let _ = done.send(());
            }
        }
    }

    /// Answers begun ahead belong to speech that is still going on: they wait for it, not it for
    /// them.
    fn is_settled(&self) -> bool {
        self.turns.all().all(Active::is_ahead)
            && self.playback.is_idle()
            && !self.host.has_late_calls()
            && self.seats.iter().all(|(_, seat)| seat.next(self.paused).is_none())
            && self.pipelines.values().all(|it| it.is_drained() && !it.is_finalising())
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Join(speaker) => self.join(speaker),
            Command::Leave(speaker) => self.leave(speaker),
            Command::Forget(speaker) => self.forget(speaker),
            Command::Erase(names) => self.erase(&names),
            Command::Character { speaker, name } => self.character(speaker, name),
            Command::Typed { speaker, text } => self.typed(speaker, text),
            Command::TypedTo { speaker, seat, text } => self.typed_to(speaker, seat, text),
            Command::Puppet { speaker, seat, text } => self.puppet(speaker, seat, text),
            Command::Mute { seat, muted } => self.mute(seat, muted),
            Command::Halt => self.halt(),
            Command::Pause(paused) => self.pause(paused),
            Command::Skip => self.skip(),
            Command::Direct { seat, note, turns } => self.direct(seat, &note, turns),
            Command::Pin { seat, player } => {
                if seat.is_none_or(|seat| self.seats.has(seat)) {
                    self.router.pins.set(player, seat);
                }
            }
            Command::SetTier { seat, tier, until } => self.router.overrides.set(seat, tier, until),
            Command::Scene(change) => self.change_scene(change),
            // Whoever asked may have given up.
            Command::Status(asked) => _ = asked.send(self.status(Instant::now())),
            Command::Recast(recast) => self.recast(recast),
            Command::SumUp(done) => self.summaries.wait(done),
            Command::Close => {}
        }
    }

    fn reply(&mut self, turn: TurnId, reply: Reply) {
        match reply {
            Reply::Sentence { text, filler } => self.playback.sentence(turn, text, filler),
            Reply::Audio { sentence, frame } => {
                self.playback.push(Instant::now(), turn, sentence, frame);
            }
            Reply::SentenceDone { index } => self.playback.sentence_done(turn, index),
        }
    }

    /// An engine is done: nothing more comes after what it has sent.
    fn made(&mut self, turn: TurnId, report: TurnReport) {
        while let Ok((of, reply)) = self.replies_in.try_recv() {
            self.reply(of, reply);
        }
        self.playback.whole(Instant::now(), turn);
        if let Some(active) = self.turns.get(turn) {
            active.reported(report);
        }
        self.finish(turn, false);
    }

    /// Puts a line into the report.
    pub(super) fn line(&mut self, mut line: TurnLine, speaker: SpeakerId) {
        self.speakers.name(speaker).clone_into(&mut line.speaker);
        line.from = Some(speaker);
        let called = self.speakers.called(speaker).to_owned();
        line.circumstances.character = (called != line.speaker).then(|| called.clone());
        line.circumstances.npcs = self.router.scene.present();
        line.circumstances.people = self.speakers.here();
        line.turn = self.lines + 1;
        self.recent.told(&line, &called);
        self.line_as_it_is(line);
    }

    /// Puts a line into the report whose speaker is nobody's business.
    pub(super) fn line_of_nobody(&mut self, mut line: TurnLine) {
        SOMEBODY.clone_into(&mut line.speaker);
        self.line_as_it_is(line);
    }

    fn line_as_it_is(&mut self, mut line: TurnLine) {
        self.lines += 1;
        line.turn = self.lines;
        self.statistics.add(&line);
        self.tell(TableEvent::Line(Arc::new(line)));
    }

    /// Tells the listeners something.
    pub(super) fn tell(&self, event: TableEvent) {
        self.events.tell(event);
    }

    /// Ends what is under way, so that what was heard and done so far is kept.
    async fn close(mut self) -> Kept {
        let now = Instant::now();
        self.closed.cancel();
        let untold: Vec<_> =
            self.pipelines.values_mut().filter_map(SpeakerPipeline::take_unaddressed).collect();
        self.pipelines.clear();
        for (utterance, why) in untold {
            self.said_to_nobody(utterance, why);
        }
        self.seats.ids().for_each(|seat| self.silence(now, seat));
        while let Some(at) = self.turns.wake_at() {
            tokio::select! {
                biased;
                Some(done) = self.turns.tasks.join_next() => match done {
                    Ok((turn, report)) => self.made(turn, report),
                    Err(lost) => self.lost(lost.id()),
                },
                () = sleep_until(at) => self.end_overdue(Instant::now()),
            }
        }
        Kept {
            histories: self
                .seats
                .iter()
                .map(|(_, seat)| (seat.npc.name.clone(), seat.engine.history().to_vec()))
                .collect(),
        }
    }
}

/// What a recogniser says next of what somebody says. Cancel safe.
async fn recognised(
    pipelines: &mut HashMap<SpeakerId, SpeakerPipeline>,
) -> (SpeakerId, RecognitionEvent) {
    poll_fn(|context| {
        for (speaker, pipeline) in &mut *pipelines {
            if let Poll::Ready(event) = pipeline.poll_event(context) {
                return Poll::Ready((*speaker, event));
            }
        }
        Poll::Pending
    })
    .await
}
