use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{NoArguments, minimal};
use crate::tools::schema::Schema;

fn made(schema: &Value) -> Result<Value, NoArguments> {
    let whole = Schema::new(schema)?;
    minimal(schema, &whole).map(Value::Object)
}

/// Arguments for one required member.
fn member(schema: Value) -> Result<Value, NoArguments> {
    let whole = json!({"type": "object", "required": ["it"], "properties": {"it": schema}});
    made(&whole).map(|mut made| made["it"].take())
}

#[test]
fn required_members_and_no_others() {
    let schema = json!({"type": "object", "additionalProperties": false,
    "required": ["city", "days"], "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"},
        "unit": {"type": "string", "default": "celsius"},
    }});
    assert_eq!(made(&schema), Ok(json!({"city": "test", "days": 1})));
    assert_eq!(made(&json!({"type": "object", "properties": {}})), Ok(json!({})));
}

#[test]
fn schema_values_are_used_before_generated_ones() {
    for (schema, expected) in [
        (json!({"const": 7}), json!(7)),
        (
            json!({"type": "string", "default": "x", "examples": ["y"], "enum": ["z", "x"]}),
            json!("x"),
        ),
        (json!({"type": "string", "examples": ["the inn"]}), json!("the inn")),
        (json!({"enum": ["red", "blue"]}), json!("red")),
        // A default that violates its own schema is skipped.
        (json!({"type": "integer", "default": "many", "minimum": 3}), json!(3)),
        (json!({"type": "string", "enum": ["long", "s"], "maxLength": 1}), json!("s")),
        (json!({"type": "object", "examples": [{"a": 1}], "required": ["a"]}), json!({"a": 1})),
    ] {
        assert_eq!(member(schema.clone()), Ok(expected), "{schema}");
    }
}

#[test]
fn bounds_are_kept() {
    for (schema, expected) in [
        (json!({"type": "integer", "minimum": 5, "maximum": 9}), json!(5)),
        (json!({"type": "integer", "maximum": -3}), json!(-3)),
        (json!({"type": "integer", "exclusiveMinimum": 5}), json!(6)),
        (json!({"type": "integer", "exclusiveMaximum": 1}), json!(0)),
        (json!({"type": "integer", "minimum": 7, "multipleOf": 5}), json!(10)),
        (json!({"type": "integer", "minimum": 1.5}), json!(2)),
        (json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.5)),
        (json!({"type": "number", "exclusiveMinimum": 3}), json!(4.0)),
        (json!({"type": "string", "minLength": 6}), json!("testaa")),
        (json!({"type": "string", "maxLength": 2}), json!("te")),
        (json!({"type": "string", "format": "date"}), json!("2024-01-01")),
        (json!({"type": "string", "pattern": "^[0-9]+$"}), json!("1")),
        (json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}), json!([1, 1])),
        (
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": true}),
            json!([1, 2, 3]),
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "null"}], "minItems": 2}),
            json!([null, "test"]),
        ),
        (json!({"type": ["null", "boolean"]}), json!(false)),
        (json!({"type": "object", "minProperties": 1}), json!({"test1": "test"})),
    ] {
        assert_eq!(member(schema.clone()), Ok(expected), "{schema}");
    }
}

#[test]
fn references_and_combinations_are_followed() {
    let schema = json!({"type": "object", "required": ["where", "how"],
    "properties": {"where": {"$ref": "#/$defs/Place"}, "how": {"anyOf": [
        {"$ref": "#/$defs/Never"}, {"type": "integer", "minimum": 4},
    ]}},
    "$defs": {
        "Never": {"type": "string", "minLength": 3, "maxLength": 1},
        "Place": {"allOf": [
            {"type": "object", "required": ["x"], "properties": {"x": {"type": "number", "minimum": 2}}},
            {"required": ["y"], "properties": {"y": {"type": "boolean"}, "x": {"maximum": 2}}},
        ]},
    }});
    assert_eq!(made(&schema), Ok(json!({"where": {"x": 2.0, "y": false}, "how": 4})));
    let one_of = json!({"type": "object", "oneOf": [
        {"required": ["a"], "properties": {"a": {"type": "string"}}},
        {"required": ["b"], "properties": {"b": {"type": "string"}}},
    ]});
    assert_eq!(made(&one_of), Ok(json!({"a": "test"})));
}

#[tokio::test(start_paused = true)]
async fn unsatisfiable_schemas_fail_with_reason() {
    let endless = json!({"type": "object", "required": ["next"],
        "properties": {"next": {"$ref": "#"}}});
    let reasons = [
        (made(&endless), "without end"),
        (member(json!({"type": "string", "pattern": "^xyz{3}$"})), "pattern"),
        (member(json!({"type": "string", "minLength": 1_000_000_000})), "1000000000 characters"),
        (member(json!({"type": "array", "minItems": 4_000_000_000_u64})), "items"),
        (member(json!({"type": "object", "minProperties": 4_000_000_000_u64})), "members"),
        (member(json!({"type": "integer", "minimum": 5, "maximum": 3})), "maximum"),
        (member(json!({"type": "integer", "minimum": 1e300})), "no whole number"),
        (member(json!(false)), "allows nothing"),
        (member(json!({"not": {}})), "not"),
    ];
    for (made, word) in reasons {
        let why = made.expect_err(word).to_string();
        assert!(why.contains(word), "{word}: {why}");
    }
}

#[test]
fn recursive_schemas_terminate() {
    let sum = json!({"type": "object", "required": ["left", "right"],
        "properties": {"left": {"$ref": "#/$defs/e"}, "right": {"$ref": "#/$defs/e"}}});
    let schema = json!({"type": "object", "required": ["e"],
        "properties": {"e": {"$ref": "#/$defs/e"}},
        "$defs": {"e": {"anyOf": [sum, {"type": "number"}]}}});
    let arguments = made(&schema).expect("arguments");
    assert!(arguments.to_string().len() < 200, "{arguments}");
    let mut definitions = Map::new();
    for level in 0..60 {
        let next = json!({"$ref": format!("#/$defs/a{}", level + 1)});
        definitions
            .insert(format!("a{level}"), json!({"allOf": [next, next], "anyOf": [next, next]}));
    }
    definitions.insert("a60".to_owned(), json!({"type": "string"}));
    let doubling = json!({"type": "object", "required": ["e"], "$defs": definitions,
        "properties": {"e": {"$ref": "#/$defs/a40"}}});
    assert!(made(&doubling).is_err());
}

/// Schemas of one value that a value passes, with bounds as servers write them.
fn sound() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "null"})),
        (-50_i64..50, 0_i64..50).prop_map(|(least, more)| {
            json!({"type": "integer", "minimum": least, "maximum": least + more})
        }),
        (-50.0..50.0, 0.1..50.0).prop_map(|(least, more): (f64, f64)| {
            json!({"type": "number", "exclusiveMinimum": least, "exclusiveMaximum": least + more})
        }),
        (0_u64..20, 0_u64..20).prop_map(|(least, more)| {
            json!({"type": "string", "minLength": least, "maxLength": least + more})
        }),
        prop::collection::vec("[a-z]{1,4}", 1..4).prop_map(|words| json!({"enum": words})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0_u64..4).prop_map(|(items, least)| {
                json!({"type": "array", "items": items, "minItems": least})
            }),
            object(inner.clone()),
            prop::collection::vec(inner, 1..3).prop_map(|any| json!({"anyOf": any})),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z]{1,5}", (inner, any::<bool>()), 0..4).prop_map(|members| {
        let required = members.iter().filter(|(_, (_, required))| *required);
        let required: Vec<&String> = required.map(|(key, _)| key).collect();
        let properties = members.iter().map(|(key, (schema, _))| (key.clone(), schema.clone()));
        let properties: Map<String, Value> = properties.collect();
        json!({"type": "object", "properties": properties, "required": required,
            "additionalProperties": false})
    })
}

/// Schemas that need not make sense.
fn wild() -> impl Strategy<Value = Value> {
    let keyword = prop_oneof![
        prop::sample::select(vec!["object", "string", "integer", "number", "array", "null"])
            .prop_map(|kind| ("type", json!(kind))),
        (-9_i64..9).prop_map(|n| ("minimum", json!(n))),
        (-9_i64..9).prop_map(|n| ("exclusiveMaximum", json!(n))),
        (1_i64..5).prop_map(|n| ("multipleOf", json!(n))),
        (0_u64..9).prop_map(|n| ("minLength", json!(n))),
        (0_u64..9).prop_map(|n| ("maxLength", json!(n))),
        (0_u64..5).prop_map(|n| ("minItems", json!(n))),
        (0_u64..5).prop_map(|n| ("minProperties", json!(n))),
        any::<bool>().prop_map(|is| ("uniqueItems", json!(is))),
        any::<bool>().prop_map(|is| ("additionalProperties", json!(is))),
        Just(("pattern", json!("^[A-Z]{2}-\\d+$"))),
        Just(("format", json!("uuid"))),
        Just(("default", json!("five"))),
        Just(("$ref", json!("#/$defs/a"))),
        Just(("required", json!(["a", "b"]))),
    ];
    let keywords = move || {
        prop::collection::vec(keyword.clone(), 0..5).prop_map(|keywords| {
            Value::Object(
                keywords.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            )
        })
    };
    let leaf = prop_oneof![4 => keywords(), 1 => any::<bool>().prop_map(Value::Bool)];
    leaf.prop_recursive(3, 16, 3, move |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..3);
        let nested = prop_oneof![
            inner.clone().prop_map(|it| ("items", it)),
            inner.clone().prop_map(|it| ("not", it)),
            inner.clone().prop_map(|it| ("properties", json!({"a": it}))),
            inner.clone().prop_map(|it| ("$defs", json!({"a": it}))),
            list().prop_map(|all| ("allOf", json!(all))),
            list().prop_map(|all| ("oneOf", json!(all))),
        ];
        (keywords(), prop::collection::vec(nested, 1..3)).prop_map(|(mut schema, nested)| {
            for (key, value) in nested {
                schema[key] = value;
            }
            schema
        })
    })
}

proptest! {
    #[test]
    fn sound_schemas_always_get_arguments(schema in object(sound())) {
        let arguments = made(&schema).map_err(|why| TestCaseError::fail(why.to_string()))?;
        prop_assert!(jsonschema::is_valid(&schema, &arguments), "{arguments}");
        let required = schema["required"].as_array().map_or(0, Vec::len);
        prop_assert_eq!(arguments.as_object().map(Map::len), Some(required));
    }

    #[test]
    fn generated_arguments_match_their_schema(schema in wild()) {
        let Ok(validator) = jsonschema::validator_for(&schema) else { return Ok(()) };
        if let Ok(arguments) = made(&schema) {
            prop_assert!(validator.is_valid(&arguments), "{arguments}");
        }
    }
}
