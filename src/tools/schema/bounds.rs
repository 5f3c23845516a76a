//! Bounds of a schema's cost, computed before compiling it. Within them, compiling and any check
//! take a bounded number of steps, so no check needs a process that could be killed. Entry type:
//! [`Weight`].

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    error::{
        BYTES, CHAIN, CHECKS, DEPTH, LEVELS, PARTS, PATTERN_BYTES, PATTERNS, SchemaError, TARGETS,
    },
    parts::{self, Document, Part},
};

/// A pattern takes about 100 KiB, as much memory as this many parts.
const PATTERN_PARTS: usize = 200;

/// Sizes of compiled expressions, each with the worst-case cost of a byte of text in checks: every
/// state of the automaton is visited.
const PATTERN_COSTS: [(usize, u64); 3] = [(4 * 1024, 13), (16 * 1024, 52), (PATTERN_BYTES, 210)];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Objects and lists.
    pub parts: usize,
    /// Recursion depth of compiling.
    pub levels: usize,
    /// Checks per value.
    checks: u64,
    /// Most checks of a member or item per check of its container.
    fan: u64,
    /// Recursion depth of checking one value.
    chain: u64,
    /// Checks per 16 bytes of text.
    text: u64,
    /// It compares items with each other.
    compares: bool,
}

impl Weight {
    /// Largest schema compiled without a stack of its own.
    pub const SMALL: Self = Self {
        parts: 200,
        levels: 32,
        checks: 500,
        fan: u64::MAX,
        chain: 16,
        text: u64::MAX,
        compares: true,
    };

    /// True if compiling costs at most as much as `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        self.parts <= other.parts
            && self.levels <= other.levels
            && self.checks <= other.checks
            && self.chain <= other.chain
    }

    /// Weighs `schema`. Fails above a bound, or on an unusable reference, `$id` or pattern.
    pub fn of(schema: &Value) -> Result<Self, SchemaError> {
        let mut size = Size { bytes: 0, parts: 0 };
        size.add(schema, 0)?;
        let mut survey = Survey::new(schema);
        survey.walk(schema)?;
        let mut weight = Self {
            parts: size.parts + PATTERN_PARTS * survey.patterns.len(),
            levels: survey.levels()?,
            text: survey.text_cost()?,
            compares: survey.compares,
            fan: 1,
            ..Self::default()
        };
        for part in survey.all.clone() {
            let one = survey.unfolded(part, 0)?;
            weight.checks = weight.checks.max(one.checks);
            weight.fan = weight.fan.max(one.fan);
            weight.chain = weight.chain.max(one.chain);
        }
        if survey.unevaluated && survey.compiled(schema, 0)? > CHECKS {
            return Err(SchemaError::Unfolds);
        }
        Ok(weight)
    }

    /// Upper bounds for checking `value`: number of checks, and depth.
    pub fn cost(&self, value: &Value) -> (u64, u64) {
        let mut cost = Cost { weight: self, checks: 0, deepest: 0 };
        cost.add(value, 1, 1);
        let compared = if self.compares { 16 * cost.deepest } else { 1 };
        let checks = cost.checks.saturating_mul(self.checks.max(1)).saturating_mul(compared);
        (checks, cost.deepest.saturating_mul(self.chain.max(1)))
    }
}

struct Cost<'a> {
    weight: &'a Weight,
    checks: u64,
    deepest: u64,
}

impl Cost<'_> {
    /// Adds `value`, checked `times`.
    fn add(&mut self, value: &Value, times: u64, depth: u64) {
        self.deepest = self.deepest.max(depth);
        let text = |text: &str| as_u64(text.len()).saturating_mul(self.weight.text) / 16;
        let own = match value {
            Value::String(it) => text(it),
            Value::Object(members) => members.keys().map(|key| 1 + text(key)).sum(),
            Value::Array(items) => as_u64(items.len()),
            _ => 0,
        };
        self.checks = self.checks.saturating_add((1 + own).saturating_mul(times));
        let below = times.saturating_mul(self.weight.fan);
        match value {
            Value::Object(members) => {
                members.values().for_each(|value| self.add(value, below, depth + 1));
            }
            Value::Array(items) => items.iter().for_each(|it| self.add(it, below, depth + 1)),
            _ => {}
        }
    }
}

fn as_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

struct Size {
    bytes: usize,
    parts: usize,
}

impl Size {
    fn add(&mut self, value: &Value, depth: usize) -> Result<(), SchemaError> {
        self.bytes += match value {
            Value::String(text) => text.len() + 3,
            _ => 3,
        };
        if self.bytes > BYTES {
            return Err(SchemaError::Large);
        }
        if !(value.is_object() || value.is_array()) {
            return Ok(());
        }
        self.parts += 1;
        if self.parts > PARTS {
            return Err(SchemaError::Parts);
        }
        if depth == DEPTH {
            return Err(SchemaError::Deep);
        }
        match value {
            Value::Object(members) => members.iter().try_for_each(|(key, value)| {
                self.bytes += key.len() + 3;
                self.add(value, depth + 1)
            }),
            Value::Array(items) => items.iter().try_for_each(|it| self.add(it, depth + 1)),
            _ => Ok(()),
        }
    }
}

/// Cost of one part with all that applies to the same value substituted.
#[derive(Clone, Copy, Default)]
struct Unfolded {
    checks: u64,
    fan: u64,
    /// Checks of the second pass for `unevaluated…`.
    checks_again: u64,
    fan_again: u64,
    chain: u64,
}

/// A walk over all reachable parts of a schema.
struct Survey<'a> {
    document: Document<'a>,
    all: Vec<&'a Value>,
    targets: Vec<&'a Value>,
    patterns: HashSet<&'a str>,
    compares: bool,
    unevaluated: bool,
    known: HashMap<*const Value, Option<Unfolded>>,
    known_whole: HashMap<*const Value, Option<u64>>,
}

impl<'a> Survey<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            document: Document::new(root),
            all: Vec::new(),
            targets: Vec::new(),
            patterns: HashSet::new(),
            compares: false,
            unevaluated: false,
            known: HashMap::new(),
            known_whole: HashMap::new(),
        }
    }

    /// Collects every part, including referenced ones.
    fn walk(&mut self, root: &'a Value) -> Result<(), SchemaError> {
        let (mut seen, mut named) = (HashSet::new(), HashSet::new());
        let (mut open, mut references) = (vec![root], Vec::new());
        loop {
            while let Some(part) = open.pop() {
                if !seen.insert(std::ptr::from_ref(part)) {
                    continue;
                }
                self.document.note(part)?;
                self.all.push(part);
                let Value::Object(members) = part else { continue };
                self.look(members);
                for inner in parts::of(members) {
                    match inner {
                        Part::Same(it) | Part::Below(it) | Part::Defined(it) => open.push(it),
                        Part::Reference(text) => {
                            if named.insert(text) {
                                references.push(text);
                            }
                        }
                    }
                }
            }
            // References last: anchors must be known.
            let Some(reference) = references.pop() else { return Ok(()) };
            let target = self.document.resolve(reference)?;
            if !self.targets.iter().any(|it| std::ptr::eq(*it, target)) {
                self.targets.push(target);
            }
            if self.targets.len() > TARGETS {
                return Err(SchemaError::Targets);
            }
            open.push(target);
        }
    }

    /// Collects patterns and costly keywords.
    fn look(&mut self, members: &'a Map<String, Value>) {
        let has = |key: &str| members.contains_key(key);
        self.unevaluated |= has("unevaluatedProperties") || has("unevaluatedItems");
        self.compares |= has("uniqueItems");
        self.patterns.extend(members.get("pattern").and_then(Value::as_str));
        let named = members.get("patternProperties").and_then(Value::as_object);
        self.patterns.extend(named.into_iter().flatten().map(|(pattern, _)| pattern.as_str()));
    }

    /// Nesting depth with all references expanded.
    fn levels(&self) -> Result<usize, SchemaError> {
        let roots = self.all.first().into_iter().chain(&self.targets);
        let levels = roots.map(|part| height(part)).sum();
        if levels > LEVELS { Err(SchemaError::Levels) } else { Ok(levels) }
    }

    /// Checks per 16 bytes of text with the costliest pattern. Fails with too many patterns, or
    /// with one of unknown cost beside `unevaluated…`.
    fn text_cost(&self) -> Result<u64, SchemaError> {
        if self.patterns.len() > PATTERNS {
            return Err(SchemaError::Patterns);
        }
        let mut cost = 1;
        for pattern in &self.patterns {
            let fits = |most: usize| {
                let mut builder = regex::bytes::RegexBuilder::new(pattern);
                // ECMAScript's classes are ASCII only.
                builder.unicode(pattern.contains("\\p") || !pattern.is_ascii());
                builder.size_limit(most).build()
            };
            // Patterns of ECMAScript syntax count as the costliest; the compiler judges them by its
            // own rules.
            let small = PATTERN_COSTS.into_iter().find(|(most, _)| fits(*most).is_ok());
            if small.is_none() && self.unevaluated {
                // There the compiler uses a backtracking engine with look-around.
                return Err(SchemaError::Pattern(pattern.chars().take(60).collect()));
            }
            let (_, per_byte) = small.unwrap_or(PATTERN_COSTS[2]);
            cost = cost.max(16 * per_byte);
        }
        Ok(cost)
    }

    /// Cost of `part` with all that applies to the same value.
    fn unfolded(&mut self, part: &'a Value, depth: usize) -> Result<Unfolded, SchemaError> {
        let Value::Object(members) = part else {
            return Ok(Unfolded { checks: 1, checks_again: 1, chain: 1, ..Unfolded::default() });
        };
        match self.known.get(&std::ptr::from_ref(part)) {
            Some(Some(done)) => return Ok(*done),
            Some(None) => return Err(SchemaError::Endless),
            None if depth > CHAIN => return Err(SchemaError::Chain),
            None => _ = self.known.insert(part, None),
        }
        let (own, fan) = (own_checks(members), fan(members));
        let mut sum = Unfolded { checks: own, fan, checks_again: own, fan_again: fan, chain: 0 };
        for inner in parts::of(members) {
            let inner = match inner {
                Part::Same(it) => it,
                Part::Reference(text) => self.document.resolve(text)?,
                Part::Below(_) | Part::Defined(_) => continue,
            };
            let inner = self.unfolded(inner, depth + 1)?;
            sum.checks = sum.checks.saturating_add(inner.checks);
            sum.fan = sum.fan.saturating_add(inner.fan);
            let again = inner.checks.saturating_add(inner.checks_again);
            sum.checks_again = sum.checks_again.saturating_add(again);
            let again = inner.fan.saturating_add(inner.fan_again);
            sum.fan_again = sum.fan_again.saturating_add(again);
            sum.chain = sum.chain.max(inner.chain);
        }
        sum.chain += 1;
        if has_unevaluated(members) {
            sum.checks = sum.checks.saturating_add(sum.checks_again);
            sum.fan = sum.fan.saturating_add(sum.fan_again);
        }
        if sum.checks > CHECKS {
            return Err(SchemaError::Unfolds);
        }
        self.known.insert(part, Some(sum));
        Ok(sum)
    }

    /// Parts compiled for `part` with `unevaluated…` in the schema: all references are compiled
    /// again, so cycles are an error.
    fn compiled(&mut self, part: &'a Value, depth: usize) -> Result<u64, SchemaError> {
        let Value::Object(members) = part else { return Ok(1) };
        match self.known_whole.get(&std::ptr::from_ref(part)) {
            Some(Some(done)) => return Ok(*done),
            Some(None) => return Err(SchemaError::Unevaluated),
            None if depth > 2 * CHAIN => return Err(SchemaError::Chain),
            None => _ = self.known_whole.insert(part, None),
        }
        let mut sum: u64 = 1;
        for inner in parts::of(members) {
            let inner = match inner {
                Part::Same(it) | Part::Below(it) => it,
                Part::Reference(text) => self.document.resolve(text)?,
                Part::Defined(_) => continue,
            };
            sum = sum.saturating_add(self.compiled(inner, depth + 1)?);
        }
        if has_unevaluated(members) {
            sum = sum.saturating_mul(3);
        }
        self.known_whole.insert(part, Some(sum));
        Ok(sum)
    }
}

fn has_unevaluated(members: &Map<String, Value>) -> bool {
    ["unevaluatedProperties", "unevaluatedItems"].iter().any(|key| members.contains_key(*key))
}

/// Checks of a part itself: values to compare, names to look up.
fn own_checks(members: &Map<String, Value>) -> u64 {
    let counted =
        ["enum", "const", "required", "properties", "patternProperties", "dependentRequired"];
    let values = counted.iter().filter_map(|key| members.get(*key));
    values.map(count).sum::<u64>() + 1
}

/// Values in `value`, two levels deep; compared values are rarely deeper.
fn count(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(|item| 1 + length(item)).sum(),
        Value::Object(members) => as_u64(members.len()),
        _ => 1,
    }
}

fn length(value: &Value) -> u64 {
    match value {
        Value::Array(items) => as_u64(items.len()),
        Value::Object(members) => as_u64(members.len()),
        _ => 0,
    }
}

/// Most parts one member or item is checked against.
fn fan(members: &Map<String, Value>) -> u64 {
    let one = |key: &str| u64::from(members.get(key).is_some_and(|it| !it.is_boolean()));
    let patterns = members.get("patternProperties").and_then(Value::as_object);
    let named = one("properties") + patterns.map_or(0, |it| as_u64(it.len()));
    let of_members = named.max(one("additionalProperties")) + one("unevaluatedProperties");
    let listed = one("items").max(one("prefixItems")).max(one("additionalItems"));
    of_members.max(listed + one("contains") + one("unevaluatedItems"))
}

/// Nesting depth of JSON.
fn height(value: &Value) -> usize {
    let below = match value {
        Value::Object(members) => members.values().map(height).max(),
        Value::Array(items) => items.iter().map(height).max(),
        _ => return 0,
    };
    below.unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Largest stack that compiling, checking and dropping may need: that of a runtime's thread.
    const STACK: usize = 2 * 1024 * 1024;

    #[test]
    fn value_cost_follows_unfolded_schema() {
        let flat = Weight::of(&json!({"properties": {"a": {"type": "string"}}})).expect("small");
        assert_eq!(flat.cost(&json!({"a": "x"})).0, 2 * (1 + 1 + 1));
        let twice = json!({"$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}}}},
            "allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]});
        let twice = Weight::of(&twice).expect("small");
        assert_eq!((twice.fan, twice.chain), (2, 3));
        let mut deep = json!({});
        for _ in 0..60 {
            deep = json!({"a": deep});
        }
        assert!(twice.cost(&deep).0 > 1 << 60, "doubled at each level");
    }

    #[test]
    fn text_costs_more_where_patterns_read_it() {
        let cost = |pattern: &str| {
            let schema = json!({"properties": {"a": {"pattern": pattern}}});
            Weight::of(&schema).expect("small").cost(&json!({"a": "x".repeat(100)})).0
        };
        assert!(cost("^[0-9a-f]{8}-[^/]*$") < cost("^[^x]{300}\\w{300}$"));
    }

    #[test]
    fn deep_values_are_checked_within_small_stack() {
        // A chain of definitions, as long as is allowed, each in the other.
        let mut defs = Map::new();
        for level in 0..400 {
            let next = json!({"properties": {"a": {"$ref": format!("#/$defs/d{}", level + 1)}}});
            defs.insert(format!("d{level}"), next);
        }
        defs.insert("d400".to_owned(), json!({"type": "string"}));
        let chain = json!({"$defs": defs, "$ref": "#/$defs/d0"});
        let weight = Weight::of(&chain).expect("within its bounds");
        assert!(weight.levels > 1_000, "{}", weight.levels);
        let small = std::thread::Builder::new().stack_size(STACK);
        let done = small.spawn(move || {
            let schema = crate::tools::schema::Schema::new(&chain).expect("compiled");
            let mut value = json!(1);
            for _ in 0..120 {
                value = json!({"a": value});
            }
            schema.check_here(value).expect("fits");
        });
        done.expect("a thread").join().expect("it does not overflow");
    }
}
