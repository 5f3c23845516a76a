//! Schedules through the real program: made, listed, fired once over kills, cancelled.

use serde_json::Value;

use crate::support::program::{Live, Place};

/// A table of one NPC, and a workflow.
fn table() -> Place {
    let place = Place::with_config(
        "timezone: Europe/Berlin\nnpcs:\n  - name: Bartok\n    voice: { provider: flite, voice_id: rms }\n    \
         lines: [{ say: Well met. }]\n",
    );
    place.write(
        "workflows/bells.yaml",
        "name: bells\ndescription: The bells ring\nsteps:\n  - wait: 1\n",
    );
    place.brief()
}

/// The schedules as JSON.
fn listed(place: &Place) -> Vec<Value> {
    place.run(&["schedule", "list", "--json"]).ends_with(0).lines()
}

fn create(place: &Place, when: &str) {
    let arguments = ["--npc", "bartok", "--text", "Last orders!"];
    let made = place.run(&[&["schedule", "create", when][..], &arguments].concat()).ends_with(0);
    assert!(made.stdout.contains("Bartok: \"Last orders!\""), "{}", made.stdout);
}

fn friday(place: &Place) -> Live {
    place.start(&["ask", "--as-dm", "--session", "friday"])
}

#[test]
fn schedules_are_made_listed_and_cancelled() {
    let place = table();
    create(&place, "at 2030-07-01 20:00");
    let bells = ["--workflow", "bells", "--inputs", "{}"];
    place.run(&[&["schedule", "create", "every 15m"][..], &bells].concat()).ends_with(0);
    let list = place.run(&["schedule", "list"]).ends_with(0).stdout;
    assert!(list.contains("2030-07-01 20:00 CEST") && list.contains("workflow bells"), "{list}");
    let all = listed(&place);
    assert_eq!(all.len(), 2, "{all:?}");
    for entry in &all {
        let id = entry["id"].as_str().unwrap();
        place.run(&["schedule", "cancel", id]).ends_with(0);
    }
    assert_eq!(listed(&place), Vec::<Value>::new());
    let gone = place.run(&["schedule", "cancel", "abcdef"]).ends_with(2);
    assert!(gone.stderr.contains("unknown schedule 'abcdef'"), "{}", gone.stderr);
    for (when, more) in [
        ("every 30s", ["--npc", "Bartok", "--text", "Hm."]),
        ("at 2020-01-01 20:00", ["--npc", "Bartok", "--text", "Hm."]),
        ("in 5m", ["--npc", "Nemo", "--text", "Hm."]),
        ("in 5m", ["--workflow", "belfry", "--inputs", "{}"]),
    ] {
        place.run(&[&["schedule", "create", when][..], &more].concat()).ends_with(2);
    }
    assert_eq!(listed(&place), Vec::<Value>::new());
}

#[test]
fn planned_line_is_said_once_over_kills() {
    let place = table();
    let mut killed = friday(&place);
    killed.types("/schedule create session +40m npc:Bartok text:Closing time!");
    killed.says("Scheduled");
    killed.kill();
    create(&place, "in 1s");
    let next = friday(&place);
    next.says("Last orders!");
    // Once it is noted as said, it is gone.
    let left = (0..50).map(|_| listed(&place)).find(|left| left.len() == 1).expect("one is left");
    next.kill();
    assert!(left[0]["when"]["session"].is_object(), "{left:?}");
    let mut last = friday(&place);
    last.types("Bartok, hello");
    let said = last.says_until("Well met.");
    assert!(said.iter().all(|line| !line.contains("Last orders!")), "{said:?}");
    assert_eq!(last.leave(), 0);
}
