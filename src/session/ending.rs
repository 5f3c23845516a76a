//! Ends of turns: played, interrupted, withdrawn, timed out, failed.

use tokio::time::Instant;

use super::{
    SeatId, SpeakerId, TurnStage,
    caller::OrderId,
    line::Outcome,
    reports::Company,
    table::Table,
    turns::Active,
    utterance::{Purpose, Utterance, Waiting},
};
use crate::{
    domain::{Tier, TurnId},
    engine::{Cause, PlayedPart},
    logic::{barge_in, prompt::SideLine},
    tools::framed_inline,
};

const SILENCED: &str = "the npc was silenced before it could answer";
const WITHDRAWN: &str = "the workflow or program that asked has gone";

impl Table {
    /// Drops a turn without storing or reporting it.
    pub(super) fn drop_turn(&mut self, now: Instant, turn: TurnId) {
        self.playback.close(now, turn);
        if let Some(active) = self.turns.get(turn) {
            active.withdraw(now);
        }
        self.finish(turn);
    }

    /// True if `speaker`, who speaks again after more than a pause, continues the previous
    /// utterance: no answer has reached them. Deep turns are not restarted; the speaker may just be
    /// waiting.
    pub(super) fn goes_on(&mut self, now: Instant, speaker: SpeakerId) -> bool {
        let Some(pipeline) = self.hearing.of(speaker) else { return false };
        let Some(end) = pipeline.last_end() else { return false };
        let mut turns = self.turns.all();
        pipeline.awaits_final()
            || turns.any(|turn| {
                let is_deep = turn.purpose.tier.effective == Tier::Deep;
                turn.gives_way_to(speaker, end, now) && !is_deep
            })
    }

    /// Withdraws the previous utterance of `speaker`, unless its answer has been audible for long
    /// enough to be understood.
    pub(super) fn take_back(&mut self, now: Instant, speaker: SpeakerId) -> Option<Utterance> {
        let pipeline = self.hearing.of(speaker)?;
        if let Some((utterance, _)) = pipeline.take_unaddressed() {
            return Some(utterance);
        }
        let end = pipeline.last_end()?;
        let of = |p: &Purpose| p.utterance.was_said_by(speaker, end);
        let waiting = self.seats.iter_mut().find_map(|(_, seat)| {
            let index = seat.waiting.iter().rposition(of)?;
            seat.waiting.remove(index)
        });
        if let Some(purpose) = waiting {
            self.take_back_from_others(&purpose);
            return Some(purpose.utterance);
        }
        let unplayed = self.turns.all().find(|turn| turn.gives_way_to(speaker, end, now))?;
        let (id, purpose) = (unplayed.id, unplayed.purpose.clone());
        self.drop_turn(now, id);
        self.take_back_from_others(&purpose);
        Some(purpose.utterance)
    }

    fn end_turn(&mut self, now: Instant, turn: TurnId, outcome: Outcome) {
        let played = self.playback.close(now, turn);
        if let Some(active) = self.turns.get(turn) {
            active.stop(now, outcome, played);
        }
        self.finish(turn);
    }

    /// Obeys a stop word: silences the NPCs that answer `speaker`, or all NPCs if it is the game
    /// master.
    pub(super) fn stop_for(&mut self, speaker: SpeakerId) {
        let now = Instant::now();
        let is_dm = self.speakers.is_dm(speaker);
        let theirs = |purpose: &Purpose| is_dm || purpose.utterance.speaker == speaker;
        for seat in self.seats.ids() {
            if self.turns.of_seat(seat).is_some_and(|turn| theirs(&turn.purpose)) {
                self.silence(now, seat);
            }
            self.give_up_those(seat, SILENCED, theirs);
        }
    }

    /// Takes back an order of a workflow or a program, and no other answer of `seat`.
    pub(super) fn withdraw_order(&mut self, seat: SeatId, order: OrderId) {
        if !self.seats.has(seat) {
            return;
        }
        let is_it = |purpose: &Purpose| purpose.utterance.order == Some(order);
        self.silence_those(seat, WITHDRAWN, is_it);
    }

    /// Silences `seat`, except for what workflows and programs have ordered.
    pub(super) fn silence_unordered(&mut self, seat: SeatId) {
        self.silence_those(seat, SILENCED, |purpose| !purpose.is_ordered());
    }

    fn silence_those(&mut self, seat: SeatId, why: &str, is_one: impl Fn(&Purpose) -> bool) {
        self.give_up_those(seat, why, &is_one);
        let is_its =
            |turn: &&Active| turn.purpose.seat == seat && turn.is_wanted() && is_one(&turn.purpose);
        let its: Vec<TurnId> = self.turns.all().filter(is_its).map(|turn| turn.id).collect();
        for turn in its {
            self.cut_off(Instant::now(), turn);
        }
    }

    /// Drops these requests from the queue of `seat`.
    fn give_up_those(&mut self, seat: SeatId, why: &str, is_one: impl Fn(&Purpose) -> bool) {
        let waiting = std::mem::take(&mut self.seats[seat].waiting);
        let (given_up, waiting) = waiting.into_iter().partition(is_one);
        self.seats[seat].waiting = waiting;
        self.give_up(given_up, why);
    }

    pub(super) fn give_up(&mut self, waiting: Waiting, why: &str) {
        for purpose in waiting {
            self.unanswered(purpose.utterance, Outcome::Cancelled, Some(why.to_owned()));
        }
    }

    /// Ends the turns of `seat` and drops its queue.
    pub(super) fn silence(&mut self, now: Instant, seat: SeatId) {
        let waiting = std::mem::take(&mut self.seats[seat].waiting);
        self.give_up(waiting, SILENCED);
        while let Some(turn) = self.turns.of_seat(seat) {
            let id = turn.id;
            self.cut_off(now, id);
        }
    }

    pub(super) fn cut_off(&mut self, now: Instant, turn: TurnId) {
        let began = self.turns.peek(turn).is_some_and(Active::is_audible);
        let outcome = if began { Outcome::Interrupted } else { Outcome::Cancelled };
        self.end_turn(now, turn, outcome);
    }

    /// Ends a turn whose sound is stuck: what left counts as played, the rest is dropped.
    pub(super) fn give_up_stuck(&mut self, now: Instant, turn: TurnId, is_first: bool) {
        if is_first && let Some(active) = self.turns.peek(turn) {
            let npc = &self.seats[active.purpose.seat].npc.name;
            self.reports.notice(format!(
                "{npc} could not be heard: the voice connection takes no sound (until it does, \
                 answers are dropped, not said later)"
            ));
        }
        let played = self.playback.close(now, turn);
        if let Some(active) = self.turns.get(turn) {
            let is_silent = played.audio.is_zero();
            if is_silent {
                active.not_audible();
            }
            let outcome = if is_silent { Outcome::Cancelled } else { Outcome::CutShort };
            active.stop(now, outcome, played);
        }
        self.finish(turn);
    }

    /// Next time at which an engine has owed sound for too long.
    pub(super) fn timeout_at(&self) -> Option<Instant> {
        self.turns.all().filter_map(|turn| self.times_out_at(turn)).min()
    }

    /// An engine owes sound only while all of its turn has been played.
    fn times_out_at(&self, turn: &Active) -> Option<Instant> {
        let since = self.playback.hungry_since(turn.id)?;
        turn.owes_since()
            .map(|start| since.map_or(start, |since| since.max(start)))
            .map(|since| since + self.options.turn_timeout)
    }

    /// Ends turns without sound for too long, and engines that ignored cancellation.
    pub(super) fn end_overdue(&mut self, now: Instant) {
        let late = |turn: &&Active| self.times_out_at(turn).is_some_and(|at| at <= now);
        let late: Vec<TurnId> = self.turns.all().filter(late).map(|turn| turn.id).collect();
        for turn in late {
            let began = self.turns.peek(turn).is_some_and(Active::is_audible);
            self.end_turn(now, turn, if began { Outcome::CutShort } else { Outcome::Timeout });
        }
        for turn in self.turns.kill_overdue(now) {
            self.finish(turn);
        }
    }

    pub(super) fn lost(&mut self, task: tokio::task::Id) {
        let Some(turn) = self.turns.of_task(task) else { return };
        if let Some(lost) = self.turns.peek(turn) {
            let npc = &self.seats[lost.purpose.seat].npc.name;
            let notice = format!("the answer of {npc} broke off: internal error (see the log)");
            self.reports.notice(notice);
        }
        self.end_turn(Instant::now(), turn, Outcome::ModelError);
        if let Some(lost) = self.turns.get(turn) {
            lost.aborted();
        }
        self.finish(turn);
    }

    pub(super) fn finish(&mut self, turn: TurnId) {
        let Some(mut finished) = self.turns.take_ended(turn) else { return };
        let basis = finished.basis.take();
        let (now, taken_back) = (Instant::now(), finished.taken_back);
        let purpose = finished.purpose.clone();
        self.tell_stage(turn, purpose.seat, TurnStage::Idle);
        // A dropped guess kept the seat busy.
        if let Some(pipeline) = self.hearing.of(purpose.utterance.speaker) {
            pipeline.offer_again();
        }
        let spent = self.reports.spent();
        let ended =
            finished.into_ended(|seat| self.seats[seat].cast(), &self.hearing.recogniser(), spent);
        for news in ended.report.iter().flat_map(|report| report.news.iter().cloned()) {
            self.reports.notice(news);
        }
        let seat = &mut self.seats[ended.seat];
        seat.engine.played(&ended.played);
        if taken_back {
            if let Some(line) = ended.line {
                self.reports.taken_back(line.outcome, &purpose.utterance);
            }
            return self.warm_seat(ended.seat);
        }
        let PlayedPart { text, .. } = &ended.played;
        if let Some(report) = ended.report.as_ref().filter(|_| ended.counts) {
            seat.conversation.add(report, text);
            seat.replaced.clone_from(&report.engine.because);
            if report.engine.spoke.is_some() {
                seat.other_voice.clone_from(&report.engine.other_voice);
            }
            self.summaries.due();
        }
        if !text.is_empty() {
            seat.has_spoken = true;
            let has_counted = seat.note_used(turn);
            let speaker = seat.npc.name.clone();
            // It may quote the person.
            let by = Some(self.speakers.person(purpose.utterance.speaker));
            let text = overheard(&purpose.cause, text);
            let line = SideLine { speaker, by, text, unanswered: false };
            if matches!(purpose.cause, Cause::Utterance) {
                let when = self.hearing.clock.moment(now);
                self.router.has_spoken(when, ended.seat, purpose.utterance.speaker);
            }
            for (index, other) in self.seats.iter_mut() {
                if index != ended.seat && self.router.scene.is_present(index) {
                    other.conversation.add_side_line(line.clone());
                }
            }
            if has_counted {
                self.tell_how_it_stands();
            }
        }
        if let Some(line) = ended.line {
            let company = Company { speakers: &self.speakers, scene: &self.router.scene };
            self.reports.answer(line, basis, purpose.utterance.speaker, &company);
            if let Some(report) = ended.report.as_ref().filter(|_| ended.counts) {
                self.reports.recent.remembered(&report.said);
            }
        }
        self.warm_seat(ended.seat);
    }

    /// Passes an event to the NPC that `speaker` may interrupt.
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
        let output = active.interrupt(now, input);
        let seat = active.purpose.seat;
        self.interrupted(now, seat, output);
    }

    /// Lets false alarms expire.
    pub(super) fn interrupt_on_time(&mut self, now: Instant) {
        if self.barge_in_wake_at().is_none_or(|at| now < at) {
            return;
        }
        let Some(turn) = self.playback.current() else { return };
        let Some(active) = self.turns.get(turn) else { return };
        let output = active.interrupt(now, barge_in::Input::Tick);
        let seat = active.purpose.seat;
        self.interrupted(now, seat, output);
    }

    pub(super) fn barge_in_wake_at(&self) -> Option<Instant> {
        let turn = self.playback.current()?;
        self.turns.peek(turn)?.interruption_at()
    }

    /// True if a voice has ducked the NPC and the silence of `speaker` matters.
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

/// An NPC's line for those who overhear it: words from outside are framed.
fn overheard(cause: &Cause, text: &str) -> String {
    match cause {
        Cause::Puppet { outside: true, .. } => framed_inline("workflow", text),
        _ => text.to_owned(),
    }
}
