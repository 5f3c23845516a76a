use rand::SeedableRng;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    domain::{CallId, CampaignKey, Scope, ToolCall, TurnId},
    tools::{
        Attachment, Authority, Effects, Progress, Taint, ToolHost,
        builtin::{Materials, offer},
    },
};

/// A table that writes down its orders, or has no music.
struct Table {
    orders: Mutex<Vec<MusicOrder>>,
    is_silent: bool,
}

impl Effects for Table {
    fn show(&self, _: &str) {}

    fn attach(&self, _: &str, _: &Attachment) -> bool {
        true
    }

    fn music(&self, order: MusicOrder) -> Result<(), &'static str> {
        if self.is_silent {
            return Err("nobody is connected");
        }
        self.orders.lock().unwrap().push(order);
        Ok(())
    }
}

fn host() -> ToolHost {
    let host = ToolHost::new(StdRng::seed_from_u64(1));
    let music = Music::new(Arc::new(Library::shipped()), StdRng::seed_from_u64(2));
    let materials = Materials::dice(StdRng::seed_from_u64(1));
    offer(&host, Materials { music: Some(music), ..materials });
    host
}

/// The value or error of calling `name` with `arguments`, and the orders to the table.
async fn called(
    host: &ToolHost,
    (name, arguments): (&str, Value),
    is_silent: bool,
) -> (Result<Value, String>, Vec<MusicOrder>) {
    let table = Arc::new(Table { orders: Mutex::default(), is_silent });
    let effects: Arc<dyn Effects> = table.clone();
    let context = CallContext {
        scope: Scope::local(CampaignKey("c".to_owned())),
        session: SessionId("s".to_owned()),
        turn: TurnId(1),
        authority: Authority::Operator,
        speaker: Arc::from("Anna"),
        by: None,
        deadline: Instant::now() + Tier::Fast.ceiling(),
        fresh: false,
        taint: Taint::default(),
        progress: Progress::default(),
        span: Default::default(),
        cancel: CancellationToken::new(),
        effects,
    };
    let call = ToolCall {
        id: CallId("c".to_owned()),
        name: name.to_owned(),
        arguments: arguments.to_string(),
        extra: Map::new(),
    };
    let result = host.execute(&context, &call).await.result;
    let told = table.orders.lock().unwrap().clone();
    (result.map(|output| output.value()).map_err(|error| error.to_string()), told)
}

#[tokio::test]
async fn mood_plays_a_track_and_says_which() {
    let call = ("music-ambiance.play_track", json!({"mood": "a cosy tavern"}));
    let (value, told) = called(&host(), call, false).await;
    let expected = json!({"playing": "Tavern murmur", "mood": "tavern", "layer": "ambience"});
    assert_eq!(value, Ok(expected));
    assert!(matches!(told.as_slice(), [MusicOrder::Play(track)] if track.title == "Tavern murmur"));
}

#[tokio::test]
async fn unknown_mood_lists_what_there_is() {
    let call = ("music-ambiance.play_track", json!({"mood": "bagpipes"}));
    let (value, told) = called(&host(), call, false).await;
    let error = value.unwrap_err();
    assert!(error.contains("'bagpipes'") && error.contains("rain, tavern, fire"), "{error}");
    assert_eq!(told, []);
}

#[tokio::test]
async fn stopping_fades_everything_out() {
    let call = ("music-ambiance.stop_music", json!({}));
    let (value, told) = called(&host(), call, false).await;
    assert_eq!((value, told), (Ok(json!({"stopped": true})), vec![MusicOrder::Stop]));
}

#[tokio::test]
async fn table_without_music_says_why() {
    let call = ("music-ambiance.play_track", json!({"mood": "rain"}));
    let (value, _) = called(&host(), call, true).await;
    assert!(value.unwrap_err().contains("nobody is connected"));
}

#[tokio::test]
async fn without_a_library_there_is_no_tool() {
    let host = host();
    offer(&host, Materials::dice(StdRng::seed_from_u64(1)));
    let call = ("music-ambiance.play_track", json!({"mood": "rain"}));
    assert!(called(&host, call, false).await.0.is_err());
}
