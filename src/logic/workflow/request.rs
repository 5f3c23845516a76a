//! Steps with their values filled in, as the service carries them out.

use std::time::Duration;

use super::{
    step::{Audience, StepKind},
    template::Template,
    values::{FillError, Given, Values, Words},
};
use crate::domain::Tier;

/// See [`StepKind`].
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Say {
        npc: String,
        text: Words,
    },
    Ask {
        npc: String,
        text: Words,
    },
    Scene {
        location: Option<Words>,
        time: Option<Words>,
        music: Option<Words>,
        enter: Vec<String>,
        leave: Vec<String>,
    },
    Music(Option<Words>),
    Picture {
        npc: Option<String>,
        prompt: Words,
    },
    Roll(String),
    Tool {
        identity: String,
        npc: Option<String>,
        arguments: Given,
    },
    Tier {
        npc: Option<String>,
        tier: Option<Tier>,
        lasts: Option<Duration>,
    },
    Mute(String),
    Unmute(String),
    Notify {
        to: Audience,
        text: Words,
    },
    /// Done once no NPC and no player speaks.
    AwaitSilence,
}

impl Request {
    /// The request of a step that the runner does not do itself.
    pub fn of(kind: &StepKind, values: &Values) -> Result<Option<Self>, FillError> {
        let words = |template: &Template| values.words(template);
        let text = |template: &Template| Ok(values.words(template)?.text());
        let maybe = |template: &Option<Template>| template.as_ref().map(words).transpose();
        let names = |all: &[Template]| all.iter().map(text).collect::<Result<Vec<_>, FillError>>();
        let npc = |template: &Option<Template>| template.as_ref().map(text).transpose();
        Ok(Some(match kind {
            StepKind::Say { npc, text: said } => Self::Say { npc: text(npc)?, text: words(said)? },
            StepKind::Ask { npc, text: said } => Self::Ask { npc: text(npc)?, text: words(said)? },
            StepKind::Scene { location, time, music, enter, leave } => Self::Scene {
                location: maybe(location)?,
                time: maybe(time)?,
                music: maybe(music)?,
                enter: names(enter)?,
                leave: names(leave)?,
            },
            StepKind::Music(music) => Self::Music(maybe(music)?),
            StepKind::Picture { npc: by, prompt } => {
                Self::Picture { npc: npc(by)?, prompt: words(prompt)? }
            }
            StepKind::Roll(expression) => Self::Roll(text(expression)?),
            StepKind::Tool { identity, npc: by, arguments } => Self::Tool {
                identity: identity.clone(),
                npc: npc(by)?,
                arguments: values.json(arguments)?,
            },
            StepKind::Tier { npc: of, tier, lasts } => {
                Self::Tier { npc: npc(of)?, tier: *tier, lasts: *lasts }
            }
            StepKind::Mute(npc) => Self::Mute(text(npc)?),
            StepKind::Unmute(npc) => Self::Unmute(text(npc)?),
            StepKind::Notify { to, text } => Self::Notify { to: *to, text: words(text)? },
            StepKind::Silence { .. } => Self::AwaitSilence,
            StepKind::Workflow { .. } | StepKind::Parallel(_) | StepKind::Wait(_) => {
                return Ok(None);
            }
        }))
    }

    /// True if it does nothing without a play session.
    pub const fn needs_session(&self) -> bool {
        match self {
            Self::Say { .. }
            | Self::Ask { .. }
            | Self::Scene { .. }
            | Self::Music(_)
            | Self::Picture { .. }
            | Self::Tier { .. }
            | Self::Mute(_)
            | Self::Unmute(_)
            | Self::Notify { to: Audience::Players, .. }
            | Self::AwaitSilence => true,
            Self::Roll(_) | Self::Tool { .. } | Self::Notify { to: Audience::Dm, .. } => false,
        }
    }
}
