//! Commands as values: names, parameters, permission and effect. A face offers them, parses their
//! use into a [`Call`] and shows the [`Answer`].

use super::{
    answer::Answer,
    call::{Call, Value},
    face::Face,
    text::Refusal,
};

/// Longest name of an NPC, in characters.
pub const NPC_MAX: u16 = 100;
/// Longest word of a choice, in characters.
pub const WORD_MAX: u16 = 16;

pub struct Command {
    /// Without the slash.
    pub name: &'static str,
    /// At most 100 characters.
    pub description: &'static str,
    /// A command without subcommands has one with an empty name.
    pub subs: &'static [Subcommand],
}

pub struct Subcommand {
    /// Names of command and subcommand, as in `npc mute`; one word is the whole command.
    pub path: &'static str,
    /// At most 100 characters.
    pub description: &'static str,
    /// For players, not only game masters.
    pub for_all: bool,
    /// In order; required ones come first.
    pub parameters: &'static [Parameter],
    pub run: Run,
}

/// Executes a command through a face.
pub type Run = fn(&mut dyn Face, &Call) -> Result<Answer, Refusal>;

pub struct Parameter {
    /// May be typed before the value, with a colon.
    pub name: &'static str,
    /// At most 100 characters.
    pub description: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub for_dm: bool,
    /// It is given only where commands are typed; other faces have buttons for it.
    pub only_typed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Npc,
    /// Words, with a limit in characters.
    Words(u16),
    /// Words, with a limit in characters; a face may suggest known names.
    Suggested(Suggested, u16),
    OneOf(&'static [&'static str], u16),
    /// A whole number from 1 to this one.
    Count(u32),
    Flag,
    Person,
    /// A file.
    File,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suggested {
    /// Scenes and places of the campaign.
    Places,
    /// Characters of the players.
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
    /// Workflows that may be started.
    Workflows,
    /// Schedules, each in a line that begins with its id.
    Schedules,
    /// Workflows that are running.
    Runs,
    /// Voices of the configured services, each in a line that begins with service and id.
    Voices,
}

impl Command {
    /// The subcommand of this name; empty for a command without subcommands.
    pub fn sub(&self, name: &str) -> Option<&'static Subcommand> {
        self.subs.iter().find(|sub| sub.name().eq_ignore_ascii_case(name))
    }

    /// In any subcommand.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        let named =
            || self.subs.iter().flat_map(|sub| sub.parameters).filter(move |it| it.name == name);
        named().find(|it| it.kind.has_names()).or_else(|| named().next())
    }
}

impl Subcommand {
    /// For game masters only.
    pub const fn new(
        path: &'static str,
        description: &'static str,
        parameters: &'static [Parameter],
        run: Run,
    ) -> Self {
        Self { path, description, for_all: false, parameters, run }
    }

    pub const fn for_all(self) -> Self {
        Self { for_all: true, ..self }
    }

    /// Empty if it is the whole command.
    pub fn name(&self) -> &'static str {
        self.path.split_once(' ').map_or("", |(_, name)| name)
    }

    /// True if the caller may use it like this.
    pub fn may(&self, call: &Call) -> bool {
        let mut given = self.parameters.iter().filter(|it| call.value(it.name).is_some());
        call.speaker.is_dm || (self.for_all && !given.any(|it| it.for_dm))
    }

    /// Executes a call without checking [`Self::may`]. Fails on invalid values.
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

    /// Limit of its words, in characters; `None`: it takes none.
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
    /// An optional one.
    pub const fn new(name: &'static str, description: &'static str, kind: Kind) -> Self {
        Self { name, description, kind, required: false, for_dm: false, only_typed: false }
    }

    pub const fn required(name: &'static str, description: &'static str, kind: Kind) -> Self {
        Self { required: true, ..Self::new(name, description, kind) }
    }

    /// For game masters only.
    pub const fn for_dm(self) -> Self {
        Self { for_dm: true, ..self }
    }

    /// Only where commands are typed.
    pub const fn only_typed(self) -> Self {
        Self { only_typed: true, ..self }
    }
}
