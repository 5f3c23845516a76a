//! From a frame of sound to an understood utterance, and what follows from it. Guesses: see
//! `answering.rs`.

use tokio::time::Instant;

use super::{
    LiveEvent, Seat, SeatId, SpeakerId,
    caller::Caller,
    finals::Recognised,
    hearing::Broken,
    input::{Edge, FrameResult, VoiceFrame},
    line::Outcome,
    recogniser::{News, RecognitionEvent},
    recognition::Recognition,
    reports::Company,
    routing::{Situation, Understood},
    table::Table,
    utterance::{Purpose, Utterance, taken},
};
use crate::{
    domain::unframed,
    engine::Cause,
    logic::{address::Why, barge_in, spoken, vad::Voicing},
    provider::{Error, Kind},
};

impl Table {
    /// Passes likely names to the recogniser if it accepts hints.
    pub(super) fn expect_names(&self) {
        self.hearing.expect(&|| self.router.expected(&self.seats, &self.speakers.characters()));
    }

    pub(super) fn frame(&mut self, voice: &VoiceFrame) {
        let (now, speaker) = (Instant::now(), voice.speaker);
        self.hearing.clock.received(voice.at);
        // Sound may arrive after its speaker has left.
        if self.speakers.has_left(speaker) {
            return;
        }
        // The sound is older than the announcement of a service.
        if self.announced.is_after(voice.at.0) {
            return;
        }
        let Some(FrameResult { voicing, edge, refused }) = self.hearing.frame(now, voice) else {
            return;
        };
        if let Some(error) = refused {
            self.not_understood(Utterance::unknown(speaker, now), &error);
        }
        if let Some(edge) = edge {
            self.edge(now, speaker, edge);
        }
        if voicing.probable || voicing.voiced {
            self.music.voice(now);
        }
        self.voice(now, speaker, voicing);
    }

    /// A talk button was let go: the utterance ends without a wait for silence.
    pub(super) fn released(&mut self, speaker: SpeakerId) {
        let now = Instant::now();
        if let Some(edge) = self.hearing.release(now, speaker) {
            self.edge(now, speaker, edge);
        }
    }

    /// Processes ends by silence, late finals and stable partials.
    pub(super) fn listen(&mut self, now: Instant) {
        for speaker in self.hearing.due(now) {
            let Some(due) = self.hearing.tick(now, speaker) else { continue };
            if let Some((utterance, why)) = due.unaddressed {
                self.said_to_nobody(utterance, why);
            }
            if let Some(edge) = due.edge {
                self.edge(now, speaker, edge);
            }
            if let Some((utterance, error)) = due.overdue {
                self.unheard(utterance, &error);
            }
            if let Some(utterance) = due.unended {
                self.interrupt(now, speaker, barge_in::Input::Final(&utterance.raw));
                self.understood(utterance);
            }
            if let Some(utterance) = due.stable {
                self.answer_ahead(utterance);
            }
        }
    }

    fn edge(&mut self, now: Instant, speaker: SpeakerId, edge: Edge) {
        match edge {
            Edge::Opened { continues } => {
                // Sound that cannot be recognised withdraws nothing.
                let open = self.hearing.of(speaker).is_some_and(|it| it.open().is_some());
                if open && (continues || self.goes_on(now, speaker)) {
                    let before = self.take_back(now, speaker);
                    if let Some(pipeline) = self.hearing.of(speaker) {
                        pipeline.continue_with(before, !continues);
                    }
                }
            }
            Edge::Closed => self.speech_ended(now, speaker),
            Edge::Blip => {
                let finalising = self.hearing.of(speaker).is_some_and(|it| it.is_finalising());
                if !finalising {
                    self.drop_ahead(now, speaker);
                }
                self.speech_ended(now, speaker);
            }
        }
    }

    pub(super) fn drop_ahead(&mut self, now: Instant, speaker: SpeakerId) {
        if let Some(turn) = self.hearing.of(speaker).and_then(|pipeline| pipeline.ahead.take()) {
            self.drop_turn(now, turn);
        }
    }

    /// Drops the guess of `speaker` after a changed partial. A guess that answers the sound
    /// survives until the final if no voice followed.
    fn drop_ahead_of_words(&mut self, now: Instant, speaker: SpeakerId) {
        let Some(pipeline) = self.hearing.of(speaker) else { return };
        let voiced = pipeline.open().map(Recognition::voiced);
        let begun = pipeline.ahead.and_then(|turn| self.turns.peek(turn));
        let stands = begun.is_some_and(|turn| {
            let Purpose { seat, utterance, .. } = &turn.purpose;
            voiced == Some(utterance.voiced) && self.seats[*seat].engine.answers_sound()
        });
        if !stands {
            self.drop_ahead(now, speaker);
        }
    }

    pub(super) fn recognised(&mut self, speaker: SpeakerId, event: RecognitionEvent) {
        let now = Instant::now();
        let has_failed = matches!(event.news, News::Failed(_));
        match self.hearing.recognised(now, speaker, event, self.router.npc_names()) {
            Recognised::Nothing => {}
            Recognised::Partial(text) => {
                self.drop_ahead_of_words(now, speaker);
                self.partial(now, speaker, &text);
            }
            Recognised::Resumed => self.drop_ahead_of_words(now, speaker),
            Recognised::Understood(utterance) => {
                self.interrupt(now, speaker, barge_in::Input::Final(&utterance.raw));
                self.understood(utterance);
            }
            Recognised::Failed(utterance, error) => self.unheard(utterance, &error),
        }
        if has_failed {
            self.hearing.news().into_iter().for_each(|news| self.reports.notice(news));
        }
    }

    /// Reports an utterance that no recogniser could hear.
    fn unheard(&mut self, utterance: Utterance, error: &Error) {
        self.not_understood(utterance, error);
        // Missing weights were reported when the session opened.
        let is_known = matches!(error.kind(), Kind::OverBudget | Kind::Missing);
        if !is_known && self.hearing.goes_deaf() {
            self.reports.notice(format!("players are not understood for now: {error}"));
        }
    }

    pub(super) fn typed(&mut self, speaker: SpeakerId, text: String) {
        self.understood(typed(speaker, text));
    }

    pub(super) fn typed_to(&mut self, speaker: SpeakerId, seat: SeatId, text: String) {
        if !self.seats.has(seat) {
            return;
        }
        let mut utterance = typed(speaker, text);
        utterance.text = self.router.correct(&utterance);
        let understood = match utterance.x_card_at() {
            _ if utterance.text.is_empty() => Understood::Nothing,
            Some(at) => Understood::Halt(at),
            None => {
                let understood = self.addressed_to(seat, &utterance);
                self.or_wishes(understood, &utterance.text)
            }
        };
        self.tell_said(&understood, &utterance);
        self.grant_within(&understood, &mut utterance);
        self.act_on(understood, utterance);
    }

    /// A question of a workflow or a program outside: only words for this NPC, since some may have
    /// come from outside.
    pub(super) fn question(&mut self, caller: Caller, seat: SeatId, text: String) {
        if !self.seats.has(seat) {
            return;
        }
        let Caller { speaker, order } = caller;
        let mut utterance = Utterance { order: Some(order), ..typed(speaker, text) };
        utterance.text = utterance.raw.trim().to_owned();
        let understood = match utterance.text.is_empty() {
            true => Understood::Nothing,
            false => self.addressed_to(seat, &utterance),
        };
        self.act_on(understood, utterance);
    }

    fn addressed_to(&self, seat: SeatId, utterance: &Utterance) -> Understood {
        let situation = self.situation();
        match (self.router.scene.is_present(seat), self.seats[seat].muted) {
            (false, _) => Understood::Nobody(Why::Absent(seat.0).to_string()),
            (true, true) => Understood::Nobody(
                situation.card.map_or_else(|| Why::Muted(seat.0).to_string(), str::to_owned),
            ),
            (true, false) => Understood::Addressed {
                seat,
                tier: self.router.tier(&unframed(&utterance.text), seat, &self.seats, situation),
            },
        }
    }

    pub(super) fn understood(&mut self, mut utterance: Utterance) {
        if !utterance.typed && !utterance.raw.is_empty() && self.hearing.understands() {
            self.reports.notice("players are understood again".to_owned());
        }
        utterance.text = self.router.correct(&utterance);
        let ahead = self.hearing.of(utterance.speaker).and_then(|pipeline| pipeline.ahead.take());
        let understood = self.understand(&utterance);
        self.tell_said(&understood, &utterance);
        self.grant_within(&understood, &mut utterance);
        tracing::trace!(
            pii_speaker = self.speakers.name(utterance.speaker),
            pii_heard = utterance.text,
            "utterance"
        );
        if let Some(turn) = ahead {
            if let Understood::Addressed { seat, ref tier, .. } = understood
                && self.excess(utterance.speaker, seat).is_none()
                && self.confirm(turn, seat, tier, &utterance)
            {
                self.counts_for(utterance.speaker, seat);
                self.tell_others(&utterance, Some(seat));
                return;
            }
            self.drop_turn(Instant::now(), turn);
        }
        self.act_on(understood, utterance);
    }

    /// Publishes what was said at once; not the words of an X-card.
    fn tell_said(&self, understood: &Understood, utterance: &Utterance) {
        if !matches!(understood, Understood::Nothing | Understood::Halt(_)) {
            self.reports.said(utterance, &self.speakers);
        }
    }

    fn act_on(&mut self, understood: Understood, utterance: Utterance) {
        match understood {
            Understood::Nothing => self.unanswered(utterance, Outcome::EmptyTranscript, None),
            Understood::Halt(began) => {
                self.halt(began);
                self.reports.halted(&utterance);
            }
            Understood::Stop => {
                self.stop_for(utterance.speaker);
                self.unanswered(utterance, Outcome::Stopped, None);
            }
            Understood::CardEnds => {
                self.end_card(utterance.speaker);
                let detail = "the X-card is over: everyone it silenced may speak again";
                self.unanswered(utterance, Outcome::Command, Some(detail.to_owned()));
            }
            Understood::Order(order) => {
                let detail = self.obey(utterance.speaker, order);
                self.unanswered(utterance, Outcome::Command, Some(detail));
            }
            Understood::Music(wishes) => {
                let detail = self.grant(utterance.speaker, &utterance.text, wishes);
                self.unanswered(utterance, Outcome::Granted, Some(detail));
            }
            Understood::Nobody(why) => {
                let now = Instant::now();
                let pipeline = self.hearing.of(utterance.speaker).filter(|_| !utterance.typed);
                if !pipeline
                    .is_some_and(|pipeline| pipeline.keep_unaddressed(now, &utterance, &why))
                {
                    self.said_to_nobody(utterance, why);
                }
            }
            Understood::Addressed { .. } if self.paused.holds() => {
                self.said_to_nobody(utterance, PAUSED.to_owned());
            }
            Understood::Addressed { seat, tier } => {
                if let Some(excess) = self.excess(utterance.speaker, seat) {
                    return self.put_off(utterance, excess);
                }
                self.counts_for(utterance.speaker, seat);
                self.tell_others(&utterance, Some(seat));
                self.ask(Purpose { utterance, seat, tier, cause: Cause::Utterance });
            }
        }
    }

    /// Publishes an utterance without an addressee; everyone present receives it.
    pub(super) fn said_to_nobody(&mut self, utterance: Utterance, why: String) {
        self.tell_others(&utterance, None);
        self.unanswered(utterance, Outcome::NobodyAddressed, Some(why));
    }

    pub(super) fn understand(&self, utterance: &Utterance) -> Understood {
        if utterance.text.trim().is_empty() {
            return Understood::Nothing;
        }
        if let Some(began) = utterance.x_card_at() {
            return Understood::Halt(began);
        }
        let order = utterance.order();
        if self.speakers.is_dm(utterance.speaker)
            && let Some(order) = self.router.order(order)
        {
            return Understood::Order(order);
        }
        if let Some(end) = self.end_of_card(utterance) {
            return end;
        }
        let names = self.router.npc_names();
        if barge_in::is_stop_word(&utterance.text, names) || barge_in::is_stop_word(order, names) {
            return Understood::Stop;
        }
        let situation = self.situation();
        let understood = self.router.understand(utterance, &self.seats, &self.speakers, situation);
        self.or_wishes(understood, &utterance.text)
    }

    /// True if an NPC is present and not muted.
    pub(super) fn may_speak(&self, (id, seat): (SeatId, &Seat)) -> bool {
        self.router.scene.is_present(id) && !seat.muted
    }

    fn situation(&self) -> Situation {
        let now = self.hearing.clock.moment(Instant::now());
        Situation { queue_depth: self.queue_depth(), card: self.way_out_of_card(), now }
    }

    /// Adds a side line to everyone present but the addressee.
    pub(super) fn tell_others(&mut self, utterance: &Utterance, addressed: Option<SeatId>) {
        let line = self.speakers.side_line(utterance.speaker, &utterance.text);
        for (index, seat) in self.seats.iter_mut() {
            if Some(index) != addressed && self.router.scene.is_present(index) {
                seat.conversation.add_side_line(line.clone());
            }
        }
    }

    /// Removes the side lines of `purpose`, because the whole utterance follows later.
    pub(super) fn take_back_from_others(&mut self, purpose: &Purpose) {
        let line = self.speakers.side_line(purpose.utterance.speaker, &purpose.utterance.text);
        for (index, seat) in self.seats.iter_mut() {
            if index != purpose.seat && self.router.scene.is_present(index) {
                seat.conversation.remove_side_line(&line);
            }
        }
    }

    pub(super) fn not_understood(&mut self, mut utterance: Utterance, error: &Error) {
        utterance.text = utterance.raw.clone();
        self.drop_ahead(Instant::now(), utterance.speaker);
        let outcome = match error.kind() {
            Kind::OverBudget => Outcome::OverBudget,
            _ => Outcome::HearingError,
        };
        let speaker = utterance.speaker;
        self.unanswered(utterance, outcome, Some(error.to_string()));
        if outcome == Outcome::OverBudget && self.reports.tells_of_stop() {
            self.say_stopped(speaker);
        }
    }

    fn say_stopped(&mut self, speaker: SpeakerId) {
        let somebody = self.seats.iter().find(|it| self.may_speak(*it));
        let said = somebody.map(|(id, seat)| (id, spoken::spending_stop(&seat.npc.language)));
        if let Some((id, words)) = said {
            self.puppet(speaker, id, words.to_owned());
        }
    }

    pub(super) fn unanswered(
        &mut self,
        utterance: Utterance,
        outcome: Outcome,
        detail: Option<String>,
    ) {
        let company = Company { speakers: &self.speakers, scene: &self.router.scene };
        self.reports.unanswered(utterance, outcome, detail, &company);
    }

    fn voice(&mut self, now: Instant, speaker: SpeakerId, voicing: Voicing) {
        if voicing.probable || voicing.voiced || self.is_ducked_by(speaker) {
            self.interrupt(now, speaker, barge_in::Input::Voice(voicing));
        }
    }

    fn partial(&mut self, now: Instant, speaker: SpeakerId, text: &str) {
        tracing::trace!(pii_speaker = self.speakers.name(speaker), pii_heard = text, "partial");
        self.reports.live(|| LiveEvent::Partial {
            speaker: self.speakers.name(speaker).to_owned(),
            text: text.to_owned(),
        });
        self.interrupt(now, speaker, barge_in::Input::Partial(text));
    }

    pub(super) fn speech_ended(&mut self, now: Instant, speaker: SpeakerId) {
        self.interrupt(now, speaker, barge_in::Input::SpeechEnded);
    }

    /// Recovers from panics in speakers' pipelines: drops their current utterances and receives
    /// them again after a pause.
    pub(super) fn recover_broken(&mut self, now: Instant) {
        for broken in self.hearing.take_broken() {
            let Broken { speaker, fault, ahead, unaddressed } = broken;
            tracing::error!(session = %self.session, %fault, "hearing failed for a speaker");
            let carries_on = "hearing failed for one player, who is heard again now";
            if let Some(wait) = self.count(&fault, carries_on) {
                self.hearing.rest(now, speaker, now + wait);
            }
            if let Some(turn) = ahead {
                self.drop_turn(now, turn);
            }
            if let Some((utterance, why)) = unaddressed {
                self.said_to_nobody(utterance, why);
            }
            let error = Error::new(Kind::Unavailable, fault.to_string());
            self.not_understood(Utterance::unknown(speaker, now), &error);
            // The speaker's voice may have ducked an NPC.
            self.speech_ended(now, speaker);
        }
    }
}

fn typed(speaker: SpeakerId, text: String) -> Utterance {
    let (raw, now) = (taken(&text), Instant::now());
    Utterance { raw, typed: true, final_at: Some(now), ..Utterance::unknown(speaker, now) }
}

/// Detail of utterances while the table is paused.
const PAUSED: &str = "the table is paused (use /resume or the Resume button)";
