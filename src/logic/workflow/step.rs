//! Workflows and their steps, as files describe them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Map, Value};

use super::{
    template::{JsonTemplate, Template},
    when::Condition,
};
use crate::domain::Tier;

/// Most steps of a run, those of called workflows and of `parallel` included: what a person can
/// follow in a list, far below what a table bears.
pub const STEPS_MAX: usize = 100;

/// A checked workflow.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// Letters, digits, `-` and `_`.
    pub name: String,
    pub description: String,
    /// JSON Schema, an object.
    pub inputs: Value,
    /// NPCs that list it may call it as a tool.
    pub offer: bool,
    pub steps: Vec<Step>,
}

impl Workflow {
    /// `given`, with the schema's defaults for inputs that are left out.
    pub fn with_defaults(&self, mut given: Map<String, Value>) -> Map<String, Value> {
        let properties = self.inputs.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if let (false, Some(default)) = (given.contains_key(name), property.get("default")) {
                given.insert(name.clone(), default.clone());
            }
        }
        given
    }
}

/// Workflows by name.
#[derive(Clone, Debug, Default)]
pub struct Workflows(BTreeMap<String, Arc<Workflow>>);

impl Workflows {
    pub fn new(all: impl IntoIterator<Item = Workflow>) -> Self {
        Self(all.into_iter().map(|it| (it.name.clone(), Arc::new(it))).collect())
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Workflow>> {
        self.0.get(name)
    }

    /// In the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Workflow>> {
        self.0.values()
    }
}

#[derive(Clone, Debug)]
pub struct Step {
    pub name: Option<String>,
    /// `None`: it always runs.
    pub when: Option<Arc<dyn Condition>>,
    pub on_error: OnError,
    pub kind: StepKind,
}

/// Effect of a failing step on its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    #[default]
    Stop,
    Continue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Dm,
    Players,
}

#[derive(Clone, Debug)]
pub enum StepKind {
    /// An NPC says the text as it is.
    Say {
        npc: Template,
        text: Template,
    },
    /// An NPC answers the text.
    Ask {
        npc: Template,
        text: Template,
    },
    Scene {
        location: Option<Template>,
        time: Option<Template>,
        music: Option<Template>,
        /// NPCs that come.
        enter: Vec<Template>,
        /// NPCs that go.
        leave: Vec<Template>,
    },
    /// Words for what plays; `None`: silence.
    Music(Option<Template>),
    Picture {
        /// `None`: the assistant asks for it.
        npc: Option<Template>,
        prompt: Template,
    },
    Roll(Template),
    Tool {
        identity: String,
        /// `None`: the assistant calls it.
        npc: Option<Template>,
        arguments: JsonTemplate,
    },
    /// Another workflow, within this run.
    Workflow {
        name: String,
        inputs: JsonTemplate,
    },
    Tier {
        /// `None`: every NPC.
        npc: Option<Template>,
        /// `None`: chosen by what is said again.
        tier: Option<Tier>,
        /// `None`: until it is cleared.
        lasts: Option<Duration>,
    },
    Mute(Template),
    Unmute(Template),
    Notify {
        to: Audience,
        text: Template,
    },
    /// Members begin together; none is `Parallel`.
    Parallel(Vec<Step>),
    Wait(Duration),
    /// Until no NPC and no player speaks.
    Silence {
        at_most: Option<Duration>,
    },
}

impl StepKind {
    /// Its key in files.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Say { .. } => "say",
            Self::Ask { .. } => "ask",
            Self::Scene { .. } => "scene",
            Self::Music(_) => "music",
            Self::Picture { .. } => "picture",
            Self::Roll(_) => "roll",
            Self::Tool { .. } | Self::Workflow { .. } => "tool",
            Self::Tier { .. } => "tier",
            Self::Mute(_) => "mute",
            Self::Unmute(_) => "unmute",
            Self::Notify { .. } => "notify",
            Self::Parallel(_) => "parallel",
            Self::Wait(_) | Self::Silence { .. } => "wait",
        }
    }
}
