//! The table's task: one loop over all events. Awaits nothing but the next event.
//!
//! Entry function: [`open`].

use std::{sync::Arc, time::Duration};

use rand::{SeedableRng, rngs::StdRng};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::{self, JoinHandle},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    Command, Continuation, Options, SeatId, SpeakerId, State, TableEvent, VoiceInput,
    effects::{FollowedUp, Halts, TableEffects},
    explanations::Explanations,
    handle::{Conversations, TableHandle},
    hearing::Hearing,
    judging::Listening,
    limits::PlayerLimits,
    music::TableMusic,
    overview::{Overview, Pause},
    parts::{TableParts, TableSetup},
    playback::Playback,
    recall::Recaller,
    recast::Announced,
    recogniser::{Recogniser, RecognitionEvent},
    reports::Reports,
    routing::{Background, Router},
    seats::{Seated, Seats},
    speakers::Speakers,
    summaries::{self, Summaries},
    turns::{Active, Turns},
};
use crate::{
    domain::{SessionId, TurnId},
    engine::{Reply, TurnReport},
    panics::{Panicked, Panics, caught, caught_now},
    tools::{Effects, FollowUp, ToolHost},
    traces::Traces,
};

/// Queued frames: 5 s of one speaker; a full queue makes the sender wait or drop.
const VOICE_CAPACITY: usize = 256;
/// Queued commands, enough for everyone in a full voice channel to join and choose a character at
/// once. They overtake frames.
const COMMAND_CAPACITY: usize = 256;
/// Queued pieces of replies: more than a second of speech.
const REPLY_CAPACITY: usize = 128;
/// Late results of tools; excess ones are dropped with a warning.
const LATE_CAPACITY: usize = 16;

/// Interval between checks of an unfinished recogniser while a caller waits for it.
const DRAIN_POLL: Duration = Duration::from_millis(2);
/// Interval between checks for silence at the table; too short to notice.
const SILENCE_POLL: Duration = Duration::from_millis(100);

/// Opens a table; its task ends after [`Command::Close`] or with the last handle.
pub fn open(setup: TableSetup, mut parts: TableParts) -> (TableHandle, JoinHandle<Conversations>) {
    let (voice, voice_in) = mpsc::channel(VOICE_CAPACITY);
    let (commands, commands_in) = mpsc::channel(COMMAND_CAPACITY);
    let pulse = setup.outlets.events.pulse();
    let continuation = parts.continuation.take();
    let mut table = Table::new(setup, parts);
    table.continue_from(continuation.as_ref());
    let (seated, explanations) = (table.seated.subscribe(), table.reports.explanations());
    let task = tokio::spawn(pulse.over(table.run(commands_in, voice_in)));
    (TableHandle { voice, commands, seated, explanations }, task)
}

enum Event {
    Command(Command),
    Voice(VoiceInput),
    Recognised(SpeakerId, RecognitionEvent),
    Late(Box<FollowUp>),
    /// An order to the music, by anyone.
    Music,
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
    pub(super) seated: watch::Sender<Arc<[Seated]>>,
    pub(super) speakers: Speakers,
    pub(super) router: Router,
    pub(super) hearing: Hearing,
    pub(super) playback: Playback,
    pub(super) music: TableMusic,
    pub(super) turns: Turns,
    pub(super) host: ToolHost,
    pub(super) effects: Arc<dyn Effects>,
    pub(super) halts: Arc<Halts>,
    pub(super) reports: Reports,
    pub(super) traces: Traces,
    pub(super) recaller: Option<Arc<Recaller>>,
    pub(super) replies: mpsc::Sender<(TurnId, Reply)>,
    pub(super) paused: Pause,
    pub(super) carded: Vec<SeatId>,
    /// Its state as last published.
    pub(super) stood: Arc<Continuation>,
    pub(super) is_here: bool,
    /// Its first answer must not wait for a voice.
    pub(super) is_heard: bool,
    pub(super) summaries: Summaries,
    pub(super) players: PlayerLimits,
    pub(super) announced: Announced,
    state: State,
    replies_in: mpsc::Receiver<(TurnId, Reply)>,
    pub(super) late_in: mpsc::Receiver<FollowUp>,
    settling: Vec<oneshot::Sender<()>>,
    awaiting_silence: Vec<oneshot::Sender<()>>,
    panics: Panics,
    /// Too many panics: the table is closing.
    is_failing: bool,
    pub(super) closed: CancellationToken,
}

impl Table {
    fn new(setup: TableSetup, parts: TableParts) -> Self {
        let (replies, replies_in) = mpsc::channel(REPLY_CAPACITY);
        let (late, late_in) = mpsc::channel(LATE_CAPACITY);
        let rng = StdRng::seed_from_u64(setup.seed);
        let speakers = Speakers::new(setup.host.scope().owner, parts.campaign.players.clone());
        let session = setup.session;
        let seats = Seats::new(parts.seats);
        let known =
            Background { campaign: parts.campaign, keywords: parts.keywords, rules: parts.rules };
        let recaller = parts.memory.map(|memory| Recaller::new(memory, session.clone()));
        let router = Router::new(&seats, known, &speakers.characters());
        let explanations = parts.options.explains.then(Explanations::default);
        let music = setup.outlets.music;
        let halts = setup.outlets.halts;
        let effects =
            TableEffects::new(setup.outlets.effects, music.clone(), Arc::clone(&halts), late);
        let name = setup.stt.called();
        let recogniser = Recogniser { chain: setup.stt, budget: parts.budget.clone() };
        Self {
            session,
            recaller: recaller.map(Arc::new),
            router,
            speakers,
            seated: watch::Sender::new(seats.cast()),
            seats,
            hearing: Hearing::new(recogniser, Listening::new(parts.options.ends(), setup.judge)),
            players: PlayerLimits::new(parts.options.limits),
            announced: Announced::default(),
            options: parts.options,
            playback: Playback::new(setup.outlets.out, music.clone(), setup.outlets.pace, rng),
            turns: Turns::default(),
            host: setup.host,
            halts,
            effects: Arc::new(effects),
            music: TableMusic::new(music, parts.music),
            reports: Reports::new(setup.outlets.events, parts.budget, setup.backlog, &name)
                .explained_by(explanations),
            traces: parts.traces,
            replies,
            paused: Pause::default(),
            carded: Vec::new(),
            stood: Arc::default(),
            is_here: setup.is_here,
            is_heard: setup.is_heard,
            summaries: Summaries::default(),
            state: State::default(),
            replies_in,
            late_in,
            settling: Vec::new(),
            awaiting_silence: Vec::new(),
            panics: Panics::default(),
            is_failing: false,
            closed: CancellationToken::new(),
        }
    }

    async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        mut voice: mpsc::Receiver<VoiceInput>,
    ) -> Conversations {
        if let Err(fault) = caught_now(|| self.begin_session()) {
            self.failed(&fault);
        }
        loop {
            let next = caught(self.next(&mut commands, &mut voice)).await;
            self.hearing.clock.behind = !voice.is_empty();
            let taken = next.and_then(|event| match event {
                Event::Command(Command::Close) | Event::Closed => Ok(false),
                event => caught_now(|| self.take(event)).map(|()| true),
            });
            match taken {
                Ok(true) if !self.is_failing => {}
                Ok(_) => break,
                Err(fault) => match self.failed(&fault) {
                    Some(wait) => sleep(wait).await,
                    None => break,
                },
            }
        }
        caught(self.close()).await.unwrap_or_else(|fault| {
            tracing::error!(%fault, "cannot keep a table's conversations for the next session");
            Conversations::default()
        })
    }

    fn begin_session(&mut self) {
        self.warm_first();
        self.tell_of_judge();
        self.expect_names();
        if !self.music.goes_on {
            self.score(true, None);
        }
        self.summaries.due();
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Command(command) => self.command(command),
            Event::Voice(VoiceInput::Frame(frame)) => self.frame(&frame),
            Event::Voice(VoiceInput::Released(speaker)) => self.released(speaker),
            Event::Voice(VoiceInput::Settle(done)) => self.settling.push(done),
            Event::Recognised(speaker, event) => self.recognised(speaker, event),
            Event::Reply(turn, reply) => self.reply(turn, reply),
            Event::Made(turn, report) => self.made(turn, *report),
            Event::Lost(task) => self.lost(task),
            Event::Summarised(ended) => {
                let notice = self.summaries.ended(ended, &mut self.seats);
                notice.into_iter().for_each(|notice| self.reports.notice(notice));
            }
            Event::Late(late) => self.late(*late),
            Event::Music => self.tell_how_it_stands(),
            Event::Wake | Event::Closed => {}
        }
        self.act(Instant::now());
        self.tell_conversations();
    }

    /// Handles a panic: ends work in progress and notifies the game master. Returns the pause
    /// before the table continues; `None`: too many panics, so the table closes.
    fn failed(&mut self, fault: &Panicked) -> Option<Duration> {
        tracing::error!(session = %self.session, %fault, "something failed at a table");
        let wait = self.count(fault, "something failed, but the table carries on");
        let seats =
            || self.seats.ids().into_iter().for_each(|seat| self.silence(Instant::now(), seat));
        if let Err(again) = caught_now(seats) {
            tracing::error!(session = %self.session, fault = %again, "cannot end a turn");
        }
        wait
    }

    /// Counts a panic and notifies the game master: `carries_on` or, after too many, that the table
    /// closes. Returns the pause before the work restarts.
    pub(super) fn count(&mut self, fault: &Panicked, carries_on: &str) -> Option<Duration> {
        let wait = self.panics.count(Instant::now());
        self.reports.notice(match wait {
            Some(_) => format!("{carries_on}: {fault}"),
            None => format!("something keeps failing, so the table closes: {fault}"),
        });
        self.is_failing |= wait.is_none();
        wait
    }

    /// Next event by priority: commands, engines and recognisers, then sound. Time needs no event,
    /// because [`Self::act`] follows each.
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
            recognised = self.hearing.next() => match recognised {
                Some((speaker, event)) => Event::Recognised(speaker, event),
                // The broken pipeline is reported with the due work.
                None => Event::Wake,
            },
            Some(done) = self.turns.tasks.join_next() => match done {
                Ok((turn, report)) => Event::Made(turn, Box::new(report)),
                Err(lost) => Event::Lost(lost.id()),
            },
            Some(ended) = self.summaries.next() => Event::Summarised(ended),
            Some(late) = self.late_in.recv() => Event::Late(Box::new(late)),
            () = self.music.ordered() => Event::Music,
            Some(input) = voice.recv() => Event::Voice(input),
            () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => Event::Wake,
        }
    }

    fn wake_at(&self) -> Option<Instant> {
        let turns = [self.turns.wake_at(), self.timeout_at()].into_iter().flatten().min();
        // A drained recogniser and the end of a late call produce no event, so poll for them.
        let is_polled = !self.settling.is_empty() && self.turns.all().all(Active::is_ahead);
        let again = is_polled.then(|| Instant::now() + DRAIN_POLL);
        let is_awaited = !self.awaiting_silence.is_empty();
        let silence = is_awaited.then(|| Instant::now() + SILENCE_POLL);
        let playback = self.playback.wake_at();
        [
            self.hearing.wake_at(),
            turns,
            playback,
            self.music.wake_at(),
            self.barge_in_wake_at(),
            again,
            silence,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn act(&mut self, now: Instant) {
        self.listen(now);
        self.recover_broken(now);
        self.end_overdue(now);
        self.interrupt_on_time(now);
        self.play(now);
        self.music.tick(now);
        self.begin_waiting();
        self.pass_sound_on(now);
        let nobody_is_answered = self.turns.all().next().is_none();
        for warning in self.summaries.begin_due(&mut self.seats, nobody_is_answered) {
            self.reports.notice(warning);
        }
        let state = self.overview().state();
        if state != self.state {
            self.reports.tell(TableEvent::State(state.clone()));
            self.state = state;
        }
        if !self.settling.is_empty() && self.is_settled() {
            self.settling.drain(..).for_each(|done| _ = done.send(()));
        }
        if !self.awaiting_silence.is_empty() && self.is_silent() {
            self.awaiting_silence.drain(..).for_each(|done| _ = done.send(()));
        }
    }

    /// True if no NPC is thinking or audible and no player is speaking. Late calls and music do not
    /// count.
    fn is_silent(&self) -> bool {
        self.turns.all().all(Active::is_ahead)
            && self.playback.is_idle()
            && self.seats.iter().all(|(_, seat)| seat.next_in_turn(self.paused.holds()).is_none())
            && self.hearing.is_drained()
            && !self.hearing.is_finalising()
    }

    /// Guesses belong to speech in progress and do not count.
    fn is_settled(&self) -> bool {
        self.is_silent()
            && !self.host.has_late_calls()
            // A late call counts until its result arrives.
            && self.late_in.is_empty()
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Join(speaker) => self.join(speaker),
            Command::Leave(speaker) => self.leave(speaker),
            Command::Forget(speaker) => self.forget(speaker),
            Command::Erase(person, done) => {
                self.erase(&person);
                _ = done.send(());
            }
            Command::Character { speaker, name } => self.character(speaker, name),
            Command::Typed { speaker, text } => self.typed(speaker, text),
            Command::TypedTo { speaker, seat, text } => self.typed_to(speaker, seat, text),
            Command::Puppet { speaker, seat, text } => self.puppet(speaker, seat, text),
            Command::Recite { caller, seat, text, outside } => {
                self.recite(caller, seat, text, outside);
            }
            Command::Question { caller, seat, text } => self.question(caller, seat, text),
            Command::Mute { seat, muted } => self.mute(seat, muted),
            Command::Halt => self.halt(Instant::now()),
            Command::EndCard(speaker) => self.end_card(speaker),
            Command::Pause(paused) => self.pause(paused),
            Command::HandOver => self.hand_over(),
            Command::Skip => self.skip(),
            Command::Direct { seat, note, turns } => self.direct(seat, &note, turns),
            Command::Pin { seat, player } => self.pin(player, seat),
            Command::SetTier { seat, tier, until } => self.set_tier(seat, tier, until),
            Command::Scene(change) => self.change_scene(change),
            Command::Music(order) => self.music.order(order),
            Command::Unhalted { halts, order } => {
                if self.halts.count() == halts {
                    self.command(*order);
                }
            }
            Command::Withdraw { seat, order } => self.withdraw_order(seat, order),
            Command::AwaitSilence(done) => self.awaiting_silence.push(done),
            // The receiver may have been dropped.
            Command::Status(asked) => {
                _ = asked.send(self.overview().status(Instant::now(), &self.reports))
            }
            Command::Recast(recast) => self.recast(*recast),
            Command::Cast(role) => self.recast_one(role),
            Command::Announced(services) => self.announce(services),
            Command::SumUp(done) => self.summaries.wait(done),
            Command::Close => {}
        }
    }

    fn reply(&mut self, turn: TurnId, reply: Reply) {
        match reply {
            Reply::Sentence { text, filler } => self.playback.sentence(turn, text, filler),
            Reply::Instead { text } => self.playback.instead(turn, text),
            Reply::Audio { sentence, frame } => {
                self.playback.push(Instant::now(), turn, sentence, frame);
            }
            Reply::Words { sentence, text } => self.playback.words(turn, sentence, &text),
            Reply::Word { sentence, word } => self.playback.word(turn, sentence, word),
            Reply::SentenceDone { index } => self.playback.sentence_done(turn, index),
        }
    }

    fn made(&mut self, turn: TurnId, report: TurnReport) {
        while let Ok((of, reply)) = self.replies_in.try_recv() {
            self.reply(of, reply);
        }
        self.playback.whole(Instant::now(), turn);
        if let Some(active) = self.turns.get(turn) {
            active.reported(report);
        }
        self.finish(turn);
    }

    pub(super) fn late(&mut self, late: FollowUp) {
        let tool = &*late.record.tool;
        tracing::debug!(session = %self.session, turn = late.turn.0, tool, "a late result has come");
        if late.withdrawn.is_cancelled() {
            return;
        }
        match FollowedUp::of(late, Instant::now(), &self.seats, &self.speakers) {
            FollowedUp::Nothing => {}
            FollowedUp::Notice(why) => self.reports.notice(why),
            FollowedUp::Ask(purpose) => self.ask(*purpose),
        }
    }

    fn overview(&self) -> Overview<'_> {
        Overview {
            seats: &self.seats,
            turns: &self.turns,
            playback: &self.playback,
            music: &self.music,
            router: &self.router,
            speakers: &self.speakers,
            paused: self.paused.holds(),
            card: self.way_out_of_card(),
        }
    }

    /// Ends work in progress, and keeps everything that was played and done.
    async fn close(mut self) -> Conversations {
        let now = Instant::now();
        self.closed.cancel();
        let music = self.stands().music;
        self.music.silence();
        for (utterance, why) in self.hearing.clear() {
            self.said_to_nobody(utterance, why);
        }
        self.seats.ids().into_iter().for_each(|seat| self.silence(now, seat));
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
        // A turn may have started a track until it ended.
        self.music.silence();
        Conversations {
            continuation: Continuation { music, ..self.stands() },
            histories: self
                .seats
                .all()
                .map(|(_, seat)| (seat.npc.name.clone(), seat.conversation.messages().to_vec()))
                .collect(),
        }
    }
}
