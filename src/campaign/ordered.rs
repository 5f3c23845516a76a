//! Lines that workflows and programs outside order from an NPC; each ends with what was heard. The
//! line that ends an order names it.
//!
//! Entry type: [`OrderedLine`]. Dropping the future of an order takes it back: the NPC stops saying
//! it, and its other answers go on.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use super::link::{TableGone, TableLink};
use crate::{
    domain::{DATA_NOTE, redact::without_credentials},
    logic::words::shortened,
    session::{
        Caller, Command, LONGEST_UTTERANCE, OrderId, Outcome, Seated, SpeakerId, Status,
        TableEvent, TurnLine,
    },
    tools::framed_inline,
};

/// Longest wait for a line: longer than the longest text takes to say.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

/// Longest question with words from outside, in characters, without the note that follows: a prompt
/// cuts the end off longer ones, with the end of a frame.
pub const QUESTION_MAX: usize = 1_800;
/// Length of a frame around such words.
const FRAME: usize = 40;

/// `text` from `source` in a frame, shortened so that both fit into `room` characters.
pub fn framed_within(source: &str, text: &str, room: usize) -> String {
    framed_inline(source, &shortened(text, room.saturating_sub(FRAME)))
}

/// A program's question, as a model reads it. The program may pass on words of others, so the
/// frame taints the conversation.
pub fn framed_question(text: &str) -> String {
    framed_within("program", text, QUESTION_MAX) + DATA_NOTE
}

/// An order to one NPC at a table.
pub struct OrderedLine<'a> {
    pub link: &'a TableLink,
    /// X-cards used so far; a later one withdraws the order.
    pub halts: u64,
    pub seated: Seated,
    /// The speaker that the table records.
    pub speaker: SpeakerId,
}

/// Reason why an ordered line has not ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error(transparent)]
    Gone(#[from] TableGone),
    #[error("an X-card was used")]
    XCard,
    /// An X-card keeps NPCs silent; the text is the way out.
    #[error("{0}")]
    Carded(&'static str),
    #[error("{0} is muted (/npc unmute {0} ends that)")]
    Muted(String),
    #[error("the npc has left the table")]
    Left,
    #[error("the text is empty")]
    Empty,
    #[error("the text is longer than {LONGEST_UTTERANCE} bytes")]
    TooLong,
    #[error("the line did not end within 20 minutes")]
    Late,
}

impl OrderedLine<'_> {
    /// Makes the NPC say `text` verbatim; `outside`: some of it came from outside.
    pub async fn say(&self, text: &str, outside: bool) -> Result<Arc<TurnLine>, LineError> {
        let text = without_credentials(text);
        if text.trim().is_empty() {
            return Err(LineError::Empty);
        }
        let status = self.link.status(self.halts).await.map_err(|gone| self.ended(gone))?;
        if let Some(why) = silenced(&status, &self.seated) {
            return Err(why);
        }
        let (caller, seat) = (Caller::new(self.speaker), self.seated.seat);
        self.carried_out(caller.order, Command::Recite { caller, seat, text, outside }).await
    }

    /// Makes the NPC answer `text`.
    pub async fn ask(&self, text: &str) -> Result<Arc<TurnLine>, LineError> {
        let text = without_credentials(text);
        if text.trim().is_empty() {
            return Err(LineError::Empty);
        }
        if text.len() > LONGEST_UTTERANCE {
            return Err(LineError::TooLong);
        }
        let (caller, seat) = (Caller::new(self.speaker), self.seated.seat);
        self.carried_out(caller.order, Command::Question { caller, seat, text }).await
    }

    /// Gives the order `id`, and waits for the line that ends it.
    async fn carried_out(&self, id: OrderId, order: Command) -> Result<Arc<TurnLine>, LineError> {
        let withdraws = Withdraws { ordered: self, order: id, is_over: false };
        let line = self.line(id, order).await;
        if line.as_ref().err() != Some(&LineError::Late) {
            withdraws.over();
        }
        if let Ok(line) = &line
            && failure(line).is_some()
        {
            let (npc, why) = (&self.seated.npc.name, line.detail.as_deref().unwrap_or_default());
            tracing::warn!(npc, why, "an NPC could not say an ordered line to its end");
        }
        line
    }

    async fn line(&self, id: OrderId, order: Command) -> Result<Arc<TurnLine>, LineError> {
        let ended = |gone| self.ended(gone);
        let mut events = self.link.events()?;
        self.link.send(self.halts, order).await.map_err(ended)?;
        // A table ignores orders for an NPC that has left meanwhile.
        let status = self.link.status(self.halts).await.map_err(ended)?;
        if status.of(self.seated.seat).is_none() {
            return Err(LineError::Left);
        }
        let answered = async {
            while let Some(event) = events.recv().await {
                match event {
                    TableEvent::Line(line) if line.circumstances.order == Some(id) => {
                        return Ok(line);
                    }
                    TableEvent::Halted { .. } => return Err(LineError::XCard),
                    // The event of a card may be among them.
                    TableEvent::Missed(_) if self.is_halted() => return Err(LineError::XCard),
                    _ => {}
                }
            }
            Err(LineError::Gone(TableGone))
        };
        timeout(PATIENCE, answered).await.unwrap_or(Err(LineError::Late))
    }

    /// A table that has used an X-card meanwhile drops the order, as if it were gone.
    fn ended(&self, gone: TableGone) -> LineError {
        if self.is_halted() { LineError::XCard } else { gone.into() }
    }

    fn is_halted(&self) -> bool {
        self.link.halts.count() != self.halts
    }
}

/// Takes back an order that is dropped.
struct Withdraws<'a> {
    ordered: &'a OrderedLine<'a>,
    order: OrderId,
    is_over: bool,
}

impl Withdraws<'_> {
    fn over(mut self) {
        self.is_over = true;
    }
}

impl Drop for Withdraws<'_> {
    fn drop(&mut self) {
        let OrderedLine { link, halts, seated, .. } = self.ordered;
        if !self.is_over {
            let (seat, order) = (seated.seat, self.order);
            // A table that is gone says nothing more.
            link.try_send(*halts, Command::Withdraw { seat, order });
        }
    }
}

/// Why an NPC may not say prepared words, which neither end an X-card nor unmute it.
pub fn silenced(status: &Status, seated: &Seated) -> Option<LineError> {
    if let Some(way_out) = status.card {
        return Some(LineError::Carded(way_out));
    }
    let is_muted = status.of(seated.seat).is_some_and(|seat| seat.muted);
    is_muted.then(|| LineError::Muted(seated.npc.name.clone()))
}

/// True if some of the line was heard.
pub const fn is_heard(line: &TurnLine) -> bool {
    matches!(
        line.outcome,
        Outcome::Spoken | Outcome::Interrupted | Outcome::CutShort | Outcome::Granted
    )
}

/// Why services could not finish the line, in words that programs outside may read: those of
/// services may name addresses and files. `None`: none failed.
pub const fn failure(line: &TurnLine) -> Option<&'static str> {
    match line.outcome {
        Outcome::ModelError => Some("the model failed (the log of glyphoxa says why)"),
        Outcome::VoiceError => Some("the voice failed (the log of glyphoxa says why)"),
        Outcome::CutShort => {
            Some("the model or the voice broke off (the log of glyphoxa says why)")
        }
        Outcome::OverBudget => Some(
            "a spending cap is reached, or spending cannot be recorded (the log of glyphoxa says \
             which)",
        ),
        _ => None,
    }
}

/// Why nothing of the line was heard.
pub fn unheard(line: &TurnLine) -> String {
    if let Some(why) = failure(line) {
        return why.to_owned();
    }
    let named = serde_json::to_value(line.outcome).ok();
    let named = named.as_ref().and_then(|it| it.as_str()).unwrap_or("no answer");
    let named = named.replace('_', " ");
    line.detail.as_ref().map_or(named.clone(), |why| format!("{named}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_of_a_service_names_no_address() {
        let detail = "piper at http://10.0.0.7:9: refused".to_owned();
        let line = TurnLine::without_speech(1, "Anna", detail);
        for outcome in [Outcome::ModelError, Outcome::VoiceError, Outcome::OverBudget] {
            let why = unheard(&TurnLine { outcome, ..line.clone() });
            assert!(why.contains("log") && !why.contains("10.0.0.7"), "{why}");
        }
        let unaddressed = TurnLine { outcome: Outcome::NobodyAddressed, ..line };
        assert!(unheard(&unaddressed).starts_with("nobody addressed: "));
    }
}
