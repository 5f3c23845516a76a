//! From an understood utterance to an answer that is heard, interrupted or given up.
//!
//! **Never**: reads sound.

use std::sync::Arc;

use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    Recast, SeatId, SpeakerId,
    line::{Outcome, TurnLine},
    overrides::{SeatCeiling, TurnTier},
    playback::{Played, QueuePosition},
    recall::{Question, RecallTold},
    reports::Company,
    routing::{Understood, same_words},
    table::Table,
    turns::{Active, EngineHandle},
    utterance::{Purpose, Utterance, Waiting},
};
use crate::{
    domain::{TurnFacts, TurnId},
    engine::{Cause, Gate, HeardAloud, Recall, ReplyPort, Setting, Turn},
    logic::{barge_in, spoken},
};

impl Table {
    /// Has a seat answer, at once or when it is free, in order of end of speech.
    pub(super) fn ask(&mut self, purpose: Purpose) {
        if let Some(seat) = self.seats.get_mut(purpose.seat) {
            let end = purpose.utterance.speech_end;
            let later = |waiting: &Purpose| waiting.utterance.speech_end > end;
            let at = seat.waiting.iter().position(later).unwrap_or(seat.waiting.len());
            seat.waiting.insert(at, purpose);
        }
    }

    /// Describes an NPC anew, as soon as it is free.
    pub(super) fn recast(&mut self, recast: Recast) {
        if let Some(seat) = self.seats.of_npc(&recast.npc) {
            self.seats[seat].recast = Some(recast.seat);
        }
    }

    /// Begins the answers of seats that are free.
    pub(super) fn begin_waiting(&mut self) {
        for index in self.seats.ids() {
            if self.seats[index].recast.is_some() && !self.turns.is_busy(index) {
                self.go_on(index);
            }
            if !self.turns.is_busy(index)
                && let Some(mut purpose) = self.seats[index].take_next(self.paused)
            {
                if matches!(purpose.cause, Cause::Utterance) {
                    let highest = self.seats[index].npc.budget_tier;
                    let ceiling = SeatCeiling { seat: index, highest };
                    let now = Instant::now();
                    purpose.tier = self.router.overrides.decide_again(ceiling, now, purpose.tier);
                }
                self.begin(purpose, true);
            }
        }
    }

    fn go_on(&mut self, index: SeatId) {
        if let Some(Err(error)) = self.seats[index].go_on() {
            let npc = &self.seats[index].npc.name;
            self.reports.notice(format!("{npc} stays as before: {error}"));
        }
        self.learn_names();
        self.warm_seat(index);
    }

    /// Players whose utterance is not being answered aloud yet.
    pub(super) fn queue_depth(&mut self) -> usize {
        let waiting = self.seats.iter().flat_map(|(_, seat)| &seat.waiting);
        let mut players: Vec<SpeakerId> = waiting.map(|p| p.utterance.speaker).collect();
        let silent =
            self.turns.iter().filter(|t| t.began_at.is_none() && t.is_wanted() && !t.speculative);
        players.extend(silent.map(|turn| turn.purpose.utterance.speaker));
        players.sort_unstable();
        players.dedup();
        players.len()
    }

    /// Starts the engine; unconfirmed turns are not heard.
    fn begin(&mut self, purpose: Purpose, confirmed: bool) -> TurnId {
        self.summaries.give_way();
        let id = self.turns.next_id();
        let seat = &mut self.seats[purpose.seat];
        let utterance = &purpose.utterance;
        let tier = purpose.tier.effective;
        let is_puppet = purpose.is_puppet();
        let note = if is_puppet { None } else { seat.note_for(id) };
        self.playback.open(
            id,
            &seat.npc.name,
            QueuePosition { urgent: is_puppet, said_at: utterance.speech_end },
        );
        if confirmed {
            self.playback.release(id);
        }
        if confirmed {
            self.answer_begins(&purpose);
        }
        let (recall, recalled) = self.recall(&purpose).unzip();
        let seat = &mut self.seats[purpose.seat];
        let utterance = &purpose.utterance;
        let (gate, gate_in) = watch::channel(Gate { confirmed, playing: 0 });
        let cancel = CancellationToken::new();
        let turn = Turn {
            session: self.session.clone(),
            id,
            facts: Arc::new(TurnFacts {
                speaker: self.speakers.called(utterance.speaker).to_owned(),
                utterance: utterance.text.clone(),
                dice: spoken::dice_in(&utterance.text)
                    .or_else(|| spoken::typed_dice(&utterance.text)),
            }),
            setting: Setting {
                scene: self.router.scene.location().map(str::to_owned),
                time_of_day: self.router.scene.time_of_day().map(str::to_owned),
                note,
            },
            audio: Arc::clone(&utterance.audio),
            recall,
            cause: purpose.cause.clone(),
            conversation: seat.conversation.excerpt(&self.host),
            tier,
            tools: self.host.visible(&seat.npc.name, tier, tier.ceiling()),
            gate: gate_in,
            cancel: cancel.clone(),
            effects: Arc::clone(&self.effects),
        };
        let reply = seat.engine.start(Arc::new(turn), ReplyPort::new(id, self.replies.clone()));
        let abort = self.turns.tasks.spawn(async move { (id, reply.await) });
        self.turns.add(id, purpose, EngineHandle { gate, cancel, abort });
        if let Some(active) = self.turns.get(id) {
            active.recalled = recalled;
        }
        id
    }

    /// Looks up what the NPC remembers of what was said to it.
    fn recall(&self, purpose: &Purpose) -> Option<(Recall, RecallTold)> {
        let recaller = self.recaller.as_ref()?;
        if !matches!(purpose.cause, Cause::Utterance) {
            return None;
        }
        let seat = &self.seats[purpose.seat];
        let said = &purpose.utterance.text;
        Some(recaller.recall(Question::new(&seat.npc, said, seat.conversation.messages())))
    }

    /// What is noted when the answer to something said begins for certain.
    fn answer_begins(&mut self, purpose: &Purpose) {
        if matches!(purpose.cause, Cause::Utterance) {
            let now = self.hearing.clock.moment(Instant::now());
            self.router.begins(now, purpose.seat, purpose.tier.effective);
            self.seats[purpose.seat].last_tier = Some(purpose.tier.line());
        }
    }

    /// Asks the model on a partial, when it is clear who is meant and the NPC is free.
    pub(super) fn answer_ahead(&mut self, mut utterance: Utterance) {
        if self.paused || !self.options.preemptive || !self.hearing.gives_partials() {
            return;
        }
        utterance.text = self.router.correct(&utterance);
        let speaker = utterance.speaker;
        let Understood::Addressed { seat, tier } = self.understand(&utterance) else { return };
        if self.turns.is_busy(seat)
            || !self.seats[seat].waiting.is_empty()
            || !self.may_be_ahead(speaker, seat)
        {
            return;
        }
        let turn = self.begin(Purpose { utterance, seat, tier, cause: Cause::Utterance }, false);
        if let Some(pipeline) = self.hearing.of(speaker) {
            pipeline.ahead = Some(turn);
        }
    }

    /// Keeps a turn begun ahead when the final says the same to the same NPC.
    pub(super) fn confirm(
        &mut self,
        turn: TurnId,
        seat: SeatId,
        tier: &TurnTier,
        utterance: &Utterance,
    ) -> bool {
        let Some(active) = self.turns.get(turn) else { return false };
        let begun = &active.purpose;
        if active.has_failed()
            || begun.seat != seat
            || begun.tier.effective != tier.effective
            || !same_words(&begun.utterance.text, &utterance.text)
        {
            return false;
        }
        let now = Instant::now();
        active.confirm(now, utterance.clone());
        let purpose = active.purpose.clone();
        self.playback.release(turn);
        self.answer_begins(&purpose);
        true
    }

    /// Gives up a turn nobody has heard of.
    pub(super) fn drop_turn(&mut self, now: Instant, turn: TurnId) {
        if let Some(active) = self.turns.get(turn) {
            active.withdrawn = true;
        }
        self.end_turn(now, turn, Outcome::Cancelled);
    }

    /// Takes back what `speaker` said just before, unless its answer is heard already.
    pub(super) fn take_back(&mut self, now: Instant, speaker: SpeakerId) -> Option<Utterance> {
        let pipeline = self.hearing.of(speaker)?;
        if let Some((utterance, _)) = pipeline.take_unaddressed() {
            return Some(utterance);
        }
        let end = pipeline.last_end()?;
        let of = |p: &Purpose| {
            let said = &p.utterance;
            said.speaker == speaker && said.speech_end == end && !said.typed
        };
        let waiting = self.seats.iter_mut().find_map(|(_, seat)| {
            let index = seat.waiting.iter().rposition(of)?;
            seat.waiting.remove(index)
        });
        if let Some(purpose) = waiting {
            self.unhear(&purpose);
            return Some(purpose.utterance);
        }
        let unheard = self.turns.iter().find(|turn| {
            of(&turn.purpose) && turn.began_at.is_none() && turn.is_wanted() && !turn.speculative
        })?;
        let (id, purpose) = (unheard.id, unheard.purpose.clone());
        self.drop_turn(now, id);
        self.unhear(&purpose);
        Some(purpose.utterance)
    }

    /// Ends a turn as `outcome`, whatever it is doing.
    fn end_turn(&mut self, now: Instant, turn: TurnId, outcome: Outcome) {
        let heard = self.playback.close(now, turn);
        if let Some(active) = self.turns.get(turn) {
            active.stop(now, outcome, heard);
        }
        self.finish(turn, false);
    }

    /// A stop word of `speaker`: whoever answers them is silent, and everybody for the game master.
    pub(super) fn stop_for(&mut self, speaker: SpeakerId) {
        let now = Instant::now();
        let is_dm = self.speakers.is_dm(speaker);
        let theirs = |purpose: &Purpose| is_dm || purpose.utterance.speaker == speaker;
        for seat in self.seats.ids() {
            if self.turns.of_seat(seat).is_some_and(|turn| theirs(&turn.purpose)) {
                self.silence(now, seat);
            }
            let waiting = std::mem::take(&mut self.seats[seat].waiting);
            let (given_up, waiting) = waiting.into_iter().partition(theirs);
            self.seats[seat].waiting = waiting;
            self.give_up(given_up);
        }
    }

    fn give_up(&mut self, waiting: Waiting) {
        for purpose in waiting {
            let why = "the npc was silenced before it could answer".to_owned();
            self.unanswered(purpose.utterance, Outcome::Cancelled, Some(why));
        }
    }

    /// Ends what `seat` says and what waits for it.
    pub(super) fn silence(&mut self, now: Instant, seat: SeatId) {
        let waiting = std::mem::take(&mut self.seats[seat].waiting);
        self.give_up(waiting);
        while let Some(turn) = self.turns.of_seat(seat) {
            let id = turn.id;
            self.cut_off(now, id);
        }
    }

    /// Ends a turn that somebody does not want to hear.
    pub(super) fn cut_off(&mut self, now: Instant, turn: TurnId) {
        let began = self.turns.peek(turn).is_some_and(|turn| turn.began_at.is_some());
        let outcome = if began { Outcome::Interrupted } else { Outcome::Cancelled };
        self.end_turn(now, turn, outcome);
    }

    /// When the engine of some turn has owed sound for too long.
    pub(super) fn timeout_at(&self) -> Option<Instant> {
        self.turns.all().filter_map(|turn| self.times_out_at(turn)).min()
    }

    /// An engine owes sound while nothing of its turn is left to be played.
    fn times_out_at(&self, turn: &Active) -> Option<Instant> {
        let since = self.playback.hungry_since(turn.id)?;
        turn.owes_since()
            .map(|start| since.map_or(start, |since| since.max(start)))
            .map(|since| since + self.options.turn_timeout)
    }

    /// Turns without a sound for too long, and engines that did not end when told to.
    pub(super) fn end_overdue(&mut self, now: Instant) {
        let late = |turn: &&Active| self.times_out_at(turn).is_some_and(|at| at <= now);
        let late: Vec<TurnId> = self.turns.all().filter(late).map(|turn| turn.id).collect();
        for turn in late {
            let began = self.turns.peek(turn).is_some_and(|turn| turn.began_at.is_some());
            self.end_turn(now, turn, if began { Outcome::CutShort } else { Outcome::Timeout });
        }
        for turn in self.turns.kill_overdue(now) {
            self.finish(turn, true);
        }
    }

    /// An engine's task broke off without a report.
    pub(super) fn lost(&mut self, task: tokio::task::Id) {
        let Some(turn) = self.turns.of_task(task) else { return };
        if let Some(lost) = self.turns.peek(turn) {
            let npc = &self.seats[lost.purpose.seat].npc.name;
            let notice =
                format!("the answer of {npc} broke off: a fault of the program (see the log)");
            self.reports.notice(notice);
        }
        self.end_turn(Instant::now(), turn, Outcome::ModelError);
        self.finish(turn, true);
    }

    /// Hands over the frames that are due; the game master's words do not wait for others.
    pub(super) fn play(&mut self, now: Instant) {
        if let Some(turn) = self.playback.in_the_way() {
            self.cut_off(now, turn);
        }
        for played in self.playback.poll(now) {
            match played {
                Played::Began(turn) => {
                    if let Some(active) = self.turns.get(turn) {
                        active.began_at = Some(now);
                        active.barge_in.handle(now.into_std(), barge_in::Input::Audible);
                    }
                }
                Played::Sentence(turn, playing) => {
                    if let Some(active) = self.turns.get(turn) {
                        active.gate.send_modify(|gate| gate.playing = playing);
                    }
                }
                Played::Finished(turn) => {
                    let heard = self.playback.close(now, turn);
                    if let Some(active) = self.turns.get(turn) {
                        active.played(heard);
                    }
                    self.finish(turn, false);
                }
            }
        }
    }

    /// Books a turn of which everything is known.
    pub(super) fn finish(&mut self, turn: TurnId, aborted: bool) {
        let Some(active) = self.turns.take_ended(turn, aborted) else { return };
        let (now, taken_back) = (Instant::now(), active.taken_back);
        let purpose = active.purpose.clone();
        let spent = self.reports.spent();
        let ended =
            active.into_ended(|seat| self.seats[seat].cast(), self.hearing.recogniser(), spent);
        let seat = &mut self.seats[ended.seat];
        seat.engine.heard(&ended.heard);
        if taken_back {
            if let Some(line) = ended.line {
                self.reports.taken_back(line.outcome, line.stt == TurnLine::TYPED);
            }
            return self.warm_seat(ended.seat);
        }
        let HeardAloud { text, .. } = &ended.heard;
        if let Some(report) = ended.report.as_ref().filter(|_| ended.counts) {
            seat.conversation.add(report, text);
            self.summaries.due();
        }
        if !text.is_empty() {
            seat.has_spoken = true;
            seat.note_used(turn);
            let name = seat.npc.name.clone();
            if matches!(purpose.cause, Cause::Utterance) {
                let when = self.hearing.clock.moment(now);
                self.router.has_spoken(when, ended.seat, purpose.utterance.speaker);
            }
            for (index, other) in self.seats.iter_mut() {
                if index != ended.seat && self.router.scene.is_present(index) {
                    other.conversation.overhear(&name, text);
                }
            }
        }
        if let Some(line) = ended.line {
            let company = Company { speakers: &self.speakers, scene: &self.router.scene };
            self.reports.line(line, purpose.utterance.speaker, &company);
            if let Some(report) = ended.report.as_ref().filter(|_| ended.counts) {
                self.reports.recent.remembered(&report.said);
            }
        }
        self.warm_seat(ended.seat);
    }

    /// Has every seat prepare what it can.
    pub(super) fn warm(&self) {
        for index in self.seats.ids() {
            self.warm_seat(index);
        }
    }

    pub(super) fn warm_seat(&self, seat: SeatId) {
        let warming = self.seats[seat].engine.warm();
        let closed = self.closed.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = closed.cancelled() => {}
                () = warming => {}
            }
        });
    }

    /// Passes something a speaker did on to the NPC they may interrupt.
    pub(super) fn interrupt(
        &mut self,
        now: Instant,
        speaker: SpeakerId,
        input: barge_in::Input<'_>,
    ) {
        let Some(turn) = self.playback.current() else { return };
        let is_dm = self.speakers.is_dm(speaker);
        let Some(active) = self.turns.get(turn) else { return };
        if active.purpose.utterance.speaker != speaker && !is_dm {
            return;
        }
        let output = active.barge_in.handle(now.into_std(), input);
        let seat = active.purpose.seat;
        self.interrupted(now, seat, output);
    }

    /// False alarms end by time.
    pub(super) fn interrupt_on_time(&mut self, now: Instant) {
        if self.barge_in_wake_at().is_none_or(|at| now < at) {
            return;
        }
        let Some(turn) = self.playback.current() else { return };
        let Some(active) = self.turns.get(turn) else { return };
        let output = active.barge_in.handle(now.into_std(), barge_in::Input::Tick);
        let seat = active.purpose.seat;
        self.interrupted(now, seat, output);
    }

    pub(super) fn barge_in_wake_at(&self) -> Option<Instant> {
        let turn = self.playback.current()?;
        self.turns.peek(turn)?.barge_in.wake_at().map(Instant::from_std)
    }

    /// Whether a voice has made the NPC quieter and its silence matters too.
    pub(super) fn is_ducked_by(&self, speaker: SpeakerId) -> bool {
        self.barge_in_wake_at().is_some() && self.hearing.knows(speaker)
    }

    fn interrupted(&mut self, now: Instant, seat: SeatId, output: Option<barge_in::Output>) {
        match output {
            Some(barge_in::Output::Duck) => self.playback.duck(),
            Some(barge_in::Output::Swell) => self.playback.swell(),
            Some(barge_in::Output::Stop { reason }) => {
                tracing::debug!(?reason, npc = self.seats[seat].npc.name, "interrupted");
                self.silence(now, seat);
            }
            None => {}
        }
    }
}
