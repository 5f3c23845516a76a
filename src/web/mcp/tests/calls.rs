//! Arguments, results and errors of tools.

use std::time::Duration;

use super::*;
use crate::{
    campaign::{Settings, stand_in_settings},
    logic::workflow::{OnError, Step, StepKind, Workflow, Workflows},
    memory::Session,
};

fn master() -> Arc<Holder> {
    holder(GUILD, AccessRole::Dm)
}

#[test]
fn schemas_compile_and_take_objects_alone() {
    for tool in table::all() {
        let input = (tool.input)();
        Schema::new(&input).unwrap_or_else(|why| panic!("{}: {why}", tool.name));
        Schema::new(&(tool.output)()).unwrap_or_else(|why| panic!("{}: {why}", tool.name));
        assert_eq!(input["additionalProperties"], json!(false), "{}", tool.name);
        assert_eq!(
            (&input["type"], &(tool.output)()["type"]),
            (&json!("object"), &json!("object"))
        );
    }
}

#[tokio::test]
async fn wrong_arguments_are_an_error_of_the_tool() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions::default());
    for (tool, arguments, part) in [
        ("dice.roll", no_arguments(), "dice"),
        ("dice.roll", json!({ "dice": "1d6", "sides": 6 }), "sides"),
        ("dice.roll", json!({ "dice": "2x6" }), "column"),
        ("dice.roll", json!({ "dice": "1d6", "table": "gone" }), "unknown table 'gone'"),
        ("memory.search", json!({ "query": "gate", "limit": 1_000 }), "limit"),
        ("schedule.create", json!({ "when": "in 5m" }), "give one of the two"),
        ("schedule.cancel", json!({ "id": "none" }), "unknown schedule 'none' (schedule.list"),
        ("workflow.run", json!({ "workflow": "bells" }), "unknown workflow 'bells'"),
        ("entity.get", json!({ "entity": "nothing" }), "memory.search"),
        ("session.transcript", json!({ "session": "gone" }), "unknown session 'gone'"),
        (
            "schedule.create",
            json!({ "when": "in 5m", "npc": "x", "text": "\u{0}\u{200b}" }),
            "empty",
        ),
        ("dice.roll", json!({ "dice": "1".repeat(70_000) }), "longer than 64 KiB"),
        ("session.transcript", json!({ "session": "a\u{202e}\u{7}b" }), "session 'ab'"),
        ("tools.call", json!({ "tool": "no.tool" }), "(the assistant has"),
    ] {
        let told = called(&parts, &master(), tool, arguments).await.unwrap();
        assert!(told.failed && told.text.contains(part), "{tool}: {}", told.text);
        assert_eq!(told.value, Value::Null, "{tool}");
    }
}

#[tokio::test]
async fn rolls_repeat_for_the_same_token() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions::default());
    let rolled = done(&parts, &master(), "dice.roll", json!({ "dice": "2d6+3; 1d4" })).await;
    assert_eq!((&rolled["rolls"][0]["dice"], &rolled["seen"]), (&json!("2d6+3"), &json!(false)));
    let again = done(&parts, &master(), "dice_roll", json!({ "dice": "again" })).await;
    assert_eq!(again["rolls"].as_array().map(Vec::len), Some(2), "{again}");
}

#[tokio::test]
async fn schedule_is_made_listed_and_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions::default());
    let line = json!({ "when": "in 90m", "npc": "Bartok", "text": "Closing time!" });
    let made = done(&parts, &master(), "schedule.create", line).await;
    let other = holder(OTHER, AccessRole::Dm);
    let elsewhere = done(&parts, &other, "schedule.list", no_arguments()).await;
    assert_eq!(elsewhere["schedules"], json!([]));
    let listed = done(&parts, &master(), "schedule.list", no_arguments()).await;
    assert_eq!(listed["schedules"], json!([made]));
    let id = json!({ "id": made["id"] });
    let cancelled = done(&parts, &master(), "schedule.cancel", id).await;
    assert_eq!(cancelled["cancelled"], made["id"]);
    let listed = done(&parts, &master(), "schedule.list", no_arguments()).await;
    assert_eq!(listed["schedules"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn run_not_waited_for_ends_with_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions::default());
    let handles = &parts.handles;
    let kind = StepKind::Wait(Duration::from_secs(300));
    let bells = Workflow {
        name: "bells".to_owned(),
        description: String::new(),
        inputs: json!({ "type": "object" }),
        offer: false,
        steps: vec![Step { name: None, when: None, on_error: OnError::Stop, kind }],
    };
    let workflows = Arc::new(Workflows::new([bells]));
    let settings = Settings { workflows, ..stand_in_settings(folder.path()) };
    handles.settings.store(Arc::new(settings));
    let holder = stand_in::holder(handles, GUILD, AccessRole::Dm).await;
    let run = json!({ "workflow": "bells", "wait": false });
    let begun = done(&parts, &holder, "workflow.run", run).await;
    assert_eq!(begun["status"], "running");
    handles.access.revoke(&holder.id).await.unwrap();
    handles.workflows.idle(&scope(GUILD)).await;
    let listed = done(&parts, &holder, "workflow.list", no_arguments()).await;
    assert_eq!(listed["earlier"][0]["status"], "cancelled", "{listed}");
    handles.workflows.close().await;
}

#[tokio::test]
async fn reading_tools_answer_without_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions::default());
    world(&parts).await;
    let health = done(&parts, &master(), "system.health", no_arguments()).await;
    assert_eq!((&health["ok"], &health["tables"]), (&json!(true), &json!(0)));
    let model = json!({ "name": "stand-in", "breaker": "closed", "seconds": null });
    assert_eq!(health["services"]["models"], json!([model]));
    let status = done(&parts, &master(), "session.status", no_arguments()).await;
    assert_eq!(status["tables"], json!([]));
    let workflows = done(&parts, &master(), "workflow.list", no_arguments()).await;
    assert_eq!(workflows["workflows"], json!([]));
    let recap = done(&parts, &master(), "session.recap", no_arguments()).await;
    assert_eq!(recap["session"], "evening-gate");
    let entity = done(&parts, &master(), "entity.get", json!({ "entity": "GATE" })).await;
    assert_eq!((&entity["kind"], &entity["secret"]), (&json!("location"), &json!(false)));
    let lines = json!({ "from": 2, "limit": 1 });
    let lines = done(&parts, &master(), "session.transcript", lines).await;
    assert_eq!(
        (&lines["lines"][0]["number"], &lines["lines"][0]["secret"]),
        (&json!(2), &json!(true))
    );
}

#[tokio::test]
async fn last_session_is_one_with_words() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions::default());
    world(&parts).await;
    let begun = Session { id: "begun".to_owned(), started: Some(9_500), ..Session::default() };
    let store = parts.handles.sessions.transcripts().store();
    store.put_session(&scope(GUILD), begun).await.unwrap();
    for tool in ["session.recap", "session.transcript"] {
        let told = done(&parts, &master(), tool, no_arguments()).await;
        assert_eq!(told["session"], "evening-gate", "{tool}");
    }
}

#[test]
fn sound_of_minutes_is_refused() {
    use crate::{
        campaign::Utterance48,
        web::mcp::{handler::answered, incoming::ToolAnswer},
    };
    let answer = |seconds: usize| {
        let sound = Some(Utterance48 { samples: vec![0; seconds * 48_000] });
        answered(ToolAnswer { value: no_arguments(), sound })
    };
    assert!(answer(1).is_ok());
    let refused = answer(63).unwrap_err();
    assert!(refused.0.contains("sound: false"), "{refused:?}");
}
