//! Commands as values: names, parameters, who may use them, what they do.
//!
//! Entry types: [`Command`], [`Subcommand`]. A face offers them, reads their use into a [`Call`] and
//! shows the [`Answer`]. **Never**: knows a face.

use super::{
    answer::Answer,
    call::{Call, Value},
    face::Face,
    text::Refusal,
};

/// Longest name of an NPC that is taken, in characters.
pub const NPC_MAX: u16 = 100;
/// Longest word that is one of a few, in characters.
pub const WORD_MAX: u16 = 16;

/// A command.
pub struct Command {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Its purpose, in at most 100 characters.
    pub description: &'static str,
    /// Its subcommands; a command without has one with an empty name.
    pub subs: &'static [Subcommand],
}

/// A part of a command that does one thing.
pub struct Subcommand {
    /// Its command and its own name, as in `npc mute`; one word: it is the whole command.
    pub path: &'static str,
    /// Its effect, in at most 100 characters.
    pub description: &'static str,
    /// Players may use it too, not only game masters.
    pub for_all: bool,
    /// Values it takes, in order; those it needs come first.
    pub parameters: &'static [Parameter],
    /// Carries it out and answers.
    pub run: Run,
}

/// Carries a command out through a face, and answers.
pub type Run = fn(&mut dyn Face, &Call) -> Result<Answer, Refusal>;

/// Something that can be given.
pub struct Parameter {
    /// Its name, which may be typed before the value with a colon.
    pub name: &'static str,
    /// Its meaning, in at most 100 characters.
    pub description: &'static str,
    /// The kind of value it takes.
    pub kind: Kind,
    /// It must be given.
    pub required: bool,
    /// Only game masters may give it.
    pub for_dm: bool,
    /// It is given only where commands are typed; other faces have buttons for it.
    pub only_typed: bool,
}

/// The kind of value a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The name of an NPC.
    Npc,
    /// Words, at most so many characters.
    Words(u16),
    /// Words, at most so many characters; a face may offer the names that are known.
    Suggested(Suggested, u16),
    /// One of these words, which have at most so many characters.
    OneOf(&'static [&'static str], u16),
    /// A whole number from 1 to this one.
    Count(u32),
    /// True or false.
    Flag,
    /// A player.
    Person,
    /// A file.
    File,
}

/// Names a face may offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suggested {
    /// Scenes and places of the campaign.
    Places,
    /// Characters of its players.
    Characters,
    /// Moods and titles of music and background sound.
    Moods,
    /// Titles of sounds that are played once.
    Effects,
    /// Tools and their servers.
    Tools,
    /// Entities of the campaign that is played.
    Entities,
    /// Campaigns that may be played.
    Campaigns,
}

impl Command {
    /// Its subcommand of this name; empty: the command itself, where it has none.
    pub fn sub(&self, name: &str) -> Option<&'static Subcommand> {
        self.subs.iter().find(|sub| sub.name().eq_ignore_ascii_case(name))
    }

    /// The parameter of this name in any subcommand; one for which names are known goes first.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        let named =
            || self.subs.iter().flat_map(|sub| sub.parameters).filter(move |it| it.name == name);
        named().find(|it| it.kind.has_names()).or_else(|| named().next())
    }
}

impl Subcommand {
    /// One for game masters.
    pub const fn new(
        path: &'static str,
        description: &'static str,
        parameters: &'static [Parameter],
        run: Run,
    ) -> Self {
        Self { path, description, for_all: false, parameters, run }
    }

    /// For players too.
    pub const fn for_all(self) -> Self {
        Self { for_all: true, ..self }
    }

    /// Its own name; empty: it is the whole command.
    pub fn name(&self) -> &'static str {
        self.path.split_once(' ').map_or("", |(_, name)| name)
    }

    /// True where the caller may use it so.
    pub fn may(&self, call: &Call) -> bool {
        let mut given = self.parameters.iter().filter(|it| call.value(it.name).is_some());
        call.speaker.is_dm || (self.for_all && !given.any(|it| it.for_dm))
    }

    /// Carries a call out without asking if the caller may; [`Self::may`] says so.
    ///
    /// # Errors
    /// Something given is too long, or not as the command wants it.
    pub fn carry_out(&self, face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
        for Parameter { name, kind, .. } in self.parameters {
            if let (Some(most), Some(Value::Words(given))) = (kind.longest(), call.value(name))
                && given.chars().count() > usize::from(most)
            {
                return Err(format!("'{name}' is too long (up to {most} characters)").into());
            }
        }
        (self.run)(face, call)
    }
}

impl Kind {
    /// True if it takes several words of a typed line.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Npc | Self::Words(_) | Self::Suggested(..) | Self::File)
    }

    /// True if a face may offer names for it.
    const fn has_names(self) -> bool {
        matches!(self, Self::Npc | Self::Suggested(..))
    }

    /// Most characters of its words; `None`: it takes none.
    const fn longest(self) -> Option<u16> {
        match self {
            Self::Npc => Some(NPC_MAX),
            Self::Words(most) | Self::Suggested(_, most) => Some(most),
            Self::OneOf(..) => Some(WORD_MAX * 2),
            Self::Count(_) | Self::Flag | Self::Person | Self::File => None,
        }
    }
}

impl Parameter {
    /// One that may be left out.
    pub const fn new(name: &'static str, description: &'static str, kind: Kind) -> Self {
        Self { name, description, kind, required: false, for_dm: false, only_typed: false }
    }

    /// One that must be given.
    pub const fn required(name: &'static str, description: &'static str, kind: Kind) -> Self {
        Self { required: true, ..Self::new(name, description, kind) }
    }

    /// Only for game masters.
    pub const fn for_dm(self) -> Self {
        Self { for_dm: true, ..self }
    }

    /// Only where commands are typed.
    pub const fn only_typed(self) -> Self {
        Self { only_typed: true, ..self }
    }
}
