//! Checks a tree against a table of keys; notes every problem and goes on.

use strsim::osa_distance;

use super::{Entry, Key, Kind, Node, Position, Problems, Scalar, Shape, Value, quoted};

/// Longest word whose spelling is compared, in characters.
const LONGEST: usize = 64;

/// Checks `node`, called `name` in messages, against `kind`. A wrong value is noted and becomes
/// [`Value::Broken`], so that it is reported once.
pub fn check(node: &mut Node, name: &str, kind: &Kind, problems: &mut Problems) {
    match (kind, &mut node.value) {
        (_, Value::Broken) | (Kind::Any, _) => {}
        (Kind::Either(kinds), _) => check_either(node, name, kinds, problems),
        (Kind::List(item), Value::List(items)) => {
            for node in items {
                check(node, name, item, problems);
            }
        }
        (Kind::Names(kind), Value::Map(entries)) => {
            for entry in entries {
                check(&mut entry.node, &join(name, &entry.key), kind, problems);
            }
        }
        (Kind::Shape(shape), Value::Map(_)) => check_shape(node, name, shape, problems),
        (kind, Value::Scalar(scalar)) if fits(kind, scalar) => {}
        (kind, _) => {
            problems.add(node.at, what_is(node, name), way_out(node.scalar(), kind));
            node.value = Value::Broken;
        }
    }
}

fn join(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
}

fn check_shape(node: &mut Node, name: &str, shape: &Shape, problems: &mut Problems) {
    let at = node.at;
    let Value::Map(entries) = &mut node.value else { return };
    respell(entries, shape, problems);
    for key in shape.keys.iter().filter(|key| key.required) {
        let found = entries.iter().find(|entry| entry.key == key.name);
        if found.is_none_or(|entry| entry.node.is_null()) {
            missing(key, found.map_or(at, |entry| entry.at), name, problems);
        }
    }
    for entry in entries {
        match shape.key(&entry.key) {
            Some(_) if entry.node.is_null() => {}
            Some(key) if refuse(&mut entry.node, &join(name, key.name), key, problems) => {}
            Some(key) => check(&mut entry.node, &join(name, key.name), &key.kind, problems),
            None => unknown(&entry.key, entry.at, name, shape, problems),
        }
    }
}

/// True if `key` refuses the value, which is another program's; notes it with the fix.
fn refuse(node: &mut Node, name: &str, key: &Key, problems: &mut Problems) -> bool {
    let Some(scalar) = node.scalar() else { return false };
    let refused = key.refused.iter().find(|(value, _)| value.eq_ignore_ascii_case(&scalar.text));
    let Some((_, way_out)) = refused else { return false };
    problems.add(node.at, what_is(node, name), *way_out);
    node.value = Value::Broken;
    true
}

/// Renames keys in other programs' spellings. A key in both spellings is noted.
fn respell(entries: &mut Vec<Entry>, shape: &Shape, problems: &mut Problems) {
    let mut taken: Vec<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    entries.retain_mut(|entry| {
        let Some(key) = shape.key(&entry.key).filter(|key| key.name != entry.key) else {
            return true;
        };
        if taken.iter().any(|other| other == key.name) {
            let message = format!("{} is the same key as '{}'", quoted(&entry.key), key.name);
            problems.add(entry.at, message, "keep one of them");
            return false;
        }
        entry.key = key.name.to_owned();
        taken.push(entry.key.clone());
        true
    });
}

fn missing(key: &Key, at: Position, name: &str, problems: &mut Problems) {
    let place = if name.is_empty() { String::new() } else { format!(" of {}", quoted(name)) };
    let way_out = format!("{}: {}", key.name, key.kind.expected());
    problems.add(at, format!("missing key '{}'{place}", key.name), way_out);
}

fn unknown(key: &str, at: Position, name: &str, shape: &Shape, problems: &mut Problems) {
    let place = if name.is_empty() { String::new() } else { format!(" in {}", quoted(name)) };
    let known = shape.keys.iter().map(|key| key.name);
    let way_out = if key == "<<" {
        "merge keys are not part of YAML 1.2; write the keys out".to_owned()
    } else if let Some(near) = nearest(key, known.clone()) {
        format!("did you mean '{near}'?")
    } else {
        format!("known keys: {}", known.collect::<Vec<_>>().join(", "))
    };
    problems.add(at, format!("unknown key {}{place}", quoted(key)), way_out);
}

/// The first kind that fits; else the problems of the only kind of the same form, else one problem
/// that names all kinds.
fn check_either(node: &mut Node, name: &str, kinds: &[Kind], problems: &mut Problems) {
    let mut similar = Vec::new();
    for kind in kinds {
        let mut tried = node.clone();
        let mut found = Problems::new(problems.file().clone());
        check(&mut tried, name, kind, &mut found);
        if found.is_empty() {
            *node = tried;
            return;
        }
        if !matches!(tried.value, Value::Broken) || same_form(kind, &node.value) {
            similar.push((tried, found));
        }
    }
    if let [_] = similar.as_slice()
        && let Some((tried, found)) = similar.pop()
    {
        *node = tried;
        problems.append(found);
        return;
    }
    let expected: Vec<_> = kinds.iter().map(Kind::expected).collect();
    problems.add(node.at, what_is(node, name), format!("expected {}", expected.join(", or ")));
    node.value = Value::Broken;
}

/// True if both are lists, mappings or scalars.
const fn same_form(kind: &Kind, value: &Value) -> bool {
    match value {
        Value::List(_) => matches!(kind, Kind::List(_)),
        Value::Map(_) => matches!(kind, Kind::Shape(_) | Kind::Names(_)),
        Value::Scalar(_) => !matches!(kind, Kind::List(_) | Kind::Shape(_) | Kind::Names(_)),
        Value::Broken => false,
    }
}

fn fits(kind: &Kind, scalar: &Scalar) -> bool {
    match kind {
        Kind::Text => is_text(scalar),
        Kind::Filled => is_text(scalar) && !scalar.text.trim().is_empty(),
        Kind::Flag => scalar.flag().is_some(),
        Kind::Whole { min, max } => scalar.whole().is_some_and(|it| (min..=max).contains(&&it)),
        Kind::Number { min, max } => scalar.number().is_some_and(|it| (min..=max).contains(&&it)),
        Kind::Word(words) => is_text(scalar) && words.contains(&scalar.text.as_str()),
        _ => false,
    }
}

/// Text, or a number taken as written; not `true` or null, unless from a variable.
fn is_text(scalar: &Scalar) -> bool {
    scalar.written.is_some() || !scalar.is_null() && scalar.flag().is_none()
}

/// Describes an unexpected node.
fn what_is(node: &Node, name: &str) -> String {
    let name = if name.is_empty() { "the file".to_owned() } else { quoted(name) };
    match &node.value {
        Value::List(_) => format!("{name} is a list"),
        Value::Map(_) => format!("{name} is a mapping"),
        Value::Broken => format!("{name} cannot be read"),
        Value::Scalar(scalar) if scalar.is_null() => format!("{name} is empty"),
        Value::Scalar(scalar) => format!("{name} is {}", scalar.shown()),
    }
}

/// The expected value, and the fix for a common slip.
fn way_out(scalar: Option<&Scalar>, kind: &Kind) -> String {
    let expected = format!("expected {}", kind.expected());
    let Some(scalar) = scalar else { return expected };
    let text = scalar.text.as_str();
    let hint = match kind {
        Kind::Text | Kind::Filled if scalar.is_null() => "; \"\" is empty text".to_owned(),
        Kind::Text | Kind::Filled | Kind::Word(_) if scalar.flag().is_some() => {
            "; put it in quotes to make it text".to_owned()
        }
        Kind::Flag if matches!(text, "yes" | "on") => "; write true".to_owned(),
        Kind::Flag if matches!(text, "no" | "off") => "; write false".to_owned(),
        Kind::Flag | Kind::Whole { .. } | Kind::Number { .. } if scalar.quoted => {
            "; without quotes".to_owned()
        }
        Kind::Word(words) => nearest(text, words.iter().copied())
            .map(|near| format!("; did you mean '{near}'?"))
            .unwrap_or_default(),
        Kind::List(_) if !scalar.is_null() => "; put it in [ ]".to_owned(),
        _ => String::new(),
    };
    expected + &hint
}

/// The one of `known` nearest to `word`, if a slip of the fingers explains it: at most a third of
/// the letters wrong, missing, added or swapped with a neighbour.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    let scored = known.into_iter().filter_map(|candidate| {
        let known = candidate.to_lowercase();
        let letters = known.chars().count();
        let distance = osa_distance(&word, &known);
        let is_slip = distance <= length.max(letters).div_ceil(3) && distance < letters;
        is_slip.then_some((distance, candidate))
    });
    scored.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}
