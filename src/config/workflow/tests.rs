//! Files of workflows: read whole, or refused with every mistake and its place.

use std::fs;

use serde_json::json;

use crate::{
    config::{Config, load},
    logic::workflow::StepKind,
};

const TOOLS: &[&str] = &["dice-roller.roll", "memory.roll_call"];

/// The configuration with these files in `workflows`, or its problems without the folder's name.
fn load_files(workflows: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    put(
        "glyphoxa.yaml",
        "npcs: [{ name: Bart the Bold, aliases: [Bart], lines: [{ say: hi }] }]\n",
    );
    fs::create_dir(dir.path().join("workflows")).unwrap();
    workflows.iter().for_each(|(name, text)| put(&format!("workflows/{name}"), text));
    // A variable that exists must be no reference.
    let environment = |_: &str| Some("from the environment".to_owned());
    let root = format!("{}/", dir.path().display());
    load(Some(&dir.path().join("glyphoxa.yaml")), &environment, TOOLS)
        .map_err(|report| report.to_string().lines().map(|it| it.replace(&root, "")).collect())
}

/// Problems of a workflow with these steps.
fn problems(steps: &str) -> Vec<String> {
    let text = format!("name: w\ndescription: d\nsteps:\n{steps}");
    let found = load_files(&[("w.yaml", &text)]).unwrap_err();
    found.iter().map(|line| line.replace("workflows/w.yaml:", "")).collect()
}

#[test]
fn every_key_reaches_the_workflow() {
    let text = "name: bells\ndescription: Rings.\noffer: true\n\
        inputs: { properties: { who: { default: Bart }, loud: { type: boolean } } }\n\
        steps:\n\
        \x20 - { name: luck, roll: 2d6+3 }\n\
        \x20 - parallel:\n\
        \x20   - { music: tavern }\n\
        \x20   - { name: call, tool: { identity: roll_call, npc: bart, arguments: { n: \"${steps.luck.total}\" } } }\n\
        \x20 - { say: { npc: \"${inputs.who}\", text: \"$${x} ${steps.call.text}\" }, when: inputs.loud, on_error: continue }\n\
        \x20 - { ask: { npc: Bart, text: why } }\n\
        \x20 - { scene: { location: Bree, time: dusk, music: rain, enter: Bart, leave: [Bart] } }\n\
        \x20 - { music: { stop: true } }\n\
        \x20 - { picture: { prompt: a raven } }\n\
        \x20 - { tier: { tier: deep, npc: Bart, minutes: 5 } }\n\
        \x20 - { tier: auto }\n\
        \x20 - { mute: Bart }\n\
        \x20 - { unmute: Bart }\n\
        \x20 - { notify: { to: players, text: ding } }\n\
        \x20 - { wait: 1.5 }\n\
        \x20 - { wait: { until: silence, seconds: 9 } }\n\
        \x20 - { tool: { identity: workflow.other, arguments: { x: 1 } } }\n";
    let other = "name: other\ndescription: d\nsteps: [{ roll: 1d6 }]\n";
    let config = load_files(&[("a.yaml", text), ("b.yml", other)]).unwrap();
    let names: Vec<&str> = config.workflows.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["bells", "other"]);
    let bells = config.workflows.get("bells").unwrap();
    assert!(bells.offer && bells.inputs["type"] == json!("object"));
    assert_eq!(bells.inputs["additionalProperties"], json!(false));
    let keys: Vec<&str> = bells.steps.iter().map(|step| step.kind.key()).collect();
    assert_eq!(
        keys,
        [
            "roll", "parallel", "say", "ask", "scene", "music", "picture", "tier", "tier", "mute",
            "unmute", "notify", "wait", "wait", "tool"
        ]
    );
    let StepKind::Parallel(members) = &bells.steps[1].kind else { panic!("{bells:?}") };
    let StepKind::Tool { identity, .. } = &members[1].kind else { panic!("{members:?}") };
    assert_eq!(identity, "memory.roll_call");
    assert!(matches!(bells.steps[14].kind, StepKind::Workflow { .. }));
    assert!(bells.steps[2].when.is_some());
    assert!(config.files.iter().any(|path| path.ends_with("workflows/a.yaml")), "it is watched");
    assert!(config.folders.iter().any(|path| path.ends_with("workflows")), "so is its folder");
}

#[test]
fn npcs_may_list_offered_workflows() {
    let dir = tempfile::tempdir().unwrap();
    let load_with = |offer: bool| {
        let text = format!("name: bells\ndescription: d\noffer: {offer}\nsteps: [{{ wait: 1 }}]\n");
        fs::create_dir_all(dir.path().join("workflows")).unwrap();
        fs::write(dir.path().join("workflows/a.yaml"), text).unwrap();
        let npc = "npcs: [{ name: Bart, tools: [workflow.bells], lines: [{ say: hi }] }]\n";
        fs::write(dir.path().join("glyphoxa.yaml"), npc).unwrap();
        load(Some(&dir.path().join("glyphoxa.yaml")), &|_| None, TOOLS)
    };
    assert_eq!(load_with(true).unwrap().npcs[0].tools, ["workflow.bells"]);
    assert!(load_with(false).unwrap_err().to_string().contains("unknown tool 'workflow.bells'"));
}

#[test]
fn mistakes_in_steps_have_places_and_fixes() {
    let found = problems(
        "  - { say: { npc: Brat, text: \"${steps.luk} ${HOME}\" } }\n\
         \x20 - { say: { npc: Bart, text: \"${steps.luk}\" } }\n\
         \x20 - { say: { npc: Bart, text: \"${steps.luck}\" } }\n\
         \x20 - { name: luck, roll: banana }\n\
         \x20 - { name: luck, tool: { identity: dice-roller.rol } }\n\
         \x20 - { name: a b, wait: 1, music: tavern }\n\
         \x20 - { wait: {}, when: \"inputs.loud &&\" }\n\
         \x20 - { when: inputs.loud }\n\
         \x20 - { parallel: [{ name: x, wait: 1 }, { notify: { to: dm, text: \"${steps.x}\" } }] }\n\
         \x20 - { tool: { identity: workflow.x, arguments: { a: [\"${inputs.b}\"] } } }\n",
    );
    let expected = [
        "4:19: unknown npc 'Brat' (did you mean 'Bart'?)",
        "4:31: '${HOME}' is no reference (write ${inputs.NAME} or ${steps.NAME}; workflows read no \
         variables of the environment, and $${ is a plain ${)",
        "5:31: unknown step 'luk' (did you mean 'luck'?)",
        "6:31: the result of step 'luck' is not there yet (name a step before this one; steps of one \
         parallel begin together)",
    ];
    assert_eq!(&found[..4], expected);
    let parts = [
        "7:25: 'roll' is 'banana': ",
        "8:13: two steps are called 'luck' (give",
        "8:37: unknown tool 'dice-roller.rol' (did you mean 'dice-roller.roll'?)",
        "9:13: invalid step name 'a b' (use letters",
        "9:24: the step does several things: music, wait (make a step of each)",
        "10:13: 'wait' has no end (wait: { seconds: 5 }",
        "10:23: 'when': ",
        "11:5: the step does nothing (add one of say, ask",
        "11:13: unknown input 'loud' (add it: inputs:",
        "12:66: the result of step 'x' is not there yet",
        "13:25: unknown workflow 'x' (known: w)",
    ];
    for part in parts {
        assert!(found.iter().any(|line| line.starts_with(part)), "{part}: {found:#?}");
    }
    assert!(found.iter().any(|line| line.contains("unknown input 'b'")), "{found:#?}");
    assert!(found.iter().all(|line| line.ends_with(')')), "each has a fix: {found:#?}");
}

#[test]
fn circles_and_twins_are_refused() {
    let calls = |name: &str, other: &str| {
        format!(
            "name: {name}\ndescription: d\nsteps:\n  - tool: {{ identity: workflow.{other} }}\n"
        )
    };
    let (a, b) = (calls("a", "b"), calls("b", "a"));
    let found = load_files(&[("a.yaml", &a), ("b.yaml", &b), ("c.yaml", &a)]).unwrap_err();
    assert_eq!(
        found,
        [
            "workflows/a.yaml:4:23: the workflow calls itself: a > b > a (remove this call, or put \
             its steps here)",
            "workflows/b.yaml:4:23: the workflow calls itself: b > a > b (remove this call, or put \
             its steps here)",
            "workflows/c.yaml:1:7: workflow 'a' appears twice (see workflows/a.yaml; choose another \
             name)",
        ]
    );
}

#[test]
fn bare_name_of_a_workflow_is_a_call() {
    let text = |tool: &str| {
        format!("name: w\ndescription: d\noffer: true\nsteps:\n  - tool: {{ identity: {tool} }}\n")
    };
    let other = "name: bells\ndescription: d\noffer: true\nsteps: [{ roll: 1d6 }]\n";
    let config = load_files(&[("a.yaml", &text("bells")), ("b.yaml", other)]).unwrap();
    let step = &config.workflows.get("w").unwrap().steps[0];
    assert!(matches!(&step.kind, StepKind::Workflow { name, .. } if name == "bells"), "{step:?}");
    let found = load_files(&[("a.yaml", &text("w"))]).unwrap_err();
    assert!(found[0].contains("the workflow calls itself: w > w"), "{found:?}");
}

#[test]
fn wrong_files_are_refused() {
    let long = format!("name: w\ndescription: d\nsteps:\n{}", "  - wait: 1\n".repeat(101));
    for (text, expected) in [
        ("name: w\nsteps: [{ wait: 1 }]\n", "1:1: missing key 'description'"),
        ("name: w x\ndescription: d\nsteps: [{ wait: 1 }]\n", "1:7: invalid workflow name 'w x'"),
        ("name: w\ndescription: d\nsteps: []\n", "3:8: the workflow has no steps"),
        ("name: w\ndescription: d\nsteps: [{ say: hi }]\n", "3:16: 'steps.say' is 'hi'"),
        ("name: w\ndescription: d\nsteps: [{ sya: hi }]\n", "3:11: unknown key 'sya' in 'steps'"),
        (
            "name: w\ndescription: d\ninputs: { type: text }\nsteps: [{ wait: 1 }]\n",
            "3:9: 'inputs'",
        ),
        ("name: w\ndescription: d\nsteps: [{ wait: 2000 }]\n", "3:17: 'steps.wait' is '2000'"),
        ("name: w\ndescription: d\nsteps: [{ wait: 1, when: true }]\n", "3:26: 'steps.when' is"),
        (long.as_str(), "4:3: the workflow has 101 steps"),
        ("- x\n", "1:1: the file is a list"),
    ] {
        let found = load_files(&[("w.yaml", text)]).unwrap_err();
        let whole = format!("workflows/w.yaml:{expected}");
        assert!(found.iter().any(|line| line.starts_with(&whole)), "{expected}: {found:#?}");
    }
}
