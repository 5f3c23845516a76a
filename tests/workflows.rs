//! Workflows through the real program, and those that the page shows.

use crate::support::program::{Place, repository, shipped};

/// The shipped cast and campaign, with these workflows.
fn place(workflows: &[(&str, &str)]) -> Place {
    let (npcs, campaign) = (repository("npcs"), repository("campaigns/ravenford.yaml"));
    let (npcs, campaign) = (npcs.display(), campaign.display());
    let place = Place::with_config(&format!("campaign: {campaign}\nnpc_dir: {npcs}\n")).brief();
    for (name, text) in workflows {
        place.write(&format!("workflows/{name}.yaml"), text);
    }
    place
}

/// Names and texts of the workflows in the page.
fn shown(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let named = blocks.filter_map(|block| {
        let name = block.lines().next()?.strip_prefix("name: ")?;
        Some((name, block))
    });
    named.collect()
}

#[test]
fn page_shows_workflows_that_run() {
    let page = shipped("docs/workflows.md");
    let evening = shipped("workflows/the-evening-begins.yaml");
    let mut all = shown(&page);
    assert_eq!(all.len(), 3, "{all:?}");
    all.push(("the-evening-begins", &evening));
    let place = place(&all);
    place.run(&["workflow", "check"]).ends_with(0);
    let listed = place.run(&["workflow", "list"]).ends_with(0).stdout;
    for (name, _) in all {
        assert!(listed.contains(name), "{listed}");
        let ran = place.run(&["workflow", "run", name]).ends_with(0);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains(&format!("workflow '{name}'")) && told.contains("is done"), "{told}");
    }
}

const GREETING: &str = "
name: greeting
description: Says hello.
inputs: { type: object, properties: { who: { type: string }, word: { type: string, default: Hello } } }
steps:
  - name: luck
    roll: 1d6
  - say: { npc: \"${inputs.who}\", text: \"${inputs.word}, friends. The die shows ${steps.luck.total}.\" }
";

#[test]
fn run_is_heard_recorded_and_listed() {
    let place = place(&[("greeting", GREETING)]);
    let run = "/workflow run greeting inputs:who=Bartok, word=Good evening";
    let asked =
        ["ask", "--as-dm", "--session", "evening", "--text", run, "--text", "/workflow list"];
    let told = place.run(&asked).ends_with(0).stdout;
    assert!(told.contains("Good evening, friends. The die shows "), "{told}");
    let record = told.lines().find(|line| line.contains("greeting (") && line.contains("is done"));
    assert!(record.is_some(), "{told}");
    let json =
        place.run(&["workflow", "run", "greeting", "who=Bartok", "--json", "--out", "a.wav"]);
    let lines = json.ends_with(0).lines();
    assert!(
        lines.iter().any(|line| line["reply"].as_str().is_some_and(|it| it.starts_with("Hello")))
    );
    assert!(place.path("a.wav").exists());
}

#[test]
fn failing_run_and_unknown_workflow_are_told() {
    let place = place(&[("greeting", GREETING)]);
    let ran = place.run(&["workflow", "run", "greeting", "who=Nobody"]).ends_with(1);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("failed: step 'say': unknown npc 'Nobody'"), "{told}");
    let unknown = place.run(&["workflow", "run", "farewell"]).ends_with(2);
    assert!(unknown.stderr.contains("unknown workflow 'farewell' (known: "), "{unknown:?}");
    let player = place.run(&["ask", "--text", "/workflow run greeting"]).ends_with(1);
    assert!(player.stderr.contains("only the game master may /workflow run"), "{player:?}");
}
