//! Reports of a table's utterances, and counts of them.
//!
//! Entry type: [`Reports`]. **Never**: decides what became of an utterance.

use std::sync::Arc;

use super::{
    events::{TableEvent, TableEvents},
    line::{Outcome, Timings, TurnLine, between},
    retraction::RecentLines,
    scene::Whereabouts,
    speakers::{SOMEBODY, SpeakerId, Speakers},
    statistics::Statistics,
    status::{Backlog, Unwritten},
    utterance::Utterance,
};
use crate::{engine::Budget, logic::command::is_x_card};

/// Detail of the line that an X-card gets.
const HALTED: &str =
    "everyone has stopped and is muted (the game master says \"everyone continue\" or unmutes all)";
/// Words in the line of an X-card that was said within a sentence.
const X_CARD: &str = "X-card";
/// Detail of the line of an exchange that an X-card took back.
const TAKEN_BACK: &str = "taken back";

/// Lines and notices on their way to the table's listeners.
pub struct Reports {
    events: TableEvents,
    /// Lines so far.
    lines: u64,
    /// Counts so far.
    pub statistics: Statistics,
    /// The newest lines, for taking them back.
    pub recent: RecentLines,
    budget: Budget,
    backlog: Backlog,
    /// Name of the recogniser.
    stt: String,
}

/// People and NPCs at the table when a line is published.
pub struct Company<'t> {
    /// The people, by name.
    pub speakers: &'t Speakers,
    /// The scene, with the NPCs in it.
    pub scene: &'t Whereabouts,
}

impl Reports {
    /// Reports without a line yet; `stt` is the recogniser's name.
    pub fn new(events: TableEvents, budget: Budget, backlog: Backlog, stt: &str) -> Self {
        Self {
            events,
            lines: 0,
            statistics: Statistics::default(),
            recent: RecentLines::default(),
            budget,
            backlog,
            stt: stt.to_owned(),
        }
    }

    /// Tells the listeners something.
    pub fn tell(&self, event: TableEvent) {
        self.events.tell(event);
    }

    /// Tells the game master something.
    pub fn notice(&self, text: String) {
        self.tell(TableEvent::Notice(text));
    }

    /// Tells the game master alone something.
    pub fn private(&self, text: String) {
        self.tell(TableEvent::Private(text));
    }

    /// Money spent in the session so far.
    pub fn spent(&self) -> f64 {
        self.budget.spent()
    }

    /// True if it is to be said aloud that a spending cap is reached: once.
    pub fn tells_of_stop(&self) -> bool {
        self.budget.tells_of_stop()
    }

    /// Lines that are not on the disk.
    pub fn unwritten(&self) -> Unwritten {
        self.backlog.count()
    }

    /// Name of the recogniser of an utterance, or "typed".
    pub fn understood_by(&self, typed: bool) -> &str {
        if typed { TurnLine::TYPED } else { &self.stt }
    }

    /// Puts a line into the report.
    pub fn line(&mut self, mut line: TurnLine, of: SpeakerId, at: &Company<'_>) {
        at.speakers.name(of).clone_into(&mut line.speaker);
        line.from = Some(of);
        let called = at.speakers.called(of).to_owned();
        line.circumstances.character = (called != line.speaker).then_some(called);
        line.circumstances.npcs = at.scene.present();
        line.circumstances.people = at.speakers.here();
        line.turn = self.lines + 1;
        self.recent.told(&line, at.speakers.side_line(of, &line.understood));
        self.line_as_it_is(line);
    }

    /// The line of an utterance that no NPC answers.
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
            stt: self.understood_by(utterance.typed).to_owned(),
            understood: utterance.text,
            spent: self.spent(),
            ..TurnLine::unanswered(outcome, detail)
        };
        self.line(line, speaker, at);
    }

    /// Publishes that somebody has said the X-card, without a speaker and without other words.
    pub fn halted(&mut self, utterance: &Utterance) {
        let is_alone = is_x_card(&utterance.text);
        let line = TurnLine {
            understood: if is_alone { utterance.text.clone() } else { X_CARD.to_owned() },
            stt: self.understood_by(utterance.typed).to_owned(),
            spent: self.spent(),
            ..TurnLine::unanswered(Outcome::Stopped, HALTED.to_owned())
        };
        self.line_of_nobody(line);
    }

    /// The line of an exchange that was taken back: it has no words.
    pub fn taken_back(&mut self, outcome: Outcome, typed: bool) {
        let (stt, spent) = (self.understood_by(typed).to_owned(), self.spent());
        let line = TurnLine { stt, spent, ..TurnLine::unanswered(outcome, TAKEN_BACK.to_owned()) };
        self.line_of_nobody(line);
    }

    /// Puts a line into the report whose speaker is nobody's business.
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
