//! From a frame of sound to an utterance that is understood.
//!
//! **Never**: asks a model.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    SpeakerId, TurnLine,
    ears::Understood,
    lane::{Edge, Lane, LaneNews},
    line::{Outcome, Timings, between},
    stream::{Ear, LaneEvent},
    table::Table,
    turns::{Purpose, Utterance},
};
use crate::{
    engine::Cause,
    logic::{address::Why, barge_in, command, vad::Voicing},
    provider::{Error, Kind},
};

impl Table {
    /// Learns the names of who is at the table anew.
    pub(super) fn learn_names(&mut self) {
        self.ears.learn_names(&self.seats, &self.speakers.characters());
        self.expect_names();
    }

    /// Tells the recogniser which names it is likely to hear, if it can be told.
    pub(super) fn expect_names(&self) {
        self.stt.expect(&|| self.ears.expected(&self.seats, &self.speakers.characters()));
    }

    /// Takes 20 ms of one speaker.
    pub(super) fn frame(&mut self, speaker: SpeakerId, at: Instant, samples: Arc<[i16]>) {
        let now = Instant::now();
        self.sound.heard(at);
        // Sound comes later than the word that somebody has gone.
        if self.speakers.has_left(speaker) {
            return;
        }
        if !self.lanes.contains_key(&speaker) {
            self.lanes.retain(|_, lane| !lane.is_stale(now));
        }
        let lane = self
            .lanes
            .entry(speaker)
            .or_insert_with(|| Lane::new(speaker, self.options.patience, &*self.stt));
        lane.watch_voice(self.playback.current().is_some());
        let (stt, purse, news) = (&*self.stt, &self.purse, &self.lane_news);
        let mut ear = Ear { stt, purse, news, speaker, refused: None };
        let (voicing, edge) = lane.frame((now, at), &samples, &mut ear);
        if let Some(error) = ear.refused {
            self.not_heard(Utterance::unheard(speaker, now), &error);
        }
        if let Some(edge) = edge {
            self.edge(now, speaker, edge);
        }
        self.voice(now, speaker, voicing);
    }

    /// Ends utterances that silence has ended, and begins answers ahead of their final.
    pub(super) fn listen(&mut self, now: Instant) {
        let at = self.sound.time(now);
        let due = |lane: &&Lane| lane.is_due(now, at);
        let due: Vec<SpeakerId> = self.lanes.values().filter(due).map(|l| l.speaker).collect();
        for speaker in due {
            let Some(lane) = self.lanes.get_mut(&speaker) else { continue };
            let edge = lane.tick(now, at);
            let overdue = lane.overdue(now);
            let stable = lane.stable_partial(at);
            let unaddressed = lane.unaddressed(now);
            if let Some((utterance, why)) = unaddressed {
                self.said_to_nobody(utterance, why);
            }
            if let Some(edge) = edge {
                self.edge(now, speaker, edge);
            }
            if let Some((utterance, error)) = overdue {
                self.not_heard(utterance, &error);
            }
            if let Some(utterance) = stable {
                self.answer_ahead(utterance);
            }
        }
    }

    fn edge(&mut self, now: Instant, speaker: SpeakerId, edge: Edge) {
        match edge {
            Edge::Opened { continues } => {
                // What cannot be recognised takes nothing back.
                let open = self.lanes.get(&speaker).is_some_and(Lane::is_open);
                if continues && open {
                    let before = self.take_back(now, speaker);
                    if let Some(lane) = self.lanes.get_mut(&speaker) {
                        lane.continue_with(before);
                    }
                }
            }
            Edge::Closed => self.speech_ended(now, speaker),
            Edge::Blip => {
                let finalising = self.lanes.get(&speaker).is_some_and(Lane::is_finalising);
                if !finalising {
                    self.drop_ahead(now, speaker);
                }
                self.speech_ended(now, speaker);
            }
        }
    }

    /// Gives up the answer begun on a partial of `speaker`.
    pub(super) fn drop_ahead(&mut self, now: Instant, speaker: SpeakerId) {
        if let Some(turn) = self.lanes.get_mut(&speaker).and_then(|lane| lane.ahead.take()) {
            self.drop_turn(now, turn);
        }
    }

    pub(super) fn lane_event(&mut self, event: LaneEvent) {
        let now = Instant::now();
        let speaker = event.speaker;
        let Some(lane) = self.lanes.get_mut(&speaker) else { return };
        match lane.news(event, (now, self.sound.time(now)), self.ears.npc_names()) {
            LaneNews::Nothing => {}
            LaneNews::Partial => {
                let text = lane.partial().to_owned();
                self.drop_ahead(now, speaker);
                self.partial(now, speaker, &text);
            }
            LaneNews::Heard(utterance) => {
                self.interrupt(now, speaker, barge_in::Input::Final(&utterance.raw));
                self.hear(utterance);
            }
            LaneNews::Failed(utterance, error) => self.not_heard(utterance, &error),
        }
    }

    /// Somebody typed something: as good as heard.
    pub(super) fn typed(&mut self, speaker: SpeakerId, text: String) {
        self.hear(typed(speaker, text));
    }

    /// Somebody typed something to this NPC.
    pub(super) fn typed_to(&mut self, speaker: SpeakerId, seat: usize, text: String) {
        if !self.has_seat(seat) {
            return;
        }
        let mut utterance = typed(speaker, text);
        utterance.text = self.ears.correct(&utterance);
        let understood = match () {
            () if utterance.text.is_empty() => Understood::Nothing,
            () if command::is_x_card(&utterance.text) => Understood::Halt,
            () => self.addressed_to(seat, &utterance),
        };
        self.act_on(understood, utterance);
    }

    /// What something said to `seat` comes to.
    fn addressed_to(&mut self, seat: usize, utterance: &Utterance) -> Understood {
        let when = (self.queue_depth(), self.sound.moment(Instant::now()));
        let asked = &self.seats[seat];
        match (self.ears.scene.is_present(seat), asked.muted) {
            (false, _) => Understood::Nobody(Why::Absent(seat).to_string()),
            (true, true) => Understood::Nobody(Why::Muted(seat).to_string()),
            (true, false) => Understood::Addressed {
                seat,
                tier: self.ears.tier(&utterance.text, seat, asked, when),
            },
        }
    }

    /// An utterance is whole.
    pub(super) fn hear(&mut self, mut utterance: Utterance) {
        utterance.text = self.ears.correct(&utterance);
        let ahead = self.lanes.get_mut(&utterance.speaker).and_then(|lane| lane.ahead.take());
        let understood = self.understand(&utterance);
        tracing::trace!(
            pii_speaker = self.speakers.name(utterance.speaker),
            pii_heard = utterance.text,
            "utterance"
        );
        if let Some(turn) = ahead {
            if let Understood::Addressed { seat, ref tier, .. } = understood
                && self.confirm(turn, seat, tier, &utterance)
            {
                self.overhear(&utterance, Some(seat));
                return;
            }
            self.drop_turn(Instant::now(), turn);
        }
        self.act_on(understood, utterance);
    }

    fn act_on(&mut self, understood: Understood, utterance: Utterance) {
        match understood {
            Understood::Nothing => self.unanswered(utterance, Outcome::EmptyTranscript, None),
            Understood::Halt => self.halt_for(&utterance),
            Understood::Stop => {
                self.stop_for(utterance.speaker);
                self.unanswered(utterance, Outcome::Stopped, None);
            }
            Understood::Order(order) => {
                let detail = self.obey(utterance.speaker, order);
                self.unanswered(utterance, Outcome::Command, Some(detail));
            }
            Understood::Nobody(why) => {
                let now = Instant::now();
                let lane = self.lanes.get_mut(&utterance.speaker).filter(|_| !utterance.typed);
                if !lane.is_some_and(|lane| lane.keep_unaddressed(now, &utterance, &why)) {
                    self.said_to_nobody(utterance, why);
                }
            }
            Understood::Addressed { .. } if self.paused => {
                self.said_to_nobody(utterance, PAUSED.to_owned());
            }
            Understood::Addressed { seat, tier } => {
                self.overhear(&utterance, Some(seat));
                self.ask(Purpose { utterance, seat, tier, cause: Cause::Utterance });
            }
        }
    }

    /// Everyone present hears what was said to nobody.
    pub(super) fn said_to_nobody(&mut self, utterance: Utterance, why: String) {
        self.overhear(&utterance, None);
        self.unanswered(utterance, Outcome::NobodyAddressed, Some(why));
    }

    /// What an utterance means for this table now.
    pub(super) fn understand(&mut self, utterance: &Utterance) -> Understood {
        if utterance.text.trim().is_empty() {
            return Understood::Nothing;
        }
        if command::is_x_card(&utterance.text) || command::is_x_card(&utterance.raw) {
            return Understood::Halt;
        }
        if self.speakers.is_dm(utterance.speaker)
            && let Some(order) = self.ears.order(&utterance.raw)
        {
            return Understood::Order(order);
        }
        if barge_in::is_stop_word(&utterance.text, self.ears.npc_names()) {
            return Understood::Stop;
        }
        let depth = self.queue_depth();
        let when = self.sound.moment(Instant::now());
        self.ears.understand(utterance, &self.seats, &self.speakers, (depth, when))
    }

    /// Everyone present who is not addressed still hears it.
    fn overhear(&mut self, utterance: &Utterance, addressed: Option<usize>) {
        let speaker = self.speakers.called(utterance.speaker).to_owned();
        for (index, seat) in self.seats.iter_mut().enumerate() {
            if Some(index) != addressed && self.ears.scene.is_present(index) {
                seat.conversation.overhear(&speaker, &utterance.text);
            }
        }
    }

    /// Nobody has heard what `purpose` answers: its speaker goes on, and the whole is heard later.
    pub(super) fn unhear(&mut self, purpose: &Purpose) {
        let speaker = self.speakers.called(purpose.utterance.speaker).to_owned();
        for (index, seat) in self.seats.iter_mut().enumerate() {
            if index != purpose.seat && self.ears.scene.is_present(index) {
                seat.conversation.unhear(&speaker, &purpose.utterance.text);
            }
        }
    }

    /// The recogniser gave up.
    pub(super) fn not_heard(&mut self, mut utterance: Utterance, error: &Error) {
        utterance.text = utterance.raw.clone();
        self.drop_ahead(Instant::now(), utterance.speaker);
        let outcome = match error.kind() {
            Kind::OverBudget => Outcome::OverBudget,
            _ => Outcome::HearingError,
        };
        self.unanswered(utterance, outcome, Some(error.to_string()));
    }

    /// The line of an utterance that no NPC answers.
    pub(super) fn unanswered(
        &mut self,
        utterance: Utterance,
        outcome: Outcome,
        detail: Option<String>,
    ) {
        let speaker = utterance.speaker;
        let stt = self.heard_by(&utterance);
        let line = TurnLine {
            circumstances: utterance.circumstances(),
            heard: utterance.text,
            partials: utterance.partials,
            ms: Timings {
                speech_end_to_final: between(Some(utterance.speech_end), utterance.final_at),
                ..Timings::default()
            },
            stt,
            spent: self.purse.spent(),
            ..TurnLine::unanswered(outcome, detail)
        };
        self.line(line, speaker);
    }

    /// What has heard an utterance.
    pub(super) fn heard_by(&self, utterance: &Utterance) -> String {
        if utterance.typed { TurnLine::TYPED } else { self.stt.name() }.to_owned()
    }

    /// Voice of somebody who may interrupt the NPC that is heard.
    fn voice(&mut self, now: Instant, speaker: SpeakerId, voicing: Voicing) {
        if voicing.probable || voicing.voiced || self.is_ducked_by(speaker) {
            self.interrupt(now, speaker, barge_in::Input::Voice(voicing));
        }
    }

    fn partial(&mut self, now: Instant, speaker: SpeakerId, text: &str) {
        tracing::trace!(pii_speaker = self.speakers.name(speaker), pii_heard = text, "partial");
        self.interrupt(now, speaker, barge_in::Input::Partial(text));
    }

    fn speech_ended(&mut self, now: Instant, speaker: SpeakerId) {
        self.interrupt(now, speaker, barge_in::Input::SpeechEnded);
    }
}

/// What `speaker` typed, as an utterance.
fn typed(speaker: SpeakerId, text: String) -> Utterance {
    let now = Instant::now();
    Utterance { raw: text, typed: true, final_at: Some(now), ..Utterance::unheard(speaker, now) }
}

/// Why nobody answers while the table is paused.
const PAUSED: &str = "the table is paused";
