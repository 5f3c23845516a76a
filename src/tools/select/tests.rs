//! Lists of stand-in tools, narrowed by words and by a stand-in embedder, in paused time.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    domain::{CallId, Npc, SessionId, Tier, ToolCall, TurnId},
    provider::{Embedder, Error, Kind},
    tools::{
        Attachment, Authority, CallContext, CallError, CallErrorKind, CallOutput, Caller, Declared,
        Definition, Effects, Handler, OfferedNames, Progress, SourceKind, Taint, ToolHost,
        VisibleTools,
        builtin::{Materials, offer},
    },
};

const TIER: Tier = Tier::Deep;

struct Nothing;

impl Handler for Nothing {
    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async { Ok(CallOutput::text("done")) }.boxed()
    }
}

impl Effects for Nothing {
    fn show(&self, _: &str) {}
    fn attach(&self, _: &str, _: &Attachment) -> bool {
        true
    }
}

fn tool(name: &str, description: &str, category: &str) -> Definition {
    Definition {
        name: name.to_owned(),
        description: description.to_owned(),
        input: json!({ "type": "object", "properties": { "place": { "type": "string" } } }),
        output: None,
        declared: Declared {
            estimated: Some(Duration::from_millis(10)),
            categories: vec![category.to_owned()],
            ..Declared::default()
        },
        handler: Arc::new(Nothing),
    }
}

/// Nine tools of a house, three of a world, and the built-in ones.
fn host(cast: &[Npc]) -> ToolHost {
    let host = ToolHost::new(StdRng::seed_from_u64(1));
    let npcs: Vec<_> = cast.iter().cloned().map(Arc::new).collect();
    host.catalog().set_cast(&npcs);
    offer(&host, Materials::dice(StdRng::seed_from_u64(1)));
    let home = ["kitchen", "hall", "tower", "cellar", "stable", "garden", "well", "gate", "roof"];
    let home = home
        .map(|place| tool(&format!("lamp_{place}"), &format!("Sets the {place} lamp."), "house"));
    assert_eq!(host.offer("home", SourceKind::Server, home.to_vec()), []);
    let world = vec![
        tool("getWeather", "Tells the weather of a place.", "world"),
        tool("travel_time", "Tells how long a journey takes.", "world"),
        tool("spell-search", "Finds spells by name, school or effect.", "rules"),
    ];
    assert_eq!(host.offer("world", SourceKind::Server, world), []);
    host.select_by(eight(), None);
    host
}

/// Settings that narrow lists of more than eight tools.
fn eight() -> SelectionOptions {
    SelectionOptions { top_k: Some(8), ..SelectionOptions::default() }
}

fn npc(tools: &[&str]) -> Npc {
    Npc {
        budget_tier: TIER,
        tools: tools.iter().map(|entry| (*entry).to_owned()).collect(),
        ..Npc::plain("Bartok")
    }
}

fn wizard() -> Npc {
    npc(&["home.*", "world.*", "dice-roller.*"])
}

fn names(list: &VisibleTools) -> Vec<String> {
    list.iter().map(|entry| entry.tool.identity.to_string()).collect()
}

async fn chosen(host: &ToolHost, query: &Query<'_>) -> Vec<String> {
    names(&*host.offered("Bartok", TIER, TIER.ceiling(), query).await)
}

async fn said(host: &ToolHost, utterance: &str) -> Vec<String> {
    chosen(host, &Query { utterance, ..Query::default() }).await
}

fn keep(host: &ToolHost, core: &[&str]) {
    let core = core.iter().map(|entry| (*entry).to_owned()).collect();
    host.select_by(SelectionOptions { core, ..eight() }, None);
}

#[tokio::test(start_paused = true)]
async fn short_list_is_the_prepared_one() {
    let host = host(&[npc(&["world.*", "dice-roller.*"])]);
    let visible = host.visible("Bartok", TIER, TIER.ceiling());
    let query = Query { utterance: "weather", ..Query::default() };
    let offered = host.offered("Bartok", TIER, TIER.ceiling(), &query).await;
    assert!(Arc::ptr_eq(&visible, &offered));
    assert_eq!(offered.len(), 7, "and nobody needs to discover anything");
}

#[tokio::test(start_paused = true)]
async fn utterances_select_tools_in_german_and_english() {
    let host = host(&[wizard()]);
    for (utterance, wanted) in [
        ("How is the weather in Ravenford?", "world.getWeather"),
        ("Wie ist das Wetter in Rabenfurt?", "world.getWeather"),
        ("Which spells could melt this door?", "world.spell-search"),
        ("Kennst du einen Zauberspruch dagegen?", "world.spell-search"),
        ("Roll for initiative!", "dice-roller.roll"),
        ("Würfle mal 2W6 für mich", "dice-roller.roll"),
        ("Turn on the lamp in the KITCHEN", "home.lamp_kitchen"),
    ] {
        let offered = said(&host, utterance).await;
        assert!(offered.contains(&wanted.to_owned()), "{utterance}: {offered:?}");
        assert!(offered.contains(&DISCOVER.to_owned()), "{utterance}: {offered:?}");
        assert!(offered.len() <= 10 && offered.is_sorted(), "{utterance}: {offered:?}");
    }
    assert_eq!(said(&host, "How is the weather?").await, [DISCOVER, "world.getWeather"]);
    assert_eq!(said(&host, "Well met!").await, [DISCOVER]);
}

#[tokio::test(start_paused = true)]
async fn core_tools_stay_and_take_places() {
    let host = host(&[wizard()]);
    keep(&host, &["dice-roller.*", "getWeather"]);
    let offered = said(&host, "lamp").await;
    assert_eq!(offered.len(), 5 + 9 + 1, "{offered:?}");
    for core in ["dice-roller.roll", "dice-roller.roll_table", "world.getWeather", DISCOVER] {
        assert!(offered.contains(&core.to_owned()), "{offered:?}");
    }
    assert_eq!(said(&host, "Well met!").await.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn without_embedder_no_shared_stem_is_hidden() {
    let many = |count: usize| {
        let host = host(&[npc(&["world.*", "far.*"])]);
        host.select_by(SelectionOptions::default(), None);
        let mut far: Vec<_> =
            (1..count).map(|n| tool(&format!("relay_{n}"), "Opens a valve.", "far")).collect();
        far.push(tool("sky", "Tells of rain, hail, wind, fog and all weathers to come.", "far"));
        assert_eq!(host.offer("far", SourceKind::Server, far), []);
        host
    };
    assert_eq!(said(&many(37), "Well met!").await.len(), 40, "up to 40 are listed whole");
    let host = many(38);
    assert_eq!(said(&host, "Well met!").await, [DISCOVER]);
    let weather = ["far.sky", DISCOVER, "world.getWeather"];
    assert_eq!(said(&host, "Weather, weather, what weather?").await, weather);
    let found = host.search(Some(("Bartok", TIER)), "weather").await;
    assert_eq!(found.len(), 2);
    assert_eq!(host.search(Some(("Bartok", TIER)), "dragons").await.len(), 0, "41 are too many");
}

#[tokio::test(start_paused = true)]
async fn categories_at_hand_and_finds_stay() {
    let host = host(&[wizard()]);
    let recent: [Arc<str>; 1] = [Arc::from("world")];
    let query = Query { utterance: "and there?", recent_categories: &recent, found: &[] };
    assert_eq!(chosen(&host, &query).await, [DISCOVER, "world.getWeather", "world.travel_time"]);
    let found: [Arc<str>; 3] = ["lamp_roof", "spell-search", "unknown"].map(Arc::from);
    let query = Query { utterance: "weather", recent_categories: &[], found: &found };
    let with_finds = ["home.lamp_roof", DISCOVER, "world.getWeather", "world.spell-search"];
    assert_eq!(chosen(&host, &query).await, with_finds);
}

#[tokio::test(start_paused = true)]
async fn discover_tools_can_be_blocked_but_not_forced() {
    let mut blocked = wizard();
    blocked.policy.blocklist = vec!["discover_tools".to_owned()];
    assert_eq!(said(&host(&[blocked]), "weather").await, ["world.getWeather"]);
    // In a whitelist it changes nothing: short lists need no finder.
    let named = host(&[npc(&["world.*", "tools.*"])]);
    assert_eq!(named.visible("Bartok", TIER, TIER.ceiling()).len(), 3);
}

fn of_bartok(offered: Arc<OfferedNames>) -> Authority {
    let npc = Arc::from("Bartok");
    Authority::OperatorAs(Caller { npc, tier: TIER, offered, sampler: None, payments: None })
}

fn context(offered: &VisibleTools) -> CallContext {
    let offered = offered.names();
    CallContext {
        scope: crate::domain::Scope::local(crate::domain::CampaignKey("c".to_owned())),
        session: SessionId("test".to_owned()),
        turn: TurnId(1),
        authority: of_bartok(offered),
        speaker: Arc::from("Thorin"),
        by: None,
        deadline: Instant::now() + TIER.ceiling(),
        fresh: false,
        taint: Taint::default(),
        progress: Progress::default(),
        span: Default::default(),
        cancel: CancellationToken::new(),
        effects: Arc::new(Nothing),
    }
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: CallId("1".to_owned()),
        name: name.to_owned(),
        arguments: arguments.to_string(),
        extra: Map::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn discover_finds_visible_tools_only() {
    let host = host(&[npc(&["home.*", "world.getWeather", "world.travel_time"])]);
    let query = Query { utterance: "hello", ..Query::default() };
    let offered = host.offered("Bartok", TIER, TIER.ceiling(), &query).await;
    let context = context(&offered);
    let record = host.execute(&context, &call("discover_tools", json!({"query": "weather"}))).await;
    assert_eq!(found_in(&record), [Arc::from("getWeather")]);
    assert!(record.for_model.contains("Tells the weather"), "{}", record.for_model);
    assert!(context.taint.is_set(), "what servers say of their tools is from outside");
    // The tool is offered from the next round on.
    let early = host.execute(&context, &call("getWeather", json!({}))).await;
    assert_eq!(early.result.unwrap_err().kind, CallErrorKind::NotVisible);
    // A short list comes whole where words find nothing, and has nothing that the NPC may not use.
    let none = host.execute(&context, &call("discover_tools", json!({"query": "spells"}))).await;
    let all = found_in(&none);
    assert_eq!((all.len(), all.contains(&Arc::from("spell-search"))), (11, false), "{all:?}");
    // If nothing was hidden, nothing can be called.
    let all = host.visible("Bartok", TIER, TIER.ceiling());
    let unasked = CallContext { authority: of_bartok(all.names()), ..context };
    let refused = host.execute(&unasked, &call("discover_tools", json!({"query": "x"}))).await;
    assert_eq!(refused.result.unwrap_err().kind, CallErrorKind::NotVisible);
}

/// Knows three meanings; the first word of a text that has one decides.
#[derive(Default)]
struct Meanings {
    takes: Mutex<Duration>,
    fails: Mutex<Option<Kind>>,
    asked: AtomicUsize,
    texts: Mutex<Vec<String>>,
}

impl Meanings {
    fn takes(&self, ms: u64) {
        *self.takes.lock().unwrap() = Duration::from_millis(ms);
    }
}

impl Embedder for Meanings {
    fn name(&self) -> &str {
        "meanings"
    }

    fn dimension(&self) -> Option<usize> {
        Some(4)
    }

    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.texts.lock().unwrap().extend(texts.iter().cloned());
        let meaning = |text: &String| {
            let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
            let number = |is| if is { 3.0 } else { 0.0 };
            let known =
                [has(&["weather", "storm"]), has(&["lamp", "dark"]), has(&["roll", "luck"])];
            let other = if text.contains(':') { -1.0 } else { 1.0 };
            let none = if known.contains(&true) { 0.1 } else { other };
            known.map(number).into_iter().chain([none]).collect()
        };
        let vectors: Vec<Vec<f32>> = texts.iter().map(meaning).collect();
        let (takes, fails) = (*self.takes.lock().unwrap(), *self.fails.lock().unwrap());
        async move {
            sleep(takes).await;
            match fails {
                Some(kind) => Err(Error::new(kind, "no embeddings today")),
                None => Ok(vectors),
            }
        }
        .boxed()
    }
}

/// A host that knows meanings, and its tending.
fn dense() -> (ToolHost, Arc<Meanings>, CancellationToken) {
    let (host, meanings, stop) =
        (host(&[wizard()]), Arc::<Meanings>::default(), CancellationToken::new());
    host.select_by(SelectionOptions::default(), Some(Arc::clone(&meanings) as _));
    let (tended, until) = (host.clone(), stop.clone());
    tokio::spawn(async move { tended.tend(until).await });
    (host, meanings, stop)
}

async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn meanings_choose_without_a_word_in_common() {
    let (host, meanings, _stop) = dense();
    settle().await;
    let about = meanings.texts.lock().unwrap().clone();
    assert_eq!(about.len(), 19, "every tool once: {about:?}");
    assert!(about.contains(&"getWeather: Tells the weather of a place.".to_owned()), "{about:?}");
    assert_eq!(said(&host, "a storm is coming").await, [DISCOVER, "world.getWeather"]);
    let offered = said(&host, "it is so dark").await;
    assert_eq!(offered.len(), 9, "{offered:?}");
    assert!(offered[..8].iter().all(|name| name.starts_with("home.lamp_")), "{offered:?}");
    let before = meanings.asked.load(Ordering::SeqCst);
    said(&host, "it is so dark").await;
    assert_eq!(meanings.asked.load(Ordering::SeqCst), before, "the rounds of a turn ask once");
    // Nothing near enough: words decide.
    assert_eq!(said(&host, "any spells?").await, [DISCOVER, "world.spell-search"]);
}

#[tokio::test(start_paused = true)]
async fn keys_leave_in_no_search_for_tools() {
    let (host, meanings, _stop) = dense();
    settle().await;
    let query = Query { utterance: "hello", ..Query::default() };
    let offered = host.offered("Bartok", TIER, TIER.ceiling(), &query).await;
    let context = context(&offered);
    let asked = json!({"query": "a lamp, sk-proj-\u{200b}0123456789abcdefgh"});
    let record = host.execute(&context, &call("discover_tools", asked)).await;
    assert!(!found_in(&record).is_empty(), "{record:?}");
    let texts = meanings.texts.lock().unwrap();
    assert_eq!(texts.last().map(String::as_str), Some("a lamp, <secret>"));
}

#[tokio::test(start_paused = true)]
async fn only_new_or_changed_tools_are_embedded() {
    let (host, meanings, _stop) = dense();
    settle().await;
    meanings.texts.lock().unwrap().clear();
    meanings.takes(1_000);
    let again = vec![tool("getWeather", "Tells the weather of a place.", "world")];
    assert_eq!(host.offer("world", SourceKind::Server, again), []);
    settle().await;
    assert_eq!(said(&host, "How is the weather?").await, [DISCOVER, "world.getWeather"]);
    let changed = vec![tool("getWeather", "Tells of storms.", "world")];
    assert_eq!(host.offer("world", SourceKind::Server, changed), []);
    settle().await;
    let before = Instant::now();
    assert_eq!(said(&host, "it is so dark").await, [DISCOVER], "no words in common");
    assert_eq!(before.elapsed(), Duration::ZERO, "nobody waits for tools");
    let told: Vec<String> = meanings.texts.lock().unwrap().clone();
    assert_eq!(told, ["How is the weather?", "getWeather: Tells of storms."]);
}

#[tokio::test(start_paused = true)]
async fn late_embedding_costs_150_ms_once() {
    let (host, meanings, _stop) = dense();
    settle().await;
    meanings.takes(151);
    let before = Instant::now();
    assert_eq!(said(&host, "weather").await, [DISCOVER, "world.getWeather"]);
    assert_eq!(before.elapsed(), Duration::from_millis(150));
    assert_eq!(said(&host, "a storm").await, [DISCOVER], "words decide for half a minute");
    assert_eq!(before.elapsed(), Duration::from_millis(150));
    meanings.takes(149);
    sleep(Duration::from_secs(30)).await;
    assert_eq!(said(&host, "a storm").await, [DISCOVER, "world.getWeather"]);
}

#[tokio::test(start_paused = true)]
async fn failing_embedder_is_retried_with_backoff() {
    let (host, meanings, stop) = dense();
    *meanings.fails.lock().unwrap() = Some(Kind::Unreachable);
    settle().await;
    assert_eq!(meanings.asked.load(Ordering::SeqCst), 1);
    sleep(Duration::from_secs(29)).await;
    assert_eq!(meanings.asked.load(Ordering::SeqCst), 1);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(meanings.asked.load(Ordering::SeqCst), 2);
    *meanings.fails.lock().unwrap() = None;
    sleep(Duration::from_secs(61)).await;
    assert_eq!(said(&host, "a storm").await, [DISCOVER, "world.getWeather"]);
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn without_tending_tools_can_be_embedded_by_hand() {
    let host = host(&[wizard()]);
    host.embedded().await;
    host.select_by(SelectionOptions::default(), Some(Arc::<Meanings>::default() as _));
    assert_eq!(said(&host, "a storm").await, [DISCOVER]);
    host.embedded().await;
    assert_eq!(said(&host, "a storm").await, [DISCOVER, "world.getWeather"]);
}
