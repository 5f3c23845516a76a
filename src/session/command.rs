//! Requests to a table.
//!
//! Entry type: [`Command`]. Seats are meant by their place in the cast; a command
//! for a seat that is not there does nothing.
//! **Never**: does anything itself.

use std::collections::BTreeSet;

use tokio::{sync::oneshot, time::Instant};

use super::{Recast, Role, SeatId, Speaker, SpeakerId, Status};
use crate::{
    domain::{Person, Tier},
    logic::music::MusicOrder,
};

/// A request to a table.
#[derive(Debug)]
pub enum Command {
    /// Somebody sits down.
    Join(Speaker),
    /// Somebody leaves: what they are saying is dropped, what hears them is given back.
    Leave(SpeakerId),
    /// Somebody is not to be heard any more: as [`Command::Leave`], and lines of theirs that are
    /// not answered yet are dropped without a word; an answer to them under way stops.
    Forget(SpeakerId),
    /// NPCs forget a person's words and their own answers; what is under way for the person ends. They stay
    /// at the table. A table that closes first drops the sender.
    Erase(Person, oneshot::Sender<()>),
    /// A player's character: the name that NPCs call them from the next turn on. `None`: their own name.
    Character {
        /// The player of the character.
        speaker: SpeakerId,
        /// The character; `None`: nobody but themselves.
        name: Option<String>,
    },
    /// Somebody typed something.
    Typed {
        /// The person at the keyboard.
        speaker: SpeakerId,
        /// Text as typed.
        text: String,
    },
    /// Somebody typed something to one NPC, whatever it says.
    TypedTo {
        /// The person at the keyboard.
        speaker: SpeakerId,
        /// The NPC that is asked.
        seat: SeatId,
        /// Text as typed.
        text: String,
    },
    /// The game master's own words in an NPC's voice; they go before everything else.
    Puppet {
        /// The game master.
        speaker: SpeakerId,
        /// The NPC in whose voice it is said.
        seat: SeatId,
        /// Said as they are; no text does nothing.
        text: String,
    },
    /// Silences an NPC in the middle of a word, or lets it speak again; `None`: all of them.
    Mute {
        /// The NPC; `None`: all of them.
        seat: Option<SeatId>,
        /// Silenced or not.
        muted: bool,
    },
    /// Everyone stops at once and is muted; nothing that waits is answered. The exchange that is heard, or was
    /// heard last, is taken back, and what is said over the card is dropped to the end of its sentence.
    Halt,
    /// Ends an X-card: the NPCs that it silenced may speak again. Only the game master may, or a person who is
    /// alone at a table of this machine.
    EndCard(SpeakerId),
    /// Nobody is answered until resumed: what is being heard is said to its end, what waits goes
    /// on waiting, what is said meanwhile is remembered and not answered. The game master's own
    /// words are spoken all the same.
    Pause(bool),
    /// Drops what is being said, or thought of next, and goes on with the next in the queue.
    Skip,
    /// A secret stage note in an NPC's prompt.
    Direct {
        /// The NPC that is given it.
        seat: SeatId,
        /// The note; empty: no note any more.
        note: String,
        /// For so many of its turns; `None`: until replaced.
        turns: Option<u32>,
    },
    /// Sends all words of one player to this seat unless they name another NPC; no player: words of anybody
    /// without a pin of their own. No seat: the pin is removed; without a player, everybody's.
    Pin {
        /// The NPC that is meant; `None`: taken back.
        seat: Option<SeatId>,
        /// The player; `None`: everyone without a pin of their own.
        player: Option<SpeakerId>,
    },
    /// The game master's tier in place of what is selected, for one NPC or for all; an NPC's own
    /// goes before that of all. No tier: taken back, without a seat from everybody.
    SetTier {
        /// The NPC; `None`: all of them.
        seat: Option<SeatId>,
        /// The tier; `None`: the selected one again.
        tier: Option<Tier>,
        /// End of the override; `None`: it lasts until withdrawn.
        until: Option<Instant>,
    },
    /// Changes the place and time of the game, or who is there.
    Scene(SceneChange),
    /// Plays, stops or sets the volume of music.
    Music(MusicOrder),
    /// Asks how things stand.
    Status(oneshot::Sender<Status>),
    /// A new description of the table; each NPC takes it over after its turn.
    Recast(Box<Recast>),
    /// One NPC goes on by a new description, after its turn.
    Cast(Role),
    /// Everybody who is heard was told of these outside services, by their names in notices: roles that
    /// need no others take effect. What was said before is given to none of theirs.
    Announced(BTreeSet<String>),
    /// Answered when no conversation has to be summed up, for as long as nobody says anything.
    SumUp(oneshot::Sender<()>),
    /// The session is over.
    Close,
}

/// A change of the scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SceneChange {
    /// Location and time of day; `None` stays as it is, an empty text takes it away. The name of a
    /// campaign's scene brings its NPCs, and nobody else is there any more.
    Set {
        /// The place, or the name of a scene of the campaign.
        location: Option<String>,
        /// Time of day, in free text.
        time: Option<String>,
        /// Words for the music, before those of the campaign's scene; an empty text fades it out.
        music: Option<String>,
    },
    /// An NPC comes.
    Enter(SeatId),
    /// An NPC goes, in the middle of a word.
    Leave(SeatId),
}
