//! Reports of a table's utterances, and counts of them.
//!
//! Entry type: [`Reports`].

use std::sync::Arc;

use super::{
    events::{LiveEvent, TableEvent, TableEvents, UnderstoodLine},
    explanations::{Basis, Explanations},
    line::{AskedId, Circumstances, Outcome, Timings, TurnLine, between},
    retraction::{Card, RecentLines},
    scene::Whereabouts,
    seats::Seats,
    speakers::{SOMEBODY, SpeakerId, Speakers},
    statistics::Statistics,
    status::{Backlog, Unwritten},
    utterance::Utterance,
};
use crate::{
    domain::{PersonId, unframed},
    engine::Budget,
    logic::command::is_x_card,
};

const HALTED: &str =
    "everyone has stopped and is muted (the game master says \"everyone continue\" or unmutes all)";
/// Text of an X-card that was part of a sentence.
const X_CARD: &str = "X-card";
const TAKEN_BACK: &str = "taken back";

pub struct Reports {
    events: TableEvents,
    lines: u64,
    pub statistics: Statistics,
    pub recent: RecentLines,
    budget: Budget,
    backlog: Backlog,
    stt: String,
    explanations: Option<Explanations>,
}

pub struct Company<'t> {
    pub speakers: &'t Speakers,
    pub scene: &'t Whereabouts,
}

impl Company<'_> {
    /// Adds the speaker, and everyone present.
    fn describe(&self, line: &mut TurnLine, of: SpeakerId) {
        self.speakers.name(of).clone_into(&mut line.speaker);
        line.from = Some(of);
        let called = self.speakers.called(of).to_owned();
        line.circumstances.character = (called != line.speaker).then_some(called);
        line.circumstances.npcs = self.scene.present();
        line.circumstances.people = self.speakers.here();
    }
}

impl Reports {
    pub fn new(events: TableEvents, budget: Budget, backlog: Backlog, stt: &str) -> Self {
        Self {
            events,
            lines: 0,
            statistics: Statistics::default(),
            recent: RecentLines::default(),
            budget,
            backlog,
            stt: stt.to_owned(),
            explanations: None,
        }
    }

    /// Explains answers, unless `None`.
    pub fn explained_by(self, explanations: Option<Explanations>) -> Self {
        Self { explanations, ..self }
    }

    pub fn explanations(&self) -> Option<Explanations> {
        self.explanations.clone()
    }

    pub fn tell(&self, event: TableEvent) {
        self.events.tell(event);
    }

    /// Publishes a change within an utterance or a turn.
    pub fn live(&self, event: impl FnOnce() -> LiveEvent) {
        self.events.tell_live(event);
    }

    pub fn notice(&self, text: String) {
        self.tell(TableEvent::Notice(text));
    }

    pub fn private(&self, text: String) {
        self.tell(TableEvent::Private(text));
    }

    /// Publishes an understood utterance before it is answered.
    pub fn said(&self, utterance: &Utterance, speakers: &Speakers) {
        self.tell(TableEvent::Said(Arc::new(UnderstoodLine {
            speaker: speakers.name(utterance.speaker).to_owned(),
            by: speakers.person(utterance.speaker),
            text: utterance.text.clone(),
            began: utterance.began,
        })));
    }

    /// Publishes the words of an utterance that `npc` is about to answer, once, to be stored.
    pub fn asked(&self, utterance: &mut Utterance, npc: &str, at: &Company<'_>) {
        if utterance.text.is_empty() || utterance.asked.is_some() {
            return;
        }
        utterance.asked = Some(AskedId::next());
        let mut line = TurnLine {
            circumstances: utterance.circumstances(),
            npc: Some(npc.to_owned()),
            stt: utterance.source(&self.stt).to_owned(),
            understood: unframed(&utterance.text),
            ..TurnLine::unanswered(Outcome::Cancelled, None::<String>)
        };
        at.describe(&mut line, utterance.speaker);
        self.tell(TableEvent::Asked(Arc::new(line)));
    }

    pub fn spent(&self) -> f64 {
        self.budget.spent()
    }

    /// True once, when a spending cap is reached and an NPC should say so.
    pub fn tells_of_stop(&self) -> bool {
        self.budget.tells_of_stop()
    }

    pub fn unwritten(&self) -> Unwritten {
        self.backlog.count()
    }

    /// Publishes an answer, and keeps its `basis` to explain it.
    pub fn answer(
        &mut self,
        line: TurnLine,
        basis: Option<Basis>,
        of: SpeakerId,
        at: &Company<'_>,
    ) {
        if let (Some(explanations), Some(basis)) = (&self.explanations, basis) {
            explanations.add(basis.explain(self.lines + 1, &line));
        }
        self.line(line, of, at);
    }

    /// Forgets a person's lines, and all explanations.
    pub fn forget(&mut self, person: &PersonId) {
        self.recent.forget(person);
        self.explanations.iter().for_each(Explanations::clear);
    }

    /// Takes back the exchange that `card` refers to and everything since; returns the numbers of
    /// its lines.
    pub fn take_back(&mut self, card: Card, seats: &mut Seats) -> Vec<u64> {
        let lines = self.recent.take_back(card, seats);
        self.explanations.iter().for_each(|it| it.take_back(&lines));
        lines
    }

    fn line(&mut self, mut line: TurnLine, of: SpeakerId, at: &Company<'_>) {
        at.describe(&mut line, of);
        line.turn = self.lines + 1;
        self.recent.told(&line, at.speakers.side_line(of, &line.understood));
        // Frames are for models; people read the words.
        line.understood = unframed(&line.understood);
        self.line_as_it_is(line);
    }

    pub fn unanswered(
        &mut self,
        utterance: Utterance,
        outcome: Outcome,
        detail: Option<String>,
        at: &Company<'_>,
    ) {
        let speaker = utterance.speaker;
        let line = TurnLine {
            circumstances: utterance.circumstances(),
            partials: utterance.partials,
            ms: Timings {
                speech_end_to_final: between(Some(utterance.speech_end), utterance.final_at),
                ..Timings::default()
            },
            stt: utterance.source(&self.stt).to_owned(),
            understood: utterance.text,
            spent: self.spent(),
            ..TurnLine::unanswered(outcome, detail)
        };
        self.line(line, speaker, at);
    }

    /// Publishes an X-card without its speaker and other words.
    pub fn halted(&mut self, utterance: &Utterance) {
        let is_alone = is_x_card(&utterance.text);
        let line = TurnLine {
            understood: if is_alone { utterance.text.clone() } else { X_CARD.to_owned() },
            stt: utterance.source(&self.stt).to_owned(),
            spent: self.spent(),
            ..TurnLine::unanswered(Outcome::Stopped, HALTED.to_owned())
        };
        self.line_of_nobody(line);
    }

    /// Publishes an exchange that was taken back, without its words.
    pub fn taken_back(&mut self, outcome: Outcome, utterance: &Utterance) {
        let (stt, spent) = (utterance.source(&self.stt).to_owned(), self.spent());
        let circumstances = Circumstances { asked: utterance.asked, ..Circumstances::default() };
        let line = TurnLine {
            stt,
            spent,
            circumstances,
            ..TurnLine::unanswered(outcome, TAKEN_BACK.to_owned())
        };
        self.line_of_nobody(line);
    }

    /// Publishes a line without its speaker.
    fn line_of_nobody(&mut self, mut line: TurnLine) {
        SOMEBODY.clone_into(&mut line.speaker);
        self.line_as_it_is(line);
    }

    fn line_as_it_is(&mut self, mut line: TurnLine) {
        self.lines += 1;
        line.turn = self.lines;
        self.statistics.add(&line);
        self.tell(TableEvent::Line(Arc::new(line)));
    }
}
