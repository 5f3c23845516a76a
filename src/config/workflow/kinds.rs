//! Kinds of steps with checks of their own.

use std::time::Duration;

use super::steps::Reader;
use crate::{
    config::{keys::workflow as keys, whitelist},
    domain::Npc,
    logic::{
        dice,
        workflow::{Called, JsonTemplate, StepKind, Template},
    },
    tools::builtin::WORKFLOWS,
    yaml::{Fields, Node, Value, nearest, quoted},
};

/// Most moods in a warning.
const MOODS_SHOWN: usize = 30;

impl Reader<'_> {
    /// The name of an NPC; reports an unknown one.
    pub(super) fn npc(&mut self, node: Option<&Node>) -> Option<Template> {
        let node = node?;
        let template = self.template(node)?;
        let (Some(name), Some(cast)) = (template.plain(), self.known.cast) else {
            return Some(template);
        };
        let is_it = |npc: &Npc| npc.is_called(name);
        if cast.iter().chain(self.known.assistant).any(is_it) {
            return Some(template);
        }
        if self.known.left.iter().any(is_it) {
            let message = format!("the step names {}, who is no longer in the cast", quoted(name));
            self.notes.warnings.add(node.at, message, "name another before the next start");
            return Some(template);
        }
        let names: Vec<_> = cast.iter().map(|npc| npc.name.as_str()).collect();
        let aliases = cast.iter().flat_map(|npc| npc.aliases.iter()).map(String::as_str);
        let way_out = match nearest(name, names.iter().copied().chain(aliases)) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("known: {}", names.join(", ")),
        };
        self.notes.problems.add(node.at, format!("unknown npc {}", quoted(name)), way_out);
        None
    }

    pub(super) fn scene(&mut self, node: &Node) -> Option<StepKind> {
        if !matches!(node.value, Value::Map(_)) {
            let location = Some(self.template(node)?);
            let (enter, leave) = (Vec::new(), Vec::new());
            return Some(StepKind::Scene { location, time: None, music: None, enter, leave });
        }
        let fields = Fields::new(node, &keys::PLACE);
        if node.entries().is_empty() {
            let way_out = "scene: { location: …, time: … }";
            self.notes.problems.add(node.at, "'scene' changes nothing", way_out);
        }
        Some(StepKind::Scene {
            location: self.text(&fields, "location"),
            time: self.text(&fields, "time"),
            music: fields.get("music").and_then(|node| self.track(node)),
            enter: self.npcs(&fields, "enter"),
            leave: self.npcs(&fields, "leave"),
        })
    }

    fn npcs(&mut self, fields: &Fields, key: &str) -> Vec<Template> {
        fields.items(key).iter().filter_map(|node| self.npc(Some(node))).collect()
    }

    pub(super) fn music(&mut self, node: &Node) -> Option<StepKind> {
        if !matches!(node.value, Value::Map(_)) {
            return self.track(node).map(|words| StepKind::Music(Some(words)));
        }
        let fields = Fields::new(node, &keys::SOUND);
        match (fields.get("play"), fields.flag("stop").unwrap_or_default()) {
            (Some(words), false) => self.track(words).map(|words| StepKind::Music(Some(words))),
            (None, true) => Some(StepKind::Music(None)),
            _ if fields.is_broken("play") || fields.is_broken("stop") => None,
            _ => {
                let way_out = "music: { play: … }, or { stop: true }";
                let message = "'music' must either play or stop";
                self.notes.problems.add(node.at, message, way_out);
                None
            }
        }
    }

    /// Words for music; warns of those that fit no track.
    fn track(&mut self, node: &Node) -> Option<Template> {
        let template = self.template(node)?;
        if let Some(words) = template.plain().filter(|it| self.known.music.find(it).is_empty()) {
            let message = format!("the step's music {} fits no track", quoted(words));
            let moods: Vec<_> = self.known.music.moods().into_iter().take(MOODS_SHOWN).collect();
            let way_out = format!("use a title or a mood ({})", moods.join(", "));
            self.notes.warnings.add(node.at, message, way_out);
        }
        Some(template)
    }

    pub(super) fn roll(&mut self, node: &Node) -> Option<StepKind> {
        let node = match node.value {
            Value::Map(_) => Fields::new(node, &keys::DICE).get("expression")?,
            _ => node,
        };
        let template = self.template(node)?;
        if let Some(Err(error)) = template.plain().map(dice::parse) {
            let (shown, error) = (quoted(node.text().unwrap_or_default()), error.to_string());
            let message =
                format!("'roll' is {shown}: {}", error.lines().next().unwrap_or_default());
            self.notes.problems.add(node.at, message, "write dice such as 2d6+3");
        }
        Some(StepKind::Roll(template))
    }

    pub(super) fn tool(&mut self, fields: &Fields) -> Option<StepKind> {
        let arguments = self.arguments(fields);
        let npc = self.npc(fields.get("npc"));
        let (named, at) = (fields.text("identity")?.trim(), fields.place("identity"));
        if let Some(name) = workflow_of(named) {
            return self.workflow(name, arguments?, fields);
        }
        let identity = match whitelist::resolve(named, self.known.tools) {
            Ok(identity) if identity.contains('*') => {
                let message = format!("{} is not a single tool", quoted(named));
                self.notes.problems.add(at, message, "write SERVER.TOOL");
                return None;
            }
            Ok(identity) => match workflow_of(&identity) {
                // By its bare name.
                Some(name) => return self.workflow(name, arguments?, fields),
                None => identity,
            },
            Err(_) if whitelist::may_come(named, self.known.tools) => {
                let message = format!("unknown tool {} so far", quoted(named));
                self.notes.warnings.add(at, message, "a server may provide it; write SERVER.TOOL");
                named.to_owned()
            }
            Err((message, way_out)) => {
                self.notes.problems.add(at, message, way_out);
                return None;
            }
        };
        Some(StepKind::Tool { identity, npc, arguments: arguments? })
    }

    fn workflow(&mut self, name: &str, inputs: JsonTemplate, fields: &Fields) -> Option<StepKind> {
        let at = fields.place("identity");
        if !self.workflows.iter().any(|it| it == name) {
            let known = self.workflows.iter().map(String::as_str);
            let way_out = match nearest(name, known.clone()) {
                Some(near) => format!("did you mean '{WORKFLOWS}.{near}'?"),
                None => format!("known: {}", known.collect::<Vec<_>>().join(", ")),
            };
            let message = format!("unknown workflow {}", quoted(name));
            self.notes.problems.add(at, message, way_out);
            return None;
        }
        self.calls.push(Called { workflow: name.to_owned(), at });
        Some(StepKind::Workflow { name: name.to_owned(), inputs })
    }

    /// Arguments of a call; reports references without a value at their own places.
    fn arguments(&mut self, fields: &Fields) -> Option<JsonTemplate> {
        let Some(node) = fields.get("arguments") else {
            let is_left_out = !fields.is_broken("arguments");
            return is_left_out.then(|| JsonTemplate::Object(Vec::new()));
        };
        self.references_in(node);
        JsonTemplate::parse(&node.to_json()).ok()
    }

    fn references_in(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(_) => {
                self.template(node);
            }
            Value::List(items) => items.iter().for_each(|item| self.references_in(item)),
            Value::Map(entries) => entries.iter().for_each(|it| self.references_in(&it.node)),
            Value::Broken => {}
        }
    }

    pub(super) fn tier(&mut self, node: &Node) -> Option<StepKind> {
        if !matches!(node.value, Value::Map(_)) {
            return Some(StepKind::Tier {
                npc: None,
                tier: node.text()?.parse().ok(),
                lasts: None,
            });
        }
        let fields = Fields::new(node, &keys::LEVEL);
        let minutes = fields.whole::<u64>("minutes");
        Some(StepKind::Tier {
            npc: self.npc(fields.get("npc")),
            tier: fields.text("tier")?.parse().ok(),
            lasts: minutes.map(|minutes| Duration::from_secs(minutes * 60)),
        })
    }
}

/// The workflow that `identity` calls; `None`: another tool.
fn workflow_of(identity: &str) -> Option<&str> {
    identity.strip_prefix(WORKFLOWS)?.strip_prefix('.')
}
