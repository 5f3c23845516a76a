//! JMESPath expressions that reshape requests and answers.

use std::io;

use jmespath::{ErrorReason, Expression, RuntimeError};
use serde_json::Value;

/// Longest expression in bytes.
const LONGEST: usize = 8 * 1024;
/// Deepest nesting or chain of steps; the interpreter recurses over them.
const DEEPEST: usize = 128;
/// Most copies of the input in a result.
const GROWTH: usize = 1_024;
/// Largest result, in bytes of JSON.
const LARGEST: usize = 4 * 1024 * 1024;

/// One-line error of an expression or its evaluation, in the interpreter's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MappingError(String);

#[derive(Clone)]
pub struct Mapping(Expression<'static>);

impl Mapping {
    /// Compiles `text`. Fails on a syntax error or above a bound.
    pub fn parse(text: &str) -> Result<Self, MappingError> {
        if text.len() > LONGEST || depth(text) > DEEPEST {
            let what = format!("it is longer than {LONGEST} bytes or deeper than {DEEPEST} steps");
            return Err(MappingError(what));
        }
        let growth = growth(text);
        if growth > GROWTH {
            let what = format!("it repeats its value more than {GROWTH} times");
            return Err(MappingError(what));
        }
        let expression = jmespath::compile(text).map_err(|error| {
            MappingError(format!("{} at character {}", said(&error.reason), error.offset + 1))
        })?;
        // Unknown functions fail only on evaluation.
        match expression.search(Value::Null) {
            Err(error) if is_of_the_text(&error.reason) => Err(MappingError(said(&error.reason))),
            _ => Ok(Self(expression)),
        }
    }

    /// Evaluates on `value`. Fails on a type error or an oversized result.
    pub fn apply(&self, value: &Value) -> Result<Value, MappingError> {
        let found = self.0.search(value).map_err(|error| MappingError(said(&error.reason)))?;
        // One value may occur many times; only serializing shows the size.
        let mut left = Left(LARGEST);
        serde_json::to_writer(&mut left, &found).map_err(|_| {
            MappingError(format!("makes more than {} MiB of its value", LARGEST >> 20))
        })?;
        serde_json::to_value(&found).map_err(|error| MappingError(error.to_string()))
    }
}

/// Upper bound on the copies of the input in a result: each list or object multiplies its source by
/// its number of members.
fn growth(text: &str) -> usize {
    let quoted = u32::try_from(text.matches("to_string").count()).unwrap_or(u32::MAX);
    let mut growth = 2_usize.saturating_pow(quoted);
    let (mut open, mut quote) = (Vec::new(), None);
    for c in text.chars() {
        match (quote, c) {
            (Some(end), c) if end == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '[' | '{' | '(') => open.push((c, 1_usize)),
            (None, ',') => {
                if let Some((_, members)) = open.last_mut() {
                    *members += 1;
                }
            }
            (None, ']' | '}' | ')') => {
                if let Some(('[' | '{', members)) = open.pop() {
                    growth = growth.saturating_mul(members);
                }
            }
            (None, _) => {}
        }
    }
    growth
}

/// Counts down the bytes that may be written.
struct Left(usize);

impl io::Write for Left {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        self.0 = left.ok_or_else(|| io::Error::from(io::ErrorKind::StorageFull))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Upper bound on the recursion depth of `text`.
fn depth(text: &str) -> usize {
    let (mut deepest, mut steps, mut outer, mut quote) = (0, 0_usize, Vec::new(), None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '[' | '(' | '{') => {
                steps += 1;
                outer.push(steps);
            }
            (None, ',') => steps = outer.last().copied().unwrap_or_default(),
            (None, ']' | ')' | '}') => {
                outer.pop();
                steps += 1;
            }
            (None, '!' | '&' | '|' | '.' | '<' | '>' | '=' | ':') => steps += 1,
            (None, _) => {}
        }
        deepest = deepest.max(steps);
    }
    deepest
}

/// True if the expression fails on any input.
const fn is_of_the_text(reason: &ErrorReason) -> bool {
    matches!(
        reason,
        ErrorReason::Runtime(
            RuntimeError::UnknownFunction(_)
                | RuntimeError::TooManyArguments { .. }
                | RuntimeError::NotEnoughArguments { .. }
        )
    )
}

fn said(reason: &ErrorReason) -> String {
    let text = match reason {
        ErrorReason::Parse(text) => text.clone(),
        ErrorReason::Runtime(error) => error.to_string(),
    };
    let line = text.lines().next().unwrap_or_default().trim_end_matches('.');
    let mut chars = line.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_reduced() {
        let mapping = Mapping::parse("results[*].{name: name, temp: main.temp}").expect("good");
        let answer = json!({"results": [{"name": "Bree", "main": {"temp": 7}, "junk": 1}]});
        assert_eq!(mapping.apply(&answer), Ok(json!([{"name": "Bree", "temp": 7}])));
        assert_eq!(mapping.apply(&json!({})), Ok(Value::Null));
    }

    #[test]
    fn expressions_that_grow_too_much_are_refused() {
        let doubled = |times: usize| vec!["{a: @, b: @}"; times].join(" | ");
        let flattened = vec!["[@, @][]"; 30].join(" | ");
        let quoted = format!("{}@{}", "to_string(".repeat(40), ")".repeat(40));
        for wild in [doubled(40), flattened, quoted, "(".repeat(5_000), "!".repeat(3_000)] {
            let error = Mapping::parse(&wild).err().expect("a bound").to_string();
            assert!(error.contains("than"), "{error}");
        }
        let grown = Mapping::parse(&doubled(10)).expect("bearable");
        let error = grown.apply(&json!("x".repeat(10_000))).expect_err("too much").to_string();
        assert_eq!(error, "makes more than 4 MiB of its value");
        let ordinary = "results[*].{name: name, at: [x, y], 'of, it': `[1, 2, 3]`}";
        assert!(Mapping::parse(&ordinary.replace("'of, it'", "\"of, it\"")).is_ok());
    }

    #[test]
    fn invalid_expressions_fail_to_parse() {
        for wrong in ["results[", "{a: }", "nosuch(@)", "length(@, @)", ""] {
            let error =
                Mapping::parse(wrong).err().unwrap_or_else(|| panic!("{wrong}")).to_string();
            assert!(!error.is_empty() && !error.contains('\n'), "{wrong}: {error}");
        }
        assert!(Mapping::parse("length(items)").is_ok(), "only wrong for what has no items");
    }

    #[test]
    fn no_expression_is_too_deep() {
        let steps =
            ["!", "[", "(", "a.", "a|", "a||", "&", "{a:", "a[?", "[].", "@[0].", "a=='\"'&&"];
        for step in steps {
            for times in [10, 60, 100, 128, 500, 1_000, 9_000] {
                let text = format!("{}a", step.repeat(times));
                let parsed = Mapping::parse(&text);
                assert!(parsed.is_err() || times < 129, "{step} {times}");
                let _ = parsed.map(|mapping| mapping.apply(&json!({"a": 1})));
            }
        }
        let wide = (0..300).map(|n| format!("k{n}: a.b[0].c")).collect::<Vec<_>>().join(", ");
        assert!(Mapping::parse(&format!("{{{wide}}}")).is_ok());
    }
}
