//! `glyphoxa serve`: a table of this machine for programs outside.

use std::{os::unix::net::UnixDatagram, time::Duration};

use serde_json::json;

use crate::support::{
    outside::Caller,
    program::{Place, run},
};

/// Longest wait for a notice to the service manager.
const BOUND: Duration = Duration::from_secs(60);

#[test]
fn npc_speaks_to_a_program_without_discord() {
    let place = Place::with_config(
        "npcs:\n  - name: Bartok\n    voice: { provider: flite, voice_id: rms }\n    \
         lines: [{ when: [instructions, never, data], say: Not heard. }, { say: Well met. }]\n",
    );
    let scene = "steps: [{ scene: { location: '${inputs.place}' } }]\n";
    let inputs =
        "inputs: { type: object, properties: { place: { type: string, default: Inn } } }\n";
    place.write("workflows/dusk.yaml", format!("name: dusk\ndescription: Dusk.\n{inputs}{scene}"));
    let place = place.brief();
    let live = place.start(&["serve", "--listen", "127.0.0.1:0"]);
    let hint = "(glyphoxa mcp entry --url http://127.0.0.1:";
    let mut said = live.says_until("listening on http://127.0.0.1:");
    if !said.iter().any(|line| line.contains(hint)) {
        // The other of its two pipes.
        said.extend(live.says_until(hint));
    }
    assert!(!said.iter().any(|line| line.contains("ERROR")), "nobody is heard here: {said:#?}");
    let with = |part: &str| said.iter().find(|line| line.contains(part)).expect("it was said");
    let (listening, hinted) = (with("listening on "), with(hint));
    let port = listening.split(':').nth(2).and_then(|rest| rest.split('/').next());
    let port: u16 = port.and_then(|port| port.parse().ok()).expect("a port");
    assert!(hinted.contains(&format!("{hint}{port}/mcp makes one)")), "{said:?}");
    let caller = Caller::new(&place, port, &[]);
    let health = caller.calls("system.health", &json!({}));
    assert_eq!(health["services"]["hearing"], "unused", "{health}");
    let said = caller.calls("voice.speak", &json!({ "text": "Good evening." }));
    assert_eq!((&said["npc"], &said["how"]), (&json!("Bartok"), &json!("spoken")));
    assert!(said["seconds"].as_f64().is_some_and(|seconds| seconds > 0.1), "{said}");
    live.says("outside: voice.speak by ");
    let answer = caller.calls("npc.ask", &json!({ "npc": "Bartok", "text": "How are you?" }));
    assert_eq!((&answer["heard"], &answer["how"]), (&json!("Well met."), &json!("spoken")));
    assert_eq!(answer["seconds"], json!(null), "an answer in writing, which any client takes");
    let aloud = json!({ "npc": "Bartok", "text": "Who are you?", "sound": true });
    assert!(caller.calls("npc.ask", &aloud)["seconds"].as_f64().is_some_and(|it| it > 0.1));
    let run = caller.calls("workflow.run", &json!({ "workflow": "dusk" }));
    assert_eq!(run["status"], "done", "its defaults are the owner's words: {run}");
    let second = place.run(&["serve", "--listen", &format!("127.0.0.1:{port}")]).ends_with(1);
    assert!(second.stderr.contains("in use"), "{second:#?}");
    assert_eq!(live.terminate(), 0);
    let stored = place.run(&["session", "list"]).ends_with(0).stdout;
    assert!(stored.contains("serve-"), "{stored}");
}

/// The next notice to the service manager.
fn notice(told: &UnixDatagram) -> String {
    let mut bytes = [0; 64];
    let read = told.recv(&mut bytes).expect("a notice");
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}

#[test]
fn service_manager_is_told_of_start_life_and_end() {
    let place = Place::new();
    let path = place.path("notify");
    let told = UnixDatagram::bind(&path).expect("a socket");
    told.set_read_timeout(Some(BOUND)).expect("a limit");
    let place = place
        .env("NOTIFY_SOCKET", &path.display().to_string())
        .env("WATCHDOG_USEC", "200000")
        .brief();
    let live = place.start(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(notice(&told), "READY=1");
    live.says("listening on http://127.0.0.1:");
    assert_eq!([notice(&told), notice(&told)], ["WATCHDOG=1", "WATCHDOG=1"]);
    assert_eq!(live.terminate(), 0);
    while notice(&told) != "STOPPING=1" {}
}

#[test]
fn output_that_takes_nothing_ends_it_in_order() {
    let place = Place::with_config(
        "npcs:\n  - name: Bartok\n    voice: { provider: flite, voice_id: rms }\n    \
         lines: [{ say: Well met. }]\n",
    );
    let commands = [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["rehearse", "--npc", "Bartok", "--port", "0", "--no-open"],
    ];
    for command in commands {
        let ran = run(place.after("exec > /dev/full", command), "").ends_with(1);
        assert!(ran.stderr.contains("sessions are closed first"), "{command:?}: {ran:#?}");
    }
}
