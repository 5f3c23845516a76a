//! Reports of an evening whose services counted: equal to the call and to the cent.

use serde_json::{Value, json};

use super::{AFTER, ALT, MEANWHILE, PROMPT, TOOL, Table, asks, is_pending, last_message};
use crate::support::{chat_server::Script, images::Form};

/// Of one picture.
const PICTURE: f64 = 0.05;
/// Of one request to the model: 1,500 tokens read and 40 written.
const REQUEST: f64 = (1_500.0 * 10.0 + 40.0 * 20.0) / 1e6;

/// A model that requests a picture in every turn, and counts its tokens.
fn counts() -> Table {
    let prices = "prices: { m: { input: 10, output: 20 } }\nbudget: { session_max: 5 }\n";
    let table = Table::with(Form::OpenAi, ", price: { picture: 0.05 }", prices);
    table.chat.otherwise(|request| {
        let script = Script::stream();
        let script = match last_message(request).filter(|last| last["role"] == "tool") {
            Some(last) => {
                let words = if is_pending(&last) { MEANWHILE } else { AFTER };
                script.chunk(json!({"content": words}), Some("stop"))
            }
            None => {
                let arguments = json!({"prompt": PROMPT, "style": "ink", "alt": ALT}).to_string();
                let function = json!({"name": "generate_image", "arguments": arguments});
                let call =
                    json!({"index": 0, "id": "one", "type": "function", "function": function});
                let script = script.chunk(json!({"tool_calls": [call]}), None);
                script.chunk(json!({}), Some("tool_calls"))
            }
        };
        script.usage(1_500, 0, 40).done()
    });
    table
}

#[track_caller]
fn assert_cost(row: &Value, expected: f64) {
    let cost = row["cost"].as_f64().unwrap();
    assert!((cost - expected).abs() < 1e-9, "{cost} is not {expected}: {row:#}");
}

#[test]
fn reports_equal_what_services_counted() {
    let table = counts();
    let mut live = table.open(&["--session", "friday", "--as-dm"]);
    for _ in 0..2 {
        assert_eq!(asks(&mut live)["ok"], true);
    }
    live.types("/cost");
    live.says("paid request");
    assert_eq!(live.leave(), 0);
    let requests = u32::try_from(table.chat.requests().len()).unwrap();
    let pictures = table.images.billed();
    let (thought, drawn) = (f64::from(requests) * REQUEST, f64::from(pictures) * PICTURE);
    let cost = table.place.run(&["cost", "--json"]).ends_with(0).line();
    assert_cost(&cost, thought + drawn);
    assert_eq!(cost["requests"], requests + pictures, "{cost:#}");
    let services = cost["services"].as_array().unwrap();
    let model = services.iter().find(|it| it["name"] == "m").expect("the model");
    assert_cost(model, thought);
    assert_eq!((services.len(), &cost["sessions"][0]["name"]), (2, &json!("friday")), "{cost:#}");
    assert_eq!(cost["tools"][0]["name"], TOOL, "{cost:#}");
    assert_cost(&cost["tools"][0], drawn);
    let calls = table.place.run(&["tools", "analytics", "--json"]).ends_with(0).line();
    let tool = &calls["tools"][0];
    let counted = (&tool["name"], &tool["calls"], &tool["requests"], &tool["failed"]);
    let sent = json!(pictures);
    assert_eq!(counted, (&json!(TOOL), &sent, &sent, &json!(0)), "{calls:#}");
    assert_cost(tool, drawn);
    assert_cost(&calls["npcs"][0], thought + drawn);
    assert_eq!(calls["turns"], 2, "{calls:#}");
    for arguments in [["cost", "--month", "13-2026"], ["tools", "analytics", "--since=soon"]] {
        table.place.run(&arguments).ends_with(2);
    }
    let lines = table.place.run(&["tools", "analytics", "--npc", "Mira"]).ends_with(0).stdout;
    assert!(lines.contains("0 calls, 0 failed"), "{lines}");
}
