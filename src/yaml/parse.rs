//! YAML events to a tree, bounded against bombs.

use std::{borrow::Cow, collections::BTreeMap};

use serde_yaml::granit_parser::{Event, Marker, Options, Parser, ScalarStyle, StrInput, Tag};

use super::{Node, Position, Problems, Scalar, Value, quoted, tree::Entry};

/// Deepest nesting, including aliases.
const DEPTH_MAX: usize = 64;
/// Most values in a file, including copies made by aliases.
const NODES_MAX: usize = 250_000;
/// Most text of a file's values and keys in bytes, including copies made by aliases.
const BYTES_MAX: usize = 16 << 20;

/// Reads one document. `None`: invalid YAML; `problems` says why. An empty file is an empty
/// mapping.
pub fn parse(text: &str, problems: &mut Problems) -> Option<Node> {
    // The parser's columns count a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.block_nesting_limit = DEPTH_MAX;
    options.flow_nesting_limit = DEPTH_MAX;
    let text = &*json_spaced(text);
    let events = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder {
        text,
        events,
        problems,
        anchors: BTreeMap::new(),
        size: Size::default(),
        depth: 0,
    };
    builder.document().ok()
}

/// Fails with the position of the first byte that is not UTF-8.
pub fn text(bytes: Vec<u8>) -> Result<String, Position> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default());
        let last = before.rsplit('\n').next().unwrap_or_default();
        Position {
            line: before.matches('\n').count() + 1,
            column: last.trim_start_matches('\u{feff}').chars().count() + 1,
        }
    })
}

const FEWER: &str = "use fewer aliases, or several files";

/// Reading has stopped; the problem is already noted.
struct Stopped;

struct Anchor {
    node: Node,
    size: Size,
    /// Depth to which its values nest.
    depth: usize,
}

#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
}

impl Size {
    const fn and(self, more: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_add(more.nodes),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }

    /// The exceeded limit, in words.
    fn is_over(self) -> Option<String> {
        if self.nodes > NODES_MAX {
            return Some(format!(
                "more than {NODES_MAX} values, including those repeated by aliases"
            ));
        }
        let most = BYTES_MAX >> 20;
        (self.bytes > BYTES_MAX)
            .then(|| format!("more than {most} MiB of text, including text repeated by aliases"))
    }
}

struct Builder<'text, 'problems> {
    /// The whole text, for the positions of errors.
    text: &'text str,
    events: Parser<'text, StrInput<'text>>,
    problems: &'problems mut Problems,
    anchors: BTreeMap<usize, Anchor>,
    /// Size of everything read so far.
    size: Size,
    /// Open lists and mappings.
    depth: usize,
}

impl<'text> Builder<'text, '_> {
    fn document(&mut self) -> Result<Node, Stopped> {
        let mut root = None;
        while let Some((event, at)) = self.next()? {
            match event {
                Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_some() => {
                    let way_out = "remove the line '---' and everything after it";
                    return self.stop(at, "a second document begins here", way_out);
                }
                Event::DocumentStart(..) => {}
                event => root = Some(self.node(event, at)?),
            }
        }
        let empty = || Node { at: Position::START, value: Value::Map(Vec::new()) };
        let root = root.unwrap_or_else(empty);
        // A file of comments ends as null.
        Ok(if root.is_null() { empty() } else { root })
    }

    fn next(&mut self) -> Result<Option<(Event<'text>, Position)>, Stopped> {
        match self.events.next() {
            None => Ok(None),
            Some(Ok((event, span))) => Ok(Some((event, position(&span.start)))),
            Some(Err(error)) => {
                let at = position(error.marker());
                if let Some(at) = tab_near(self.text, at) {
                    return self.stop(at, "this line is indented with a tab", "use spaces");
                }
                let message = format!("not valid YAML: {}", error.info());
                self.stop(at, message, "look at this line and the one above")
            }
        }
    }

    fn inner(&mut self) -> Result<(Event<'text>, Position), Stopped> {
        match self.next()? {
            Some(found) => Ok(found),
            None => self.stop(Position::START, "not valid YAML: the text ends early", ""),
        }
    }

    fn stop<T>(
        &mut self,
        at: Position,
        message: impl Into<String>,
        way_out: &str,
    ) -> Result<T, Stopped> {
        self.problems.add(at, message, way_out);
        Err(Stopped)
    }

    fn node(&mut self, event: Event<'text>, at: Position) -> Result<Node, Stopped> {
        let bytes = if let Event::Scalar(text, ..) = &event { text.len() } else { 0 };
        self.count(Size { nodes: 1, bytes }, at)?;
        let anchor = event.anchor_id();
        let value = match event {
            Event::Alias(id) => return self.alias(id, at),
            Event::Scalar(text, style, _, tag) => {
                let plain = style == ScalarStyle::Plain;
                let tagged = tag.as_deref().is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                self.refuse_tag(tag.as_deref(), at);
                let quoted = !plain || tagged;
                Value::Scalar(Scalar { text: text.into_owned(), quoted, written: None })
            }
            Event::SequenceStart(_, _, tag) => {
                self.refuse_tag(tag.as_deref(), at);
                self.nested(at, Self::list)?
            }
            Event::MappingStart(_, _, tag) => {
                self.refuse_tag(tag.as_deref(), at);
                self.nested(at, Self::map)?
            }
            _ => return self.stop(at, "not valid YAML: a value is missing", ""),
        };
        let node = Node { at, value };
        if let Some(id) = anchor {
            let (size, depth) = size(&node);
            self.count(size, at)?;
            self.anchors.insert(id, Anchor { node: node.clone(), size, depth });
        }
        Ok(node)
    }

    /// Custom tags have no meaning here.
    fn refuse_tag(&mut self, tag: Option<&Tag>, at: Position) {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema() && tag.original() != "!") {
            let message = format!("unknown tag {}", quoted(&tag.original()));
            self.problems.add(at, message, "remove it; only core tags such as !!str are supported");
        }
    }

    fn nested(
        &mut self,
        at: Position,
        read: fn(&mut Self) -> Result<Value, Stopped>,
    ) -> Result<Value, Stopped> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("nested deeper than {DEPTH_MAX} levels");
            return self.stop(at, message, "configuration needs fewer than ten");
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Result<Value, Stopped> {
        let mut items = Vec::new();
        loop {
            match self.inner()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(items)),
                (event, at) => items.push(self.node(event, at)?),
            }
        }
    }

    fn map(&mut self) -> Result<Value, Stopped> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut first_lines = BTreeMap::new();
        loop {
            let (event, at) = self.inner()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(Value::Map(entries));
            }
            let key = self.node(event, at)?;
            let (event, value_at) = self.inner()?;
            let node = self.node(event, value_at)?;
            let Value::Scalar(Scalar { text: key, .. }) = key.value else {
                self.problems.add(at, "a key is a list or a mapping", "keys are plain words");
                continue;
            };
            if let Some(line) = first_lines.get(&key) {
                let message = format!("key {} appears twice", quoted(&key));
                self.problems.add(at, message, format!("it is already at line {line}"));
                continue;
            }
            first_lines.insert(key.clone(), at.line);
            entries.push(Entry { key, at, node });
        }
    }

    fn alias(&mut self, id: usize, at: Position) -> Result<Node, Stopped> {
        let Some(Anchor { node, size, depth }) = self.anchors.get(&id) else {
            let message = "an alias is used inside its own value";
            return self.stop(at, message, "write the value out");
        };
        let (size, too_deep) = (*size, self.depth + depth > DEPTH_MAX);
        if too_deep {
            let message = format!("nested deeper than {DEPTH_MAX} levels through aliases");
            return self.stop(at, message, "write the value out");
        }
        // Before copying: a value over a limit takes no memory.
        self.size = self.size.and(size);
        let value = match self.size.is_over() {
            None => node.value.clone(),
            Some(message) => return self.stop(at, message, FEWER),
        };
        Ok(Node { at, value })
    }

    /// Adds `more` to the file's size and checks the limits.
    fn count(&mut self, more: Size, at: Position) -> Result<(), Stopped> {
        self.size = self.size.and(more);
        match self.size.is_over() {
            None => Ok(()),
            Some(message) => self.stop(at, message, FEWER),
        }
    }
}

/// Replaces tabs before JSON, which may be indented with tabs; YAML may not. A line of a block of
/// text never begins with a tab.
fn json_spaced(text: &str) -> Cow<'_, str> {
    let indentation = |line: &str| {
        let rest = line.trim_start_matches(['\t', ' ']);
        let is_json = line.starts_with('\t') && rest.starts_with(['"', '{', '}', '[', ']']);
        is_json.then(|| line.len() - rest.len())
    };
    if !text.lines().any(|line| indentation(line).is_some()) {
        return text.into();
    }
    let spaced = text.split_inclusive('\n').flat_map(|line| {
        let (tabs, rest) = line.split_at(indentation(line).unwrap_or_default());
        [" ".repeat(tabs.len()), rest.to_owned()]
    });
    Cow::Owned(spaced.collect())
}

/// A tab in the indentation of the line at `at` or the next: the parser's error is unclear, and
/// names the line before.
fn tab_near(text: &str, at: Position) -> Option<Position> {
    let lines = text.lines().enumerate().skip(at.line.saturating_sub(1)).take(2);
    lines.into_iter().find_map(|(index, line)| {
        let indentation = line.chars().take_while(|char| matches!(char, ' ' | '\t'));
        let column = indentation.enumerate().find(|(_, char)| *char == '\t')?.0 + 1;
        Some(Position { line: index + 1, column })
    })
}

/// The parser's columns count from 0.
fn position(marker: &Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

/// Size of a node including itself, and its depth.
fn size(node: &Node) -> (Size, usize) {
    let own = |bytes: usize| Size { nodes: 1, bytes };
    let deeper = |(sum, depth): (Size, usize), node: &Node| {
        let (more, below) = size(node);
        (sum.and(more), depth.max(below + 1))
    };
    match &node.value {
        Value::List(items) => items.iter().fold((own(0), 1), deeper),
        Value::Map(entries) => {
            let keys = entries.iter().map(|entry| entry.key.len()).sum();
            entries.iter().map(|entry| &entry.node).fold((own(keys), 1), deeper)
        }
        Value::Scalar(scalar) => (own(scalar.text.len()), 0),
        Value::Broken => (own(0), 0),
    }
}
