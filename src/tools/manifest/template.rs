//! Templates of mock tools: `{{ city }}`, or Go's `{{.city}}`. In JSON text, values are escaped;
//! missing ones are empty. **Never**: reads files, includes other templates, runs without end.

use std::io;

use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior,
    value::{Serde, ValueKind},
};
use serde_json::{Map, Value};

/// Most steps of one rendering.
const FUEL: u64 = 100_000;
/// Longest template, in bytes.
const LONGEST: usize = 64 * 1024;
/// Most joining operators in one template: each may double a text.
const JOINED: usize = 8;
/// Longest output, in bytes.
const LARGEST: usize = 1024 * 1024;
const NAME: &str = "mock";
/// Go actions, reported as unsupported.
const GO_ACTIONS: [&str; 8] =
    ["if", "else", "end", "range", "with", "template", "define", "printf"];

#[derive(Clone)]
pub struct Template {
    /// Escapes for JSON text.
    json: Environment<'static>,
    /// Escapes nothing.
    words: Environment<'static>,
    /// The template looks like JSON.
    wants_json: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// An unsupported Go action.
    #[error("'{{{{{0} …}}}}' cannot be used; write {{% if name %}} … {{% endif %}}")]
    GoAction(String),
    #[error("'{{{{.}}}}' names no argument")]
    NoName,
    #[error("it is longer than {} KiB", LONGEST >> 10)]
    Long,
    #[error("it has '~' more than {JOINED} times (write {{{{ a }}}}{{{{ b }}}})")]
    Joined,
    #[error("it makes more than {} KiB", LARGEST >> 10)]
    Large,
    /// One line in the interpreter's words.
    #[error("{0}")]
    Engine(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Rendered {
    /// Parsed JSON.
    Value(Value),
    /// Plain text.
    Text(String),
    /// Meant to be JSON, but invalid.
    Broken(String),
}

impl Template {
    /// Compiles `text`. Fails on a syntax error (with its line) or above a bound.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.len() > LONGEST {
            return Err(TemplateError::Long);
        }
        if text.matches('~').count() > JOINED {
            return Err(TemplateError::Joined);
        }
        let text = from_go(text)?;
        let wants_json = text.trim_start().starts_with(['{', '['])
            && !text.trim_start().starts_with("{{")
            && !text.trim_start().starts_with("{%");
        Ok(Self { json: compiled(&text, true)?, words: compiled(&text, false)?, wants_json })
    }

    /// Renders with `arguments`. Fails on an error or too much text.
    pub fn render(&self, arguments: &Map<String, Value>) -> Result<Rendered, TemplateError> {
        let text = render(&self.json, arguments)?;
        if let Ok(value) = serde_json::from_str(&text) {
            return Ok(Rendered::Value(value));
        }
        if self.wants_json {
            return Ok(Rendered::Broken(text));
        }
        render(&self.words, arguments).map(Rendered::Text)
    }
}

fn render(
    environment: &Environment,
    arguments: &Map<String, Value>,
) -> Result<String, TemplateError> {
    let mut made = Made(Vec::new());
    let template = environment.get_template(NAME);
    let rendered =
        template.and_then(|it| it.render_captured_to(Serde(arguments), &mut made).map(drop));
    match rendered {
        Ok(()) => Ok(String::from_utf8_lossy(&made.0).into_owned()),
        Err(error) if error.kind() == ErrorKind::WriteFailure => Err(TemplateError::Large),
        Err(error) => Err(TemplateError::Engine(said(&error))),
    }
}

struct Made(Vec<u8>);

impl io::Write for Made {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LARGEST {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `{{ text | replace(a, b) }}`, bounded.
fn replaced(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let longer = text.matches(from).count().saturating_mul(to.len());
    match text.len().saturating_add(longer) > LARGEST {
        true => Err(Error::new(ErrorKind::InvalidOperation, "the replaced text is too large")),
        false => Ok(text.replace(from, to)),
    }
}

/// `{{ list | join(between) }}`, bounded.
fn joined(list: &minijinja::Value, between: Option<&str>) -> Result<String, Error> {
    let mut text = String::new();
    for (number, item) in list.try_iter()?.enumerate() {
        if number > 0 {
            text.push_str(between.unwrap_or_default());
        }
        text.push_str(&item.to_string());
        if text.len() > LARGEST {
            return Err(Error::new(ErrorKind::InvalidOperation, "the joined text is too large"));
        }
    }
    Ok(text)
}

fn compiled(text: &str, escaped: bool) -> Result<Environment<'static>, TemplateError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    // `namespace` would carry growing text across rounds of a loop.
    environment.remove_global("namespace");
    // `debug` dumps the engine's state.
    environment.remove_global("debug");
    environment.remove_filter("pprint");
    for filter in ["join", "indent", "format"] {
        environment.remove_filter(filter);
    }
    environment.add_filter("join", joined);
    environment.add_filter("replace", |text: &str, from: &str, to: &str| replaced(text, from, to));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(move |out, _, value| {
        let text = match value.kind() {
            ValueKind::Undefined | ValueKind::None => return Ok(()),
            ValueKind::String if escaped && !value.is_safe() => inside_quotes(&value.to_string()),
            ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
                serde_json::to_string(value).unwrap_or_default()
            }
            _ => value.to_string(),
        };
        Ok(out.write_str(&text)?)
    });
    environment
        .add_template_owned(NAME, text.to_owned())
        .map_err(|error| TemplateError::Engine(said(&error)))?;
    Ok(environment)
}

/// `text` escaped for the inside of a JSON string.
fn inside_quotes(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// One-line error.
fn said(error: &Error) -> String {
    let kind = error.kind().to_string();
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    let line = error.line().map(|line| format!(" in line {line}")).unwrap_or_default();
    format!("{kind}{detail}{line}").replace('\n', " ")
}

/// Converts Go's field references.
fn from_go(text: &str) -> Result<String, TemplateError> {
    let (mut ours, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("{{") {
        ours.push_str(before);
        ours.push_str("{{");
        let Some((action, behind)) = after.split_once("}}") else {
            rest = after;
            break;
        };
        ours.push_str(&field(action)?);
        ours.push_str("}}");
        rest = behind;
    }
    ours.push_str(rest);
    Ok(ours)
}

/// `.city` becomes `city`.
fn field(action: &str) -> Result<String, TemplateError> {
    let trimmed = action.trim_start_matches('-').trim_start();
    let first = trimmed.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    if GO_ACTIONS.contains(&first) {
        return Err(TemplateError::GoAction(first.to_owned()));
    }
    let Some(name) = trimmed.strip_prefix('.') else { return Ok(action.to_owned()) };
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Err(TemplateError::NoName);
    }
    let dash = if action.starts_with('-') { "-" } else { "" };
    Ok(format!("{dash} {name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn render(text: &str, arguments: Value) -> Result<Rendered, TemplateError> {
        Template::parse(text)?.render(arguments.as_object().expect("an object"))
    }

    #[test]
    fn both_ways_of_writing_yield_json() {
        for text in [
            "{\"city\": \"{{.city}}\", \"n\": {{ .n }}, \"x\": {{.at.x}}}",
            "{\"city\": \"{{ city }}\", \"n\": {{ n }}, \"x\": {{ at.x }}}",
            "{\"city\": {{ city | tojson }}, \"n\": {{- .n -}}, \"x\": {{ at.x }}}",
        ] {
            let arguments = json!({"city": "B\"ree\\\n", "n": 3, "at": {"x": [1, "a"]}});
            let expected = json!({"city": "B\"ree\\\n", "n": 3, "x": [1, "a"]});
            assert_eq!(render(text, arguments), Ok(Rendered::Value(expected)), "{text}");
        }
    }

    #[test]
    fn argument_cannot_add_members() {
        let rendered = render("{\"a\": \"{{.a}}\"}", json!({"a": "x\", \"admin\": \"y"}));
        assert_eq!(rendered, Ok(Rendered::Value(json!({"a": "x\", \"admin\": \"y"}))));
    }

    #[test]
    fn missing_fields_render_empty() {
        let rendered = render("{\"a\": \"{{.a}}\", \"b\": \"{{.b.c.d}}\"}", json!({"b": null}));
        assert_eq!(rendered, Ok(Rendered::Value(json!({"a": "", "b": ""}))));
    }

    #[test]
    fn words_are_not_escaped() {
        let said = render("He says \"{{ what }}\".", json!({"what": "\"Aye\""}));
        assert_eq!(said, Ok(Rendered::Text("He says \"\"Aye\"\".".to_owned())));
        assert_eq!(render("{{ what }}", json!({"what": "a b"})), Ok(Rendered::Text("a b".into())));
    }

    #[test]
    fn json_that_is_none_is_broken() {
        let rendered = render("{\"n\": {{ n }}}", json!({}));
        assert_eq!(rendered, Ok(Rendered::Broken("{\"n\": }".to_owned())));
    }

    #[test]
    fn broken_templates_say_where() {
        for (broken, says) in [
            ("a\n{{ city ", "in line 2"),
            ("{{ city | nosuch }}", "filter"),
            ("{{if .x}}a{{end}}", "write {% if name %}"),
            ("{{.}}", "names no argument"),
            ("{% include 'x' %}", "include"),
            ("{% if a %}", "end of input"),
        ] {
            let error = match Template::parse(broken) {
                Ok(template) => template.render(&Map::new()).expect_err(broken),
                Err(error) => error,
            };
            let error = error.to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{broken}: {error}");
        }
    }

    #[test]
    fn no_template_grows_without_end() {
        let doubled = "{% set a = a ~ a %}".repeat(40);
        assert_eq!(Template::parse(&doubled).err(), Some(TemplateError::Joined));
        let squared = "{% set a = a | replace('x', a) %}".repeat(10);
        let error = render(&format!("{squared}{{{{ a }}}}"), json!({"a": "x".repeat(1_000)}));
        assert!(error.expect_err("a bound").to_string().contains("too large"));
        let many = "{% for i in range(2000) %}{{ a }}{% endfor %}";
        assert_eq!(render(many, json!({"a": "x".repeat(1_000)})), Err(TemplateError::Large));
        let looped = "{% set ns = namespace(a='x') %}";
        assert!(render(looped, json!({})).is_err(), "nothing is carried from round to round");
        let list = render("{{ l | join(', ') }}", json!({"l": ["a", 1]}));
        assert_eq!(list, Ok(Rendered::Text("a, 1".to_owned())));
    }

    #[test]
    fn no_template_runs_without_end() {
        let endless =
            "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
        let error = render(endless, json!({})).expect_err("it ends").to_string();
        assert!(error.contains("fuel"), "{error}");
    }

    #[test]
    fn template_that_looks_at_the_engine_is_refused() {
        for text in ["{{ debug() }}", "{{ [1] | pprint }}", "{{ namespace(a=1) }}"] {
            let error = render(text, json!({})).expect_err(text).to_string();
            assert!(error.contains("unknown"), "{error}");
        }
    }
}
