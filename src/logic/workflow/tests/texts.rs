use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::{arguments, inside, text};
use crate::logic::workflow::{
    Called, Outline, Root, Template, check_calls, is_name, mentioned,
    values::{Given, Piece, Values},
};

fn values() -> Values {
    let mut values = Values::new(inside(json!({ "who": "Mira", "times": 3 })));
    values.keep("luck", inside(json!({ "total": 12, "rolls": [5, 7] })));
    values.keep("page", Given { value: json!("${inputs.who} $${x}"), outside: true });
    values
}

#[test]
fn references_are_resolved_once() {
    let filled = values().words(&text("${inputs.who}: ${steps.page} $${y}")).unwrap();
    assert_eq!(filled.text(), "Mira: ${inputs.who} $${x} ${y}");
    let outside: Vec<&Piece> = filled.0.iter().filter(|piece| piece.outside).collect();
    assert_eq!(outside, [&Piece { text: "${inputs.who} $${x}".to_owned(), outside: true }]);
    let filled = values().words(&text("${steps.luck.rolls.1} of ${steps.luck.total}")).unwrap();
    assert_eq!((filled.text().as_str(), filled.is_outside()), ("7 of 12", false));
}

#[test]
fn single_reference_keeps_its_type() {
    let template = arguments(&json!({
        "n": "${inputs.times}", "text": "${inputs.times}x", "${inputs.who}": [true, null, 1.5],
        "all": { "rolls": "${steps.luck.rolls}" },
    }));
    let filled = values().json(&template).unwrap();
    assert_eq!(
        filled.value,
        json!({
            "n": 3, "text": "3x", "${inputs.who}": [true, null, 1.5], "all": { "rolls": [5, 7] },
        })
    );
    assert!(!filled.outside);
    assert!(values().json(&arguments(&json!(["${steps.page}"]))).unwrap().outside);
}

#[test]
fn missing_values_and_long_texts_fail() {
    for missing in ["${inputs.whom}", "${steps.luck.sum}", "${steps.luck.rolls.2}", "${steps.x}"] {
        let error = values().words(&text(missing)).unwrap_err().to_string();
        assert_eq!(error, format!("{missing} has no value"));
    }
    let mut values = values();
    values.keep("long", inside(json!("x".repeat(10_000))));
    assert!(values.words(&text("${steps.long}")).is_ok());
    assert!(values.words(&text("${steps.long}${steps.long}")).is_err());
    assert!(values.json(&arguments(&json!(vec!["${steps.long}"; 7]))).is_err());
}

#[test]
fn results_together_are_bounded() {
    let mut values = values();
    let page = || inside(json!("x".repeat(60_000)));
    let kept = (0..20).filter(|number| values.keep(&format!("s{number}"), page())).count();
    assert_eq!(kept, 8);
}

#[test]
fn nothing_but_inputs_and_steps_is_a_reference() {
    for wrong in ["${DISCORD_TOKEN}", "${HOME:-x}", "${inputs}", "${steps.}", "${steps.a..b}", "${"]
    {
        assert!(Template::parse(wrong).is_err(), "{wrong}");
    }
    assert!(is_name("a_1") && !is_name("1a") && !is_name("a-b") && !is_name(""));
}

#[test]
fn conditions_name_inputs_and_steps() {
    let found =
        mentioned("inputs.loud && steps.luck.total > `steps.no` || a.steps.no == 'steps.no'");
    assert_eq!(found, [Root::Input("loud".to_owned()), Root::Step("luck".to_owned())]);
    assert_eq!(mentioned("all[0].steps.no"), []);
}

/// `(name, steps, calls)`; misuses by the names of their workflows.
fn misuses(all: &[(&str, usize, &[&str])]) -> Vec<String> {
    let outline = |steps: usize, calls: &[&str]| Outline {
        steps,
        calls: calls.iter().map(|it| Called { workflow: (*it).to_owned(), at: () }).collect(),
    };
    let all = all.iter().map(|(name, steps, calls)| ((*name).to_owned(), outline(*steps, calls)));
    let found = check_calls(&all.collect::<BTreeMap<_, _>>());
    found.into_iter().map(|(name, (), misuse)| format!("{name}: {misuse}")).collect()
}

#[test]
fn circles_and_deep_or_long_calls_are_found() {
    assert_eq!(
        misuses(&[("a", 1, &["b"]), ("b", 1, &["c"]), ("c", 1, &["b"])]),
        ["b: the workflow calls itself: b > c > b", "c: the workflow calls itself: c > b > c"]
    );
    assert_eq!(misuses(&[("a", 1, &["a"])]), ["a: the workflow calls itself: a > a"]);
    let chain: [(&str, usize, &[&str]); 4] =
        [("a", 1, &["b"]), ("b", 1, &["c"]), ("c", 1, &["d"]), ("d", 1, &[])];
    assert_eq!(misuses(&chain), [""; 0]);
    let mut deeper = chain[..3].to_vec();
    deeper.push(("d", 1, &["e"]));
    deeper.push(("e", 1, &[]));
    assert_eq!(misuses(&deeper), ["a: workflows call each other deeper than 4"]);
    let long = misuses(&[("a", 3, &["b", "b", "b"]), ("b", 33, &[])]);
    assert_eq!(long, ["a: with the workflows it calls it has more than 100 steps"]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in r"[${}a-z.0-9 ]{0,40}") {
        if let Ok(template) = Template::parse(&text) {
            let kept = template.plain().is_none_or(|plain| plain == text.replace("$${", "${"));
            prop_assert!(kept, "{text:?}");
        }
        let _ = mentioned(&text);
    }
}
