//! Lists of models in the configuration, and the program's messages about them.

use super::{Two, assert_answered_by, entry, table};
use crate::support::{
    chat_server::{ChatServer, Script},
    program::{Place, Ran},
};

/// Runs `check` on these models and this NPC.
fn check(llm: &str, npc: &str) -> Ran {
    Place::with_config(&format!(
        "providers:\n  llm:{llm}\nnpcs: [{{ name: Bartok{npc}, lines: [{{ say: Hm. }}] }}]\n"
    ))
    .run(&["check"])
}

#[test]
fn npc_llm_setting_is_tried_first() {
    let two = Two::new();
    // It answers once.
    two.second.push(Script::text(&["I", " am", " the", " second", "."]));
    two.second.otherwise(|_| Script::error(500, "server_error", "no"));
    let place = two.table("", "");
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).expect("it was written");
    let npcs = "  - { name: Mira, llm: second, voice: { provider: flite, voice_id: slt } }\n";
    place.write("glyphoxa.yaml", format!("{config}{npcs}"));
    let said = ["Bartok, hello", "Mira, hello", "Mira, hello"].map(|line| ["--text", line]);
    let ran = place.run(&[&["ask", "--json"][..], &said.concat()].concat()).ends_with(0);
    let lines = ran.lines();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    // The others follow.
    lines.iter().zip(["first", "second", "first"]).for_each(|(it, by)| assert_answered_by(it, by));
    assert_eq!(two.asked(), (2, 2));
}

#[test]
fn model_list_mistakes_name_the_fix() {
    let near = "base_url: \"http://127.0.0.1:1/v1\"";
    let two = format!(
        " [{{ service: openai, as: fast, {near}, model: a }}, {{ name: openai, as: main, {near}, \
         model: b }}]"
    );
    check(&two, "").ends_with(0);
    check(&two, ", llm: main").ends_with(0);
    for (llm, npc, said) in [
        (
            two.as_str(),
            ", llm: fats",
            "unknown chat model 'fats' (did you mean 'fast'? providers.llm has fast, main)",
        ),
        (&two, ", llm: zzzzzz", "unknown chat model 'zzzzzz' (providers.llm has fast, main)"),
        (
            &two.replace("main", "fast"),
            "",
            "two chat models are called 'fast' (give one of them another name: `as: fast`)",
        ),
        (
            &two.replace("service:", "servise:"),
            "",
            "unknown key 'servise' in 'providers.llm' (did you mean 'service'?)",
        ),
        (
            &two.replace("service: openai", "service: opnai"),
            "",
            "'providers.llm.service' is 'opnai'",
        ),
        (
            " { service: openai, name: openai, model: a, free: true, api_key: k }",
            "",
            "'providers.llm' has both 'service' and 'name' (keep one of them)",
        ),
        (" []", "", "'providers.llm' is an empty list"),
        (" fast", "", "'providers.llm' is 'fast'"),
        (
            " { service: scripted, price: { output: 1 } }",
            "",
            "'providers.llm.price' has no effect on 'scripted'",
        ),
        (
            " { service: scripted }\n  hedge: { llm: true }",
            "",
            "'providers.hedge.llm' has no effect with one chat model",
        ),
        (
            " { service: openai, model: a, api_key: k, price: { minute: 1 } }",
            "",
            "the price of model 'a' does not fit its use",
        ),
    ] {
        let ran = check(llm, npc).ends_with(2);
        assert!(ran.stderr.contains(said), "{said}: {ran:#?}");
        // A misspelt key is also a missing one, which may be reported too.
        let is_once = ran.stderr.lines().count() == 1 || said.starts_with("unknown key");
        assert!(is_once, "each slip is reported once: {ran:#?}");
    }
}

#[test]
fn entry_names_and_inline_prices_are_optional() {
    let near = "name: openai, base_url: \"http://127.0.0.1:1/v1\"";
    check(&format!(" [{{ {near}, model: a }}, {{ {near}, model: b }}]"), ", llm: b").ends_with(0);
    let far = " { service: openai, model: a, api_key: k, price: { output: 1 } }";
    check(far, "").ends_with(0);
}

#[test]
fn doctor_tries_each() {
    let (first, second) = (ChatServer::start(), ChatServer::with_key(Some("sk-right")));
    let entries = [
        entry("first", &first.base_url(), ""),
        entry("second", &second.base_url(), ", api_key: sk-wrong"),
    ];
    let findings = table(&entries, "").run(&["doctor", "--json"]).ends_with(1).lines();
    let thinking: Vec<(bool, &str)> = findings
        .iter()
        .filter(|it| it["what"] == "thinking")
        .map(|it| (it["ok"] == true, it["detail"].as_str().unwrap_or_default()))
        .collect();
    let [(true, well), (false, wrong)] = thinking.as_slice() else { panic!("{findings:#?}") };
    assert!(well.starts_with("first: answers with 1 models") && well.ends_with(" ms"), "{well}");
    assert!(wrong.starts_with("second: ") && wrong.contains("the key was refused"), "{wrong}");
}
