//! Reports of calls whose numbers are known.

use std::{fs, path::Path, sync::Arc};

use super::{
    calls::{CallRow, Calls},
    costs::Costs,
    group::{GROUPS_MAX, Group},
    log::{LoggedCall, read_log},
    *,
};
use crate::{
    domain::{CampaignKey, Cost, Money, Scope},
    memory::{AccountRequest, DayCost, MemoryStore, Posting, Sqlite, Uid, Utterance},
};

/// 2026-11-22 08:54 in UTC.
const MORNING: i64 = 1_795_337_697_000;
const HOUR: i64 = 3_600_000;

fn call(turn: u64, tool: &str, ms: f64) -> LoggedCall {
    LoggedCall {
        at: Some(MORNING),
        turn,
        npc: Some("Bartok".to_owned()),
        tool: tool.to_owned(),
        ok: true,
        ms,
        attempts: 1,
        ..LoggedCall::default()
    }
}

fn cost(day: &str, session: &str, tool: &str, spent: u64) -> DayCost {
    let (payer, service) = ("Bartok".to_owned(), "m".to_owned());
    let (tool, spent) = (tool.to_owned(), Money(spent * 1_000_000));
    let cost = Cost { payer, service, tool, spent, requests: 1 };
    DayCost { day: day.to_owned(), session: session.to_owned(), cost }
}

fn numbers(row: &CallRow) -> (&str, u64, u64, u64, u64) {
    (&row.name, row.calls, row.failed, row.requests, row.turns)
}

#[test]
fn calls_are_added_up_by_name() {
    let mut calls = Calls::default();
    let far = || LoggedCall { server: Some("https://a".to_owned()), ..call(1, "home.look", 30.0) };
    calls.add("friday", &call(1, "dice-roller.roll", 2.0));
    calls.add("friday", &LoggedCall { ok: false, attempts: 3, ..far() });
    calls.add("friday", &LoggedCall { turn: 2, cached: true, attempts: 0, ..far() });
    calls.add("friday", &LoggedCall { pending: true, ..far() });
    calls.end_session();
    // The same number in another session is another turn.
    calls.add("monday", &LoggedCall { turn: 2, ..far() });
    let report = calls.report(&Costs::of(&[cost("2026-11-22", "friday", "home.look", 5)]));
    assert_eq!(numbers(&report.all), ("all", 4, 1, 5, 3));
    let tools: Vec<_> = report.tools.iter().map(numbers).collect();
    assert_eq!(tools, [("home.look", 3, 1, 4, 3), ("dice-roller.roll", 1, 0, 1, 1)]);
    let look = &report.tools[0];
    assert_eq!((look.p50_ms, look.cached, look.cost), (Some(30.0), 1, Some(0.005)));
    assert_eq!(report.servers[0].address.as_deref(), Some("https://a"));
    let sessions: Vec<_> = report.sessions.iter().map(|it| (&*it.name, it.calls)).collect();
    assert_eq!(sessions, [("friday", 3), ("monday", 1)]);
}

#[test]
fn percentiles_are_of_the_nearest_rank() {
    let mut group = Group::default();
    assert_eq!(group.percentiles(), None);
    for ms in (1..=200).rev() {
        group.add(&call(1, "t", f64::from(ms)));
    }
    group.add(&LoggedCall { attempts: 0, ok: false, ..call(1, "t", 9_999.0) });
    assert_eq!(group.percentiles(), Some((100.0, 198.0)));
}

#[test]
fn names_without_end_share_a_group() {
    let mut calls = Calls::default();
    for name in 0..GROUPS_MAX + 7 {
        calls.add("friday", &call(1, &format!("made.up-{name}"), 1.0));
    }
    let report = calls.report(&Costs::default());
    assert_eq!(report.tools.len(), GROUPS_MAX + 1);
    assert_eq!((&*report.tools[0].name, report.tools[0].calls), ("(others)", 7));
}

#[test]
fn spoilt_lines_of_a_log_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("friday.calls.jsonl");
    let line = r#"{"turn":1,"npc":null,"tool":"a.b","ok":true,"ms":1.5,"arguments":[[1]]}"#;
    let endless = "x".repeat((16 << 20) + 9);
    fs::write(&path, format!("{line}\n{endless}\n\n{{}}\n{line}\n{line}")).unwrap();
    let mut read = 0;
    let unread = read_log(&path, |call| read += usize::from(call.tool == "a.b"));
    assert_eq!((unread.unwrap(), read), (2, 3));
    assert_eq!(read_log(&folder.path().join("none"), |_| panic!("no line")).unwrap(), 0);
}

fn said(turn: u64, npc: Option<&str>, at: i64) -> Utterance {
    Utterance {
        uid: Uid(format!("{turn}-{at}")),
        session: "friday".to_owned(),
        turn,
        at,
        speaker_id: Some("7".to_owned()),
        speaker: "Anna".to_owned(),
        npc: npc.map(str::to_owned),
        text: "Roll!".to_owned(),
        outcome: "spoken".to_owned(),
        ..Utterance::default()
    }
}

/// A store of one evening with three turns of Bartok, one without an NPC, and two logged calls.
async fn evening(folder: &Path, scope: &Scope) -> Analytics {
    let store: Arc<dyn MemoryStore> = Arc::new(Sqlite::open(&folder.join("memory.db")).unwrap());
    let lines = [
        said(1, Some("Bartok"), MORNING),
        said(2, Some("Bartok"), MORNING + HOUR),
        said(3, None, MORNING + HOUR),
        said(4, Some("Bartok"), MORNING + 2 * HOUR),
    ];
    store.append(scope, lines.into()).await.unwrap();
    let logged = |turn: u64, at: i64| {
        format!(
            "{{\"session\":\"friday\",\"at\":{at},\"turn\":{turn},\"npc\":\"Bartok\",\"tool\":\
             \"dice-roller.roll\",\"ok\":true,\"ms\":4,\"attempts\":1}}\n"
        )
    };
    fs::create_dir(folder.join("sessions")).unwrap();
    let log = [logged(1, MORNING), logged(4, MORNING + 2 * HOUR)].concat();
    fs::write(folder.join("sessions/friday.calls.jsonl"), log).unwrap();
    let wanted =
        AccountRequest { name: "play".to_owned(), since: 0, now: MORNING, before: Money::ZERO };
    let account = store.account(scope, wanted).await.unwrap();
    let costs = vec![
        cost("2026-11-22", "friday", "", 250),
        cost("2026-11-22", "", "image-gen.draw", 50),
        cost("2026-10-31", "thursday", "", 7_000),
    ];
    let (month, month_max, claims) = ("2026-11".to_owned(), None, Vec::new());
    store.post(scope, Posting { account, month, month_max, claims, costs }).await.unwrap();
    Analytics::new(store, folder.to_owned(), scope.clone())
}

#[tokio::test]
async fn report_of_a_scope_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let scope = Scope::local(CampaignKey("ravenford".to_owned()));
    let analytics = evening(folder.path(), &scope).await;
    let report = analytics.calls(CallFilter::default()).await.unwrap();
    assert_eq!((report.turns, report.all.calls, report.all.turns), (3, 2, 2));
    assert_eq!((report.npcs[0].share, report.all.cost), (Some(2.0 / 3.0), Some(7.3)));
    let lines = call_lines(&report);
    assert_eq!(
        lines[..2],
        [
            "3 turns of NPCs, 2 with a call",
            "2 calls, 0 failed, p50 4 ms, p99 4 ms, in 67 % of the turns"
        ]
    );
    let everything = "cost of everything, models and voices too: 7.3000";
    assert!(lines.iter().any(|line| line == everything), "{lines:?}");
    let npc = Some("Mira".to_owned());
    let none = analytics.calls(CallFilter { npc, since: None }).await.unwrap();
    assert_eq!((none.turns, none.all.calls, none.all.cost), (0, 0, Some(0.0)));
    let since = Some("2026-11-22".to_owned());
    let later = analytics.calls(CallFilter { since, npc: None }).await.unwrap();
    assert_eq!((later.all.calls, later.all.cost), (2, Some(0.3)));
    let since = Some("2026-11-23".to_owned());
    let later = analytics.calls(CallFilter { since, npc: None }).await.unwrap();
    assert_eq!((later.turns, later.all.calls, later.all.share), (0, 0, None));
}

#[tokio::test]
async fn costs_of_a_month_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let scope = Scope::local(CampaignKey("ravenford".to_owned()));
    let analytics = evening(folder.path(), &scope).await;
    let report = analytics.costs(Some("2026-11")).await.unwrap();
    assert_eq!((report.cost, report.requests), (0.3, 2));
    let expected = "2026-11: 0.3000 for 2 paid requests\nby service\n  0.3000  m, 2 requests\n\
                    by NPC\n  0.3000  Bartok, 2 requests\nby tool\n  \
                    0.0500  image-gen.draw, 1 request\nby session\n  \
                    0.2500  friday, 1 request\n  and 1 more";
    assert_eq!(cost_lines(&report, 1).join("\n"), expected);
    let none = analytics.costs(Some("2026-09")).await.unwrap();
    let nothing = "2026-09: no costs (only services with a price in glyphoxa.yaml have any)";
    assert_eq!((none.requests, cost_lines(&none, 1)), (0, vec![nothing.to_owned()]));
    let wrong = analytics.costs(Some("9-2026")).await.unwrap_err();
    assert!(matches!(wrong, AnalyticsError::Period(_)), "{wrong}");
}
