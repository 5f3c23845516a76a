//! Requests to a table.
//!
//! Entry type: [`Command`]. A command for a seat that does not exist does nothing.

use std::collections::BTreeSet;

use tokio::{sync::oneshot, time::Instant};

use super::{Caller, OrderId, Recast, Role, SeatId, Speaker, SpeakerId, Status};
use crate::{
    domain::{Person, Tier},
    logic::music::MusicOrder,
};

#[derive(Debug)]
pub enum Command {
    Join(Speaker),
    /// Drops their current utterance and closes their recogniser.
    Leave(SpeakerId),
    /// Like [`Command::Leave`], for a person who opted out: their unanswered lines are dropped
    /// silently, and an answer to them stops.
    Forget(SpeakerId),
    /// Makes NPCs forget a person's words and their answers to them, and ends work in progress for
    /// the person. A table that closes first drops the sender.
    Erase(Person, oneshot::Sender<()>),
    /// Sets the name that NPCs call a player from the next turn on.
    Character {
        speaker: SpeakerId,
        /// `None`: their own name.
        name: Option<String>,
    },
    Typed {
        speaker: SpeakerId,
        text: String,
    },
    TypedTo {
        speaker: SpeakerId,
        seat: SeatId,
        text: String,
    },
    /// The game master's own words in an NPC's voice; they take precedence.
    Puppet {
        speaker: SpeakerId,
        seat: SeatId,
        /// Spoken verbatim; empty text does nothing.
        text: String,
    },
    /// A line of a workflow or a program outside, spoken like [`Command::Puppet`], but after what
    /// other callers have ordered from this NPC.
    Recite {
        caller: Caller,
        seat: SeatId,
        text: String,
        /// Some of it came from outside: NPCs that hear it remember that.
        outside: bool,
    },
    /// A question of a workflow or a program outside to this NPC. Its words are never an order, a
    /// wish or an X-card.
    Question {
        caller: Caller,
        seat: SeatId,
        text: String,
    },
    Mute {
        seat: Option<SeatId>,
        muted: bool,
    },
    /// X-card: stops and mutes everyone, drops the queue, and takes back the exchange that is
    /// audible or was last. Speech over the card is dropped to the end of its sentence.
    Halt,
    /// Ends an X-card and unmutes its NPCs. Allowed for the game master, or for a person alone at a
    /// local table.
    EndCard(SpeakerId),
    /// While paused, the current answer finishes, the queue waits, and new utterances are stored
    /// but not answered. The game master's own words are still spoken.
    Pause(bool),
    /// Pauses to the end of the table. Another one continues, and does not begin paused by this.
    HandOver,
    /// Drops the current answer, or the oldest pending one, and continues with the queue.
    Skip,
    Direct {
        seat: SeatId,
        /// Empty: removes the note.
        note: String,
        /// Number of turns; `None`: until replaced.
        turns: Option<u32>,
    },
    /// Sends a player's words to this seat unless they name another NPC.
    Pin {
        /// `None`: removes the pin; without a player, all pins.
        seat: Option<SeatId>,
        /// `None`: everyone without a pin.
        player: Option<SpeakerId>,
    },
    /// Overrides the selected tier for one NPC or for all; an NPC's own override wins. No tier:
    /// removes it; without a seat, all overrides.
    SetTier {
        seat: Option<SeatId>,
        /// `None`: the selected tier applies again.
        tier: Option<Tier>,
        /// `None`: until removed.
        until: Option<Instant>,
    },
    Scene(SceneChange),
    Music(MusicOrder),
    /// An order of a workflow or a program outside; dropped unless exactly `halts` X-cards have been
    /// used.
    Unhalted {
        halts: u64,
        order: Box<Self>,
    },
    /// Takes back a [`Self::Recite`] or [`Self::Question`]: stops its answer, or drops it from the
    /// queue. Other answers go on.
    Withdraw {
        seat: SeatId,
        order: OrderId,
    },
    /// Answered once no NPC is thinking or audible, and no player is speaking.
    AwaitSilence(oneshot::Sender<()>),
    Status(oneshot::Sender<Status>),
    /// A new description of the table; NPCs change after their current turn.
    Recast(Box<Recast>),
    Cast(Role),
    /// Every listener has been notified of these outside services; roles that need only these take
    /// effect. They receive nothing that was said before.
    Announced(BTreeSet<String>),
    /// Answered once no conversation needs a summary, while nothing is being said.
    SumUp(oneshot::Sender<()>),
    Close,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SceneChange {
    /// `None`: unchanged; empty: cleared. The name of a campaign's scene brings exactly that
    /// scene's NPCs.
    Set {
        location: Option<String>,
        time: Option<String>,
        /// Search words for music, before those of the campaign's scene; empty: fades out.
        music: Option<String>,
    },
    Enter(SeatId),
    /// Takes an NPC out of the scene, mid-word if necessary.
    Leave(SeatId),
}
