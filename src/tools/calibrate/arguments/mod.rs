//! Makes the smallest arguments a schema accepts: required members only, with the schema's own
//! values where it offers any. Entry function: [`minimal`].

mod keywords;
#[cfg(test)]
mod tests;

use std::{cell::Cell, time::Duration};

use serde_json::{Map, Value, json};
use tokio::time::Instant;

pub use self::keywords::NoArguments;
use self::keywords::{kind, merge, number, of_format, whole};
use crate::tools::schema::Schema;

/// Depths tried in turn: the flattest arguments win, and recursive schemas end.
const DEPTHS: [usize; 4] = [3, 6, 12, 24];
/// Most parts visited before a schema counts as endless.
const STEPS: usize = 512;
/// Longest search: each step may validate a value.
const PATIENCE: Duration = Duration::from_millis(500);
/// Most members or items.
const MOST: u64 = 64;
/// Longest text, in characters.
const LONGEST: u64 = 4_096;
/// Text tried without a pattern.
const TEXT: &str = "test";
/// Texts tried for a pattern.
const TEXTS: [&str; 16] = [
    "test",
    "a",
    "A",
    "1",
    "10",
    "0.1",
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    "00:00",
    "test-1",
    "test_1",
    "/test",
    "test.txt",
    "test@example.com",
    "https://example.com/",
    "00000000-0000-4000-8000-000000000000",
];

/// The smallest arguments made from `schema` that pass `whole`, its compiled form.
pub fn minimal(schema: &Value, whole: &Schema) -> Result<Map<String, Value>, NoArguments> {
    let until = Instant::now() + PATIENCE;
    let attempt = |deepest: usize| {
        let maker = Maker { root: schema, deepest, steps: Cell::new(0), until };
        maker.value(schema, 0).and_then(|made| Ok(whole.check_here(made)?))
    };
    let [flattest, deeper @ ..] = DEPTHS;
    let mut made = attempt(flattest);
    for deepest in deeper {
        made = made.or_else(|_| attempt(deepest));
    }
    match made? {
        Value::Object(arguments) => Ok(arguments),
        other => Err(NoArguments::NoObject(other.to_string())),
    }
}

struct Maker<'a> {
    root: &'a Value,
    deepest: usize,
    steps: Cell<usize>,
    until: Instant,
}

impl Maker<'_> {
    fn step(&self, depth: usize) -> Result<(), NoArguments> {
        self.steps.set(self.steps.get() + 1);
        let is_late = Instant::now() > self.until;
        if depth > self.deepest || self.steps.get() > STEPS || is_late {
            return Err(NoArguments::Endless);
        }
        Ok(())
    }

    /// A value for `schema`; its own constants, defaults and examples come first.
    fn value(&self, schema: &Value, depth: usize) -> Result<Value, NoArguments> {
        self.step(depth)?;
        let members = match schema {
            Value::Bool(true) => return Ok(json!(TEXT)),
            Value::Object(members) => self.flat(members, depth)?,
            _ => return Err(NoArguments::Nothing),
        };
        if let Some(offered) = self.offered(&members) {
            return Ok(offered);
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(branches) = members.get(choice).and_then(Value::as_array) {
                return self.branch(&members, choice, branches, depth);
            }
        }
        match kind(&members) {
            "null" => Ok(Value::Null),
            "boolean" => Ok(json!(false)),
            "integer" => number(&members, true),
            "number" => number(&members, false),
            "array" => self.array(&members, depth),
            "object" => self.object(&members, depth),
            _ => self.text(&members),
        }
    }

    /// `members` with references and combinations merged in.
    fn flat(
        &self,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Result<Map<String, Value>, NoArguments> {
        self.step(depth)?;
        let mut flat = members.clone();
        let mut parts = Vec::new();
        if let Some(Value::String(reference)) = flat.remove("$ref") {
            let pointer = reference.strip_prefix('#');
            let target = pointer.and_then(|pointer| self.root.pointer(pointer));
            let target = target.ok_or(NoArguments::Reference(reference))?;
            parts.push(target.clone());
        }
        if let Some(Value::Array(all)) = flat.remove("allOf") {
            parts.extend(all);
        }
        for part in parts {
            match part {
                Value::Bool(true) => {}
                Value::Object(part) => merge(&mut flat, self.flat(&part, depth + 1)?),
                _ => return Err(NoArguments::Nothing),
            }
        }
        Ok(flat)
    }

    /// The first constant, default, example or listed value that fits.
    fn offered(&self, members: &Map<String, Value>) -> Option<Value> {
        let single = ["const", "default"].into_iter().filter_map(|key| members.get(key));
        let lists = ["examples", "enum"].into_iter().filter_map(|key| members.get(key)?.as_array());
        single.chain(lists.flatten()).find(|offered| self.fits(members, offered)).cloned()
    }

    /// True if `value` passes this part, or the part cannot be checked alone; `whole` decides
    /// later.
    fn fits(&self, members: &Map<String, Value>, value: &Value) -> bool {
        let mut members = members.clone();
        for definitions in ["$defs", "definitions"] {
            if let Some(known) = self.root.get(definitions) {
                members.entry(definitions).or_insert_with(|| known.clone());
            }
        }
        let schema = Schema::new(&Value::Object(members));
        schema.map_or(true, |schema| schema.check_here(value.clone()).as_ref() == Ok(value))
    }

    /// A value for the first branch that has one.
    fn branch(
        &self,
        members: &Map<String, Value>,
        choice: &str,
        branches: &[Value],
        depth: usize,
    ) -> Result<Value, NoArguments> {
        let mut base = members.clone();
        base.remove(choice);
        let mut reason = NoArguments::NoBranch(choice.to_owned());
        for branch in branches {
            let whole = match branch {
                Value::Bool(true) => Ok(base.clone()),
                Value::Object(branch) => self.flat(branch, depth + 1).map(|branch| {
                    let mut whole = base.clone();
                    merge(&mut whole, branch);
                    whole
                }),
                _ => continue,
            };
            match whole.and_then(|whole| self.value(&Value::Object(whole), depth + 1)) {
                Ok(value) if self.fits(members, &value) => return Ok(value),
                Ok(_) => reason = NoArguments::NoFittingBranch(choice.to_owned()),
                Err(why) => reason = why,
            }
        }
        Err(reason)
    }

    fn array(&self, members: &Map<String, Value>, depth: usize) -> Result<Value, NoArguments> {
        let least = whole(members, "minItems").unwrap_or(0);
        if least > MOST {
            return Err(NoArguments::Items(least));
        }
        let first = members.get("prefixItems").and_then(Value::as_array);
        let any = Value::Bool(true);
        let rest = members.get("items").unwrap_or(&any);
        let distinct = members.get("uniqueItems") == Some(&Value::Bool(true));
        let mut items: Vec<Value> = Vec::new();
        while (items.len() as u64) < least {
            let schema = first.and_then(|first| first.get(items.len())).unwrap_or(rest);
            let mut item = self.value(schema, depth + 1)?;
            if distinct && items.contains(&item) {
                item = self.another(schema, &items, item)?;
            }
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    /// A value for `schema` that is not in `taken`.
    fn another(&self, schema: &Value, taken: &[Value], like: Value) -> Result<Value, NoArguments> {
        let members = schema.as_object().cloned().unwrap_or_default();
        let listed = members.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
        let varied = (1..=MOST).filter_map(|step| match &like {
            Value::String(text) => Some(json!(format!("{text}{step}"))),
            Value::Number(number) => match number.as_i64() {
                Some(number) => number.checked_add_unsigned(step).map(|number| json!(number)),
                None => number.as_f64().map(|number| json!(number + 1.0)),
            },
            Value::Bool(is) => Some(json!(!is)),
            _ => None,
        });
        listed
            .into_iter()
            .chain(varied)
            .find(|other| !taken.contains(other) && self.fits(&members, other))
            .ok_or(NoArguments::Alike)
    }

    fn object(&self, members: &Map<String, Value>, depth: usize) -> Result<Value, NoArguments> {
        let none = Map::new();
        let properties = members.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let any = Value::Bool(true);
        let others = members.get("additionalProperties").unwrap_or(&any);
        let mut made = Map::new();
        let required = members.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            let schema = properties.get(key).unwrap_or(others);
            let value = self.value(schema, depth + 1).map_err(|why| NoArguments::Member {
                member: key.to_owned(),
                why: Box::new(why),
            })?;
            made.insert(key.to_owned(), value);
        }
        let least = whole(members, "minProperties").unwrap_or(0);
        if least > MOST {
            return Err(NoArguments::Members(least));
        }
        let optional = properties.keys().cloned();
        let invented = (1..=least).map(|number| format!("{TEXT}{number}"));
        for key in optional.chain(invented) {
            if made.len() as u64 >= least {
                break;
            }
            if !made.contains_key(&key) {
                let schema = properties.get(&key).unwrap_or(others);
                made.insert(key, self.value(schema, depth + 1)?);
            }
        }
        Ok(Value::Object(made))
    }

    fn text(&self, members: &Map<String, Value>) -> Result<Value, NoArguments> {
        let least = whole(members, "minLength").unwrap_or(0);
        let most = whole(members, "maxLength").unwrap_or(LONGEST);
        if least > LONGEST {
            return Err(NoArguments::Characters(least));
        }
        if let Some(text) = members.get("format").and_then(Value::as_str).and_then(of_format) {
            return Ok(json!(text));
        }
        if !members.contains_key("pattern") {
            let letters = TEXT.chars().chain(std::iter::repeat('a'));
            let length = (TEXT.len() as u64).min(most).max(least);
            let length = usize::try_from(length).unwrap_or(TEXT.len());
            return Ok(json!(letters.take(length).collect::<String>()));
        }
        let found = TEXTS.iter().map(|text| json!(text)).find(|text| self.fits(members, text));
        found.ok_or_else(|| {
            let pattern = members.get("pattern").unwrap_or(&Value::Null);
            NoArguments::Pattern(pattern.to_string())
        })
    }
}
