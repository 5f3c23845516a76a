//! From an understood utterance to a played answer.
//!
//! Speculation: in a pause of at least 100 ms (40 ms if the partial was stable before the voice
//! ended), once a partial reads finished or has been stable for 150 ms (`recognition.rs`),
//! [`Table::answer_ahead`] starts the engine on it if the addressee is clear and free. Such a guess
//! runs with a closed [`Gate`], and playback holds its frames. The final decides
//! ([`Table::understood`]): the guess is confirmed and its frames are released if the final goes to
//! the same seat at the same tier with the same words and dice. An engine that answers the sound
//! also keeps the guess for the same sound in other words. Anything else, such as more speech, a
//! changed partial or a failed final, drops the guess without a trace; a final without a guess
//! starts an ordinary turn. Each player's guesses per minute are limited (`limits.rs`) because they
//! cost money.

use std::{collections::VecDeque, sync::Arc};

use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    LiveEvent, SeatId, SpeakerId, TurnStage,
    overrides::{SeatCeiling, TurnTier},
    playback::Played,
    recall::{Question, RecallTold},
    reports::Company,
    routing::{Understood, same_words},
    seat::{Next, Seat},
    segment::QueuePosition,
    table::Table,
    traced,
    turns::EngineHandle,
    utterance::{Purpose, Utterance},
    wanted_dice::WantedDice,
};
use crate::{
    domain::{Npc, TurnFacts, TurnId, unframed},
    engine::{Cause, Gate, PromptRecord, Recall, ReplyPort, Setting, Turn},
    logic::{music::MusicWish, own_lines::Labels},
};

impl Table {
    /// Queues a request at its seat, in order of end of speech. Publishes typed words, which nothing
    /// continues; spoken ones follow with [`Self::publish_heard`].
    pub(super) fn ask(&mut self, mut purpose: Purpose) {
        if let Some(seat) = self.seats.get_mut(purpose.seat) {
            if purpose.utterance.typed {
                let company = Company { speakers: &self.speakers, scene: &self.router.scene };
                self.reports.asked(&mut purpose.utterance, &seat.npc.name, &company);
            }
            let end = purpose.utterance.speech_end;
            let later = |waiting: &Purpose| waiting.utterance.speech_end > end;
            let at = seat.waiting.iter().position(later).unwrap_or(seat.waiting.len());
            seat.waiting.insert(at, purpose);
        }
    }

    /// Publishes spoken words once more speech would interrupt their answer. Until then more speech
    /// takes them back and continues them, and a stored line can't be continued.
    fn publish_heard(&mut self, now: Instant) {
        let company = Company { speakers: &self.speakers, scene: &self.router.scene };
        for turn in self.turns.iter().filter(|turn| turn.is_heard(now) && !turn.taken_back) {
            let Purpose { utterance, seat, .. } = &mut turn.purpose;
            self.reports.asked(utterance, &self.seats[*seat].npc.name, &company);
        }
    }

    /// Starts the next answer of every free seat.
    pub(super) fn begin_waiting(&mut self) {
        for index in self.seats.ids() {
            if self.turns.is_busy(index) {
                continue;
            }
            if let Some(next) = self.next_change(index) {
                self.go_on(index, next);
            }
            if let Some(mut purpose) = self.seats[index].take_next(self.paused.holds()) {
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

    /// The pending change of a free seat, unless an utterance from before its services were
    /// announced is still to be answered by the previous engine.
    fn next_change(&mut self, index: SeatId) -> Option<Next> {
        let seat = &mut self.seats[index];
        let is_early = |it: &Purpose| self.announced.is_after(it.utterance.speech_end);
        let waits = seat.waiting.iter().any(is_early);
        seat.next.take_if(|next| !(waits && matches!(next, Next::Recast(_))))
    }

    /// Number of players who wait for an answer to become audible.
    pub(super) fn queue_depth(&self) -> usize {
        let waiting = self.seats.iter().flat_map(|(_, seat)| &seat.waiting);
        let mut players: Vec<SpeakerId> = waiting.map(|p| p.utterance.speaker).collect();
        let silent = self.turns.all().filter(|turn| turn.is_thinking());
        players.extend(silent.map(|turn| turn.purpose.utterance.speaker));
        players.sort_unstable();
        players.dedup();
        players.len()
    }

    /// Starts the engine; playback holds unconfirmed turns.
    fn begin(&mut self, purpose: Purpose, confirmed: bool) -> TurnId {
        self.summaries.give_way();
        let id = self.turns.next_id();
        let (index, is_cold) = (purpose.seat, self.is_cold(purpose.seat));
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
            self.answer_begins(id, &purpose);
        }
        let (recall, recalled) = self.recall(&purpose).unzip();
        let labels = self.labels(purpose.seat);
        let facts = Arc::new(self.facts(&purpose));
        let seat = &mut self.seats[purpose.seat];
        let (gate, gate_in) = watch::channel(Gate { confirmed, playing: 0 });
        let cancel = CancellationToken::new();
        let turn = Arc::new(Turn {
            session: self.session.clone(),
            id,
            facts,
            final_words: Arc::default(),
            setting: Setting {
                scene: self.router.scene.location().map(str::to_owned),
                time_of_day: self.router.scene.time_of_day().map(str::to_owned),
                note,
            },
            audio: Arc::clone(&purpose.utterance.audio),
            recall,
            cause: purpose.cause.clone(),
            labels: Arc::new(labels),
            conversation: seat.conversation.excerpt(&self.host),
            tier,
            tier_is_asked: purpose.tier.is_asked(),
            tools: self.host.visible(&seat.npc.name, tier, tier.ceiling()),
            gate: gate_in,
            cancel: cancel.clone(),
            effects: Arc::clone(&self.effects),
            prompt: self.reports.explanations().map(|_| PromptRecord::default()),
            trace: self.traces.begin(&self.session.0),
        });
        let reply = seat.engine.start(Arc::clone(&turn), ReplyPort::new(id, self.replies.clone()));
        let logged = traced::logged(&turn.trace);
        let abort = self.turns.tasks.spawn(async move { (id, reply.await) }.instrument(logged));
        self.turns.add(id, purpose, EngineHandle { turn, gate, cancel, abort });
        if let Some(active) = self.turns.get(id) {
            active.recalled = recalled;
        }
        if is_cold {
            // Beside the model's answer.
            self.warm_seat(index);
        }
        id
    }

    fn facts(&mut self, purpose: &Purpose) -> TurnFacts {
        let utterance = &purpose.utterance;
        let WantedDice { rolls, odds, last, withheld } = self.wanted_dice(purpose.seat, utterance);
        let names = self.router.npc_names();
        let words = unframed(&utterance.text);
        let wishes = self.music.wishes(&words, names);
        TurnFacts {
            speaker: self.speakers.called(utterance.speaker).to_owned(),
            by: Some(self.speakers.person(utterance.speaker)),
            utterance: utterance.text.clone(),
            dice: rolls,
            odds,
            last,
            dice_withheld: withheld,
            stops_music: wishes == [MusicWish::Stop],
            language: self.speakers.language(utterance.speaker, &words),
        }
    }

    /// Dice that `utterance`, addressed to `seat`, asks for.
    fn wanted_dice(&self, seat: SeatId, utterance: &Utterance) -> WantedDice {
        let by = self.speakers.person(utterance.speaker);
        let Seat { npc, conversation, .. } = &self.seats[seat];
        WantedDice::of(&unframed(&utterance.text), &by, conversation, names_of(npc))
    }

    /// Labels that `seat`'s NPC may put before a line: names of the cast, of the campaign's people
    /// and of all known players.
    fn labels(&self, seat: SeatId) -> Labels {
        let players = self.speakers.everybody();
        let npcs = self.seats.iter().flat_map(|(_, seat)| names_of(&seat.npc));
        let players = players.iter().map(String::as_str);
        let all: Vec<&str> = npcs.chain(players).chain(self.router.people()).collect();
        Labels::new(all, names_of(&self.seats[seat].npc))
    }

    fn recall(&self, purpose: &Purpose) -> Option<(Recall, RecallTold)> {
        let recaller = self.recaller.as_ref()?;
        if !matches!(purpose.cause, Cause::Utterance) {
            return None;
        }
        let seat = &self.seats[purpose.seat];
        let said = unframed(&purpose.utterance.text);
        let question = Question::new(&seat.npc, &said, seat.conversation.messages());
        Some(recaller.recall(question, self.options.recall_timeout))
    }

    /// Records tier and time of an answer to an utterance once it is certain.
    fn answer_begins(&mut self, turn: TurnId, purpose: &Purpose) {
        self.tell_stage(turn, purpose.seat, TurnStage::Thinking);
        if matches!(purpose.cause, Cause::Utterance) {
            let now = self.hearing.clock.moment(Instant::now());
            self.seats[purpose.seat].last_tier = Some(purpose.tier.line());
            if self.router.begins(now, purpose.seat, purpose.tier.effective) {
                self.tell_how_it_stands();
            }
        }
    }

    /// Publishes how far a turn has come.
    pub(super) fn tell_stage(&self, turn: TurnId, seat: SeatId, stage: TurnStage) {
        let npc = || self.seats[seat].npc.name.clone();
        self.reports.live(|| LiveEvent::Turn { turn, npc: npc(), stage });
    }

    /// Starts a guess on a partial if the addressee is clear and free.
    pub(super) fn answer_ahead(&mut self, mut utterance: Utterance) {
        if self.paused.holds() || !self.options.preemptive || !self.hearing.gives_partials() {
            return;
        }
        utterance.text = self.router.correct(&utterance);
        let speaker = utterance.speaker;
        let understood = self.understand(&utterance);
        self.leave_wishes_out(&understood, &mut utterance);
        // The previous guess was for other words.
        let begun = self.hearing.of(speaker).and_then(|pipeline| pipeline.ahead);
        if let Some(begun) = begun.and_then(|turn| self.turns.peek(turn)) {
            if understood.is_same_request(&begun.purpose) {
                return;
            }
            self.drop_ahead(Instant::now(), speaker);
        }
        let Understood::Addressed { seat, tier } = understood else { return };
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

    /// Confirms a guess if the final agrees with it (see the head of this file). Dice are compared
    /// with earlier rolls in mind, because the model was given the rolls to make.
    pub(super) fn confirm(
        &mut self,
        turn: TurnId,
        seat: SeatId,
        tier: &TurnTier,
        utterance: &Utterance,
    ) -> bool {
        let Some(active) = self.turns.peek(turn) else { return false };
        let begun = &active.purpose;
        if active.has_failed() || begun.seat != seat || begun.tier.effective != tier.effective {
            return false;
        }
        let by_sound = !same_words(&begun.utterance.text, &utterance.text);
        if by_sound
            && (!self.seats[seat].engine.answers_sound()
                || !begun.utterance.has_the_voice_of(utterance))
        {
            return false;
        }
        if !self.wanted_dice(seat, utterance).is_in(active.facts()) {
            return false;
        }
        let Some(active) = self.turns.get(turn) else { return false };
        let now = Instant::now();
        active.confirm(now, utterance.clone(), by_sound);
        let purpose = active.purpose.clone();
        self.playback.release(turn);
        self.answer_begins(turn, &purpose);
        true
    }

    /// Hands over due frames; a game master's words interrupt other speech.
    pub(super) fn play(&mut self, now: Instant) {
        if let Some(turn) = self.playback.in_the_way() {
            self.cut_off(now, turn);
        }
        for played in self.playback.poll(now) {
            match played {
                Played::Began(turn) => {
                    self.turns.began(turn, now, self.hearing.gives_partials());
                    if let Some(active) = self.turns.peek(turn) {
                        self.tell_stage(turn, active.purpose.seat, TurnStage::Speaking);
                    }
                }
                Played::Sentence(turn, playing) => {
                    if let Some(active) = self.turns.get(turn) {
                        active.gate.send_modify(|gate| gate.playing = playing);
                    }
                }
                Played::Finished(turn) => {
                    let played = self.playback.close(now, turn);
                    if let Some(active) = self.turns.get(turn) {
                        active.played(now, played);
                    }
                    self.finish(turn);
                }
                Played::Stuck { turn, is_first } => self.give_up_stuck(now, turn, is_first),
            }
        }
        self.publish_heard(now);
    }

    /// Prepares the seats of a new table. If its first answer may wait, free voices are loaded when
    /// their NPCs are asked: a local model takes tens of megabytes.
    pub(super) fn warm_first(&self) {
        for index in self.seats.ids().into_iter().filter(|index| !self.is_cold(*index)) {
            self.warm_seat(index);
        }
    }

    /// True if a seat is not prepared because its NPC has not been asked.
    fn is_cold(&self, seat: SeatId) -> bool {
        let Seat { engine, last_tier, .. } = &self.seats[seat];
        !self.is_heard && last_tier.is_none() && !engine.costs()
    }

    pub(super) fn warm(&self) {
        for index in self.seats.ids() {
            self.warm_seat(index);
        }
    }

    pub(super) fn warm_seat(&self, seat: SeatId) {
        let Seat { engine, conversation, .. } = &self.seats[seat];
        let warming = engine.warm(conversation.excerpt(&self.host));
        let closed = self.closed.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = closed.cancelled() => {}
                () = warming => {}
            }
        });
    }

    /// Sends sound of unfinished utterances to voice models: that of one speaker, to the NPC that
    /// they talk to unless they call another one. Withdraws it if it turns out to be for others.
    pub(super) fn pass_sound_on(&mut self, now: Instant) {
        for id in self.seats.ids() {
            if !self.seats[id].engine.receives_ahead() {
                continue;
            }
            if self.turns.is_busy(id) {
                // The turn has taken its sound.
                self.seats[id].sounding = None;
                continue;
            }
            let before = self.seats[id].sounding;
            let speaker = self.speaker_to(id, before, now);
            self.seats[id].sounding = speaker;
            if before.is_some() && speaker != before {
                self.seats[id].engine.receive(&VecDeque::new());
            }
            let Some(speaker) = speaker else { continue };
            if before != Some(speaker) {
                // Its session may have been closed.
                self.warm_seat(id);
            }
            if let Some(sound) = self.hearing.sound_of(speaker) {
                self.seats[id].engine.receive(sound);
            }
        }
    }

    /// A speaker who probably talks to `seat`; prefers `before`.
    fn speaker_to(
        &self,
        seat: SeatId,
        before: Option<SpeakerId>,
        now: Instant,
    ) -> Option<SpeakerId> {
        let now = self.hearing.clock.moment(now);
        let listens = |speaker: &SpeakerId| {
            let listener = self.router.listener(*speaker, &self.seats, &self.speakers, now);
            !self.paused.holds() && listener == Some(seat)
        };
        let goes_on = before.filter(|it| self.hearing.is_hearing(*it)).filter(listens);
        goes_on.or_else(|| self.hearing.sounding().find(listens))
    }
}

/// Names that may label a line of `npc`.
fn names_of(npc: &Npc) -> impl Iterator<Item = &str> {
    std::iter::once(&npc.name).chain(&npc.aliases).map(String::as_str)
}
