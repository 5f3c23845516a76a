//! Lines that workflows and programs outside order from an NPC; each ends with what was heard.
//!
//! Entry type: [`OrderedLine`]. Dropping the future of an order silences the NPC.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use super::link::{TableGone, TableLink};
use crate::{
    domain::redact::without_credentials,
    session::{Command, LONGEST_UTTERANCE, Outcome, Seated, SpeakerId, TableEvent, TurnLine},
};

/// Longest wait for a line: longer than the longest text takes to say.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

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
        let Seated { seat, npc } = &self.seated;
        let status = self.link.status(self.halts).await.map_err(|gone| self.ended(gone))?;
        // Prepared words neither end an X-card nor unmute an NPC.
        if let Some(way_out) = status.card {
            return Err(LineError::Carded(way_out));
        }
        if status.of(*seat).is_some_and(|seat| seat.muted) {
            return Err(LineError::Muted(npc.name.clone()));
        }
        let (speaker, seat, words) = (self.speaker, *seat, text.clone());
        let order = Command::Recite { speaker, seat, text: words, outside };
        let is_it = |line: &TurnLine| {
            line.npc.as_deref() == Some(npc.name.as_str()) && line.circumstances.given == text
        };
        self.carried_out(order, is_it).await
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
        let (speaker, seat) = (self.speaker, self.seated.seat);
        let order = Command::Question { speaker, seat, text: text.clone() };
        self.carried_out(order, |line| line.circumstances.raw == text).await
    }

    /// Gives `order`, and waits for the line of it that `is_it` accepts.
    async fn carried_out(
        &self,
        order: Command,
        is_it: impl Fn(&TurnLine) -> bool,
    ) -> Result<Arc<TurnLine>, LineError> {
        let stops = StopsSpeech { ordered: self, is_over: false };
        let line = self.line(order, is_it).await;
        stops.over();
        line
    }

    async fn line(
        &self,
        order: Command,
        is_it: impl Fn(&TurnLine) -> bool,
    ) -> Result<Arc<TurnLine>, LineError> {
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
                    TableEvent::Line(line)
                        if line.from == Some(self.speaker)
                            && line.stt == TurnLine::TYPED
                            && is_it(&line) =>
                    {
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

/// Stops what the NPC says for an order that is dropped.
struct StopsSpeech<'a> {
    ordered: &'a OrderedLine<'a>,
    is_over: bool,
}

impl StopsSpeech<'_> {
    fn over(mut self) {
        self.is_over = true;
    }
}

impl Drop for StopsSpeech<'_> {
    fn drop(&mut self) {
        let OrderedLine { link, halts, seated, .. } = self.ordered;
        if !self.is_over {
            // A table that is gone says nothing more.
            link.try_send(*halts, Command::Silence(seated.seat));
        }
    }
}

/// True if some of the line was heard.
pub const fn is_heard(line: &TurnLine) -> bool {
    matches!(
        line.outcome,
        Outcome::Spoken | Outcome::Interrupted | Outcome::CutShort | Outcome::Granted
    )
}

/// Why nothing of the line was heard.
pub fn unheard(line: &TurnLine) -> String {
    let named = serde_json::to_value(line.outcome).ok();
    let named = named.as_ref().and_then(|it| it.as_str()).unwrap_or("no answer");
    let named = named.replace('_', " ");
    line.detail.as_ref().map_or(named.clone(), |why| format!("{named}: {why}"))
}
