//! Steps of a workflow. Entry type: [`Reader`].

use std::{slice, sync::Arc, time::Duration};

use super::{
    nameable::Nameable,
    references::{Mention, Named},
};
use crate::{
    config::{keys::workflow as keys, reading::Notes},
    logic::workflow::{
        Audience, Called, Condition, OnError, Reference, Root, Step, StepKind, Template, is_name,
        mentioned,
    },
    tools::When,
    yaml::{Fields, Node, Position, Shape, Value, quoted},
};

/// Keys of what a step does; it has one of them.
const KINDS: [&str; 13] = [
    "say", "ask", "scene", "music", "picture", "roll", "tool", "tier", "mute", "unmute", "notify",
    "wait", "parallel",
];

/// Reads the steps of one file, and reports their problems.
pub struct Reader<'a> {
    pub(super) known: Nameable<'a>,
    named: &'a Named,
    /// Names of all workflows.
    pub(super) workflows: &'a [String],
    pub(super) notes: &'a mut Notes,
    /// Steps whose results are there.
    so_far: Vec<String>,
    /// Names in use.
    taken: Vec<String>,
    /// Number of steps, those of `parallel` included.
    pub count: usize,
    pub calls: Vec<Called<Position>>,
}

/// Valid names of the steps in `nodes` that have results, those of `parallel` included.
pub fn names(nodes: &[Node]) -> Vec<String> {
    let mut names = Vec::new();
    for node in nodes {
        match node.inside(&["parallel"]) {
            Some(members) => names.extend(self::names(members.items())),
            None => {
                let name = node.inside(&["name"]).and_then(Node::text);
                names.extend(name.map(str::trim).filter(|name| is_name(name)).map(str::to_owned));
            }
        }
    }
    names
}

impl<'a> Reader<'a> {
    pub fn new(
        known: Nameable<'a>,
        named: &'a Named,
        workflows: &'a [String],
        notes: &'a mut Notes,
    ) -> Self {
        let (so_far, taken, calls) = (Vec::new(), Vec::new(), Vec::new());
        Self { known, named, workflows, notes, so_far, taken, count: 0, calls }
    }

    /// The readable steps in `nodes`.
    pub fn steps(&mut self, nodes: &[Node], shape: &'static Shape) -> Vec<Step> {
        let mut steps = Vec::new();
        for node in nodes.iter().filter(|node| matches!(node.value, Value::Map(_))) {
            self.count += 1;
            steps.extend(self.step(&Fields::new(node, shape)));
            // Members of `parallel` do not see each other.
            if std::ptr::eq(shape, &keys::STEP) {
                self.so_far.extend(names(slice::from_ref(node)));
            }
        }
        steps
    }

    fn step(&mut self, fields: &Fields) -> Option<Step> {
        let name = self.name(fields);
        let when = self.when(fields);
        let on_error = match fields.text("on_error") {
            Some("continue") => OnError::Continue,
            _ => OnError::Stop,
        };
        let kind = self.only_kind(fields).and_then(|key| self.kind(fields, key))?;
        Some(Step { name, when, on_error, kind })
    }

    fn name(&mut self, fields: &Fields) -> Option<String> {
        let name = fields.text("name")?.trim();
        let at = fields.place("name");
        if !is_name(name) {
            let message = format!("invalid step name {}", quoted(name));
            self.notes.problems.add(at, message, "use letters, digits and _, with no digit first");
        } else if self.taken.iter().any(|taken| taken == name) {
            let message = format!("two steps are called {}", quoted(name));
            self.notes.problems.add(at, message, "give one of them another name");
        }
        self.taken.push(name.to_owned());
        Some(name.to_owned())
    }

    fn when(&mut self, fields: &Fields) -> Option<Arc<dyn Condition>> {
        let node = fields.get("when")?;
        let text = node.text()?;
        if text.contains("${") {
            let way_out = "write steps.NAME.total > `10`, without ${ }";
            self.notes.problems.add(node.at, "'when' is no text with references", way_out);
            return None;
        }
        let when = match When::parse(text) {
            Ok(when) => when,
            Err(error) => {
                self.notes.problems.add(node.at, format!("'when': {error}"), "see jmespath.org");
                return None;
            }
        };
        for root in mentioned(text) {
            self.mention(&root, node.at, true);
        }
        Some(Arc::new(when))
    }

    /// The key of what the step does; reports none and several.
    fn only_kind(&mut self, fields: &Fields) -> Option<&'static str> {
        let shape = fields.shape();
        let is_written = |key: &&str| {
            shape.key(key).is_some() && (fields.get(key).is_some() || fields.is_broken(key))
        };
        let found: Vec<&'static str> = KINDS.into_iter().filter(is_written).collect();
        match found.as_slice() {
            [key] => Some(*key),
            [] => {
                // A misspelt key has its own problem.
                let entries = fields.node().entries();
                if entries.iter().all(|entry| shape.key(&entry.key).is_some()) {
                    let way_out = format!("add one of {}", KINDS.join(", "));
                    self.notes.problems.add(fields.at(), "the step does nothing", way_out);
                }
                None
            }
            [_, second, ..] => {
                let message = format!("the step does several things: {}", found.join(", "));
                self.notes.problems.add(fields.place(second), message, "make a step of each");
                None
            }
        }
    }

    fn kind(&mut self, fields: &Fields, key: &'static str) -> Option<StepKind> {
        match key {
            "say" | "ask" => {
                let speech = fields.map(key, &keys::SPEECH)?;
                let (npc, text) = (self.npc(speech.get("npc")), self.text(&speech, "text"));
                let (npc, text) = (npc?, text?);
                Some(match key {
                    "say" => StepKind::Say { npc, text },
                    _ => StepKind::Ask { npc, text },
                })
            }
            "scene" => self.scene(fields.get(key)?),
            "music" => self.music(fields.get(key)?),
            "picture" => {
                let image = fields.map(key, &keys::IMAGE)?;
                let (npc, prompt) = (self.npc(image.get("npc")), self.text(&image, "prompt"));
                Some(StepKind::Picture { npc, prompt: prompt? })
            }
            "roll" => self.roll(fields.get(key)?),
            "tool" => self.tool(&fields.map(key, &keys::CALL)?),
            "tier" => self.tier(fields.get(key)?),
            "mute" => self.npc(fields.get(key)).map(StepKind::Mute),
            "unmute" => self.npc(fields.get(key)).map(StepKind::Unmute),
            "notify" => {
                let notice = fields.map(key, &keys::NOTICE)?;
                let text = self.text(&notice, "text")?;
                let to = match notice.text("to")? {
                    "dm" => Audience::Dm,
                    _ => Audience::Players,
                };
                Some(StepKind::Notify { to, text })
            }
            "wait" => self.wait(fields.get(key)?),
            "parallel" => {
                let node = fields.get(key)?;
                if node.items().is_empty() {
                    let way_out = "parallel: [{ music: … }, { say: … }]";
                    self.notes.problems.add(node.at, "'parallel' has no steps", way_out);
                }
                Some(StepKind::Parallel(self.steps(node.items(), &keys::MEMBER)))
            }
            _ => None,
        }
    }

    fn wait(&mut self, node: &Node) -> Option<StepKind> {
        let seconds = |node: &Node| {
            node.scalar()?.number().and_then(|it| Duration::try_from_secs_f64(it).ok())
        };
        if !matches!(node.value, Value::Map(_)) {
            return seconds(node).map(StepKind::Wait);
        }
        let pause = Fields::new(node, &keys::PAUSE);
        let at_most = pause.get("seconds").and_then(seconds);
        match (pause.text("until"), at_most) {
            (Some(_), at_most) => Some(StepKind::Silence { at_most }),
            (None, Some(wait)) => Some(StepKind::Wait(wait)),
            (None, None) => {
                if !pause.is_broken("until") && !pause.is_broken("seconds") {
                    let way_out = "wait: { seconds: 5 }, or { until: silence }";
                    self.notes.problems.add(node.at, "'wait' has no end", way_out);
                }
                None
            }
        }
    }

    pub(super) fn text(&mut self, fields: &Fields, key: &str) -> Option<Template> {
        self.template(fields.get(key)?)
    }

    /// The text of `node`; reports references without a value.
    pub(super) fn template(&mut self, node: &Node) -> Option<Template> {
        let template = match Template::parse(node.text()?.trim()) {
            Ok(template) => template,
            Err(error) => {
                let way_out = "write ${inputs.NAME} or ${steps.NAME}; workflows read no variables \
                               of the environment, and $${ is a plain ${";
                self.notes.problems.add(node.at, error.to_string(), way_out);
                return None;
            }
        };
        for Reference { root, .. } in template.references() {
            self.mention(root, node.at, false);
        }
        Some(template)
    }

    fn mention(&mut self, root: &Root, at: Position, is_optional: bool) {
        let mention = Mention { root, at, is_optional };
        self.named.check(&mention, &self.so_far, self.notes);
    }
}
