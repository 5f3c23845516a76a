//! One step's surroundings. Entry type: [`StepContext`].

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::started::{Origin, WorkflowParts};
use crate::{
    campaign::link::{TableGone, TableLink},
    domain::Scope,
    logic::workflow::{
        look::Done,
        record::{RunId, Starter},
        values::Given,
    },
    session::{Command, SpeakerId},
    tools::Effects,
};

/// Speaker of runs that no person at the table has started; no person has this id.
const NOBODY: SpeakerId = SpeakerId(u64::MAX);

/// Surroundings of one step of a run.
pub struct StepContext {
    pub parts: Arc<WorkflowParts>,
    pub scope: Scope,
    /// `None`: no play session.
    pub link: Option<TableLink>,
    pub origin: Origin,
    pub run: RunId,
    /// The run includes words from outside.
    pub tainted: bool,
    /// X-cards used before the run.
    pub halts: u64,
    /// Ends the step.
    pub cancel: CancellationToken,
}

impl StepContext {
    /// The table; fails with the outcome of a step without one.
    pub fn table(&self) -> Result<&TableLink, Done> {
        self.link.as_ref().ok_or_else(|| Done::Missed("no play session".to_owned()))
    }

    /// Effects of the table; without one, those of the run's starter.
    pub fn effects(&self) -> &Arc<dyn Effects> {
        self.link.as_ref().map_or(&self.origin.effects, |link| &link.effects)
    }

    /// Sends orders to the table, and waits until it has taken them.
    pub async fn order(&self, orders: Vec<Command>) -> Result<Done, Done> {
        let table = self.table()?;
        let sent = async {
            for order in orders {
                table.send(self.halts, order).await?;
            }
            table.status(self.halts).await
        };
        sent.await.map(|_| Done::NOTHING).map_err(gone)
    }

    /// Fails while an X-card keeps NPCs silent: steps that were prepared do not end it.
    pub async fn without_card(&self) -> Result<(), Done> {
        let status = self.table()?.status(self.halts).await.map_err(gone)?;
        status.card.map_or(Ok(()), |way_out| Err(failed(way_out)))
    }

    /// The speaker that the table records.
    pub fn speaker(&self) -> SpeakerId {
        self.origin.speaker.as_ref().map_or(NOBODY, |speaker| speaker.id)
    }

    /// The NPC whose model started the run.
    pub fn npc_starter(&self) -> Option<&str> {
        match &self.origin.starter {
            Starter::Npc(npc) => Some(npc),
            Starter::Person(_) | Starter::Schedule(_) | Starter::Program(_) => None,
        }
    }
}

/// Outcome of a step whose table has closed.
pub fn gone(why: TableGone) -> Done {
    Done::Missed(why.to_string())
}

/// Outcome of a step that cannot be carried out.
pub fn failed(why: impl ToString) -> Done {
    Done::Failed(why.to_string())
}

/// A result in our own words.
pub const fn ours(value: serde_json::Value) -> Done {
    Done::Result(Given { value, outside: false })
}
