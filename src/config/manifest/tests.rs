//! Arbitrary files of tools: read or refused, never slow, always with a fix.

use std::{
    fs,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::{config::load, extent, tools::manifest::Behaviour};

/// Longest time for one file in `./dev proof`, far more than any takes.
const SLOW: Duration = Duration::from_secs(5);

/// Manifests that are good, to be spoilt.
const GOOD: [&str; 3] = [
    "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\nmetadata: { name: a, namespace: b }\nspec:\n  \
     description: Does it.\n  input_schema: { type: object, properties: { city: { type: string } } }\n  \
     category: [x, y]\n  http:\n    url: \"https://x.test/v1/{city}?fix=1&q={{.city}}\"\n    method: POST\n    \
     headers: { X-A: \"in {city}\" }\n    headers_from_env: [KEY, Authorization=KEY]\n    \
     query_params: [city]\n    body_mapping: \"{a: city, b: c[0].d | e || f}\"\n    response_mapping: \
     \"a[?b > `1`].{c: d, e: sort_by(f, &g)}\"\n    redact: [token]\n    request: { static_query: { k: v }, \
     static_body: { f: g } }\n",
    "apiVersion: promptkit.altairalabs.ai/v1alpha1\nkind: Tool\nmetadata: { name: a }\nspec:\n  \
     description: Does it.\n  input_schema: { type: object }\n  mock_template: |\n    {\"a\": \"{{ city }}\", \
     {% for i in range(3) %}\"{{ i }}\": 1,{% endfor %} \"z\": {{ city | length }}}\n",
    "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\nmetadata: { name: a }\nspec:\n  description: \
     Does it.\n  input_schema: { type: object }\n  output_schema: { type: object }\n  mock_result: { a: \
     [1, 2] }\n  estimated_duration_ms: 5\n  floor: deep\n",
];

/// Fragments that spoil a manifest.
const BITS: [&str; 40] = [
    "{",
    "}",
    "{{",
    "}}",
    "{%",
    "%}",
    "[",
    "]",
    "(",
    ")",
    "|",
    "||",
    "&",
    "!",
    "@",
    "*",
    "#",
    "?",
    "//",
    "\\",
    "\"",
    "'",
    "`",
    "${",
    "${KEY}",
    ": ",
    "- ",
    "\n",
    "\n  ",
    "\t",
    "\u{0}",
    "é",
    "①",
    "%31",
    "..",
    "http://",
    "127.0.0.1",
    "-1",
    "99999999999999999999",
    "for i in range(999999999)",
];

/// A good manifest with some of it replaced, again and again.
fn spoilt() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..6_usize, 0..BITS.len(), 1..200_usize, 0..12_u8);
    (0..GOOD.len(), prop::collection::vec(change, 0..6)).prop_map(|(which, changes)| {
        let mut text: Vec<char> = GOOD[which].chars().collect();
        for (at, gone, bit, times, often) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + gone).min(text.len());
            let times = if often == 0 { times } else { 1 };
            text.splice(at..end, BITS[bit].repeat(times).chars());
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300 * extent::times()) })]

    #[test]
    fn any_manifest_is_read_or_refused_soon(text in spoilt(), value in "\\PC{0,12}|[./?#@:&=]{0,8}") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("glyphoxa.yaml");
        fs::write(&path, "npcs: [{ name: Bart, lines: [{ say: hi }] }]\n").unwrap();
        fs::create_dir(folder.path().join("tools")).unwrap();
        fs::write(folder.path().join("tools/a.yaml"), &text).unwrap();
        let begun = Instant::now();
        let read = load(Some(&path), &|name| (name == "KEY").then(|| "s3cret".to_owned()), &[]);
        let is_soon = begun.elapsed() < SLOW || !extent::whole();
        prop_assert!(is_soon, "{:?} for {}", begun.elapsed(), text);
        let Ok(config) = read else { return Ok(()) };
        for manifest in &config.manifests {
            let Behaviour::Live(http) = &manifest.behaviour else { continue };
            let names = ["city", "fix", "k", "q", "a"];
            let arguments: Map<String, Value> =
                names.iter().map(|name| ((*name).to_owned(), value.clone().into())).collect();
            let Ok(request) = http.request(&arguments) else { continue };
            prop_assert_eq!(request.url.origin(), http.address.server().origin(), "{}", text);
        }
    }
}
