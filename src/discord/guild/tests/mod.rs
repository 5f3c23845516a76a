//! A guild whose services panic.

mod interrupted;
mod messages;

use std::{sync::Arc, time::Duration};

use serde_json::json;
use serenity::{
    all::{ChannelId, GuildCreateEvent, GuildId, UserId},
    cache::Cache,
    http::Http,
};
use songbird::Songbird;
use tokio::{sync::oneshot, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{GuildEvent, Job, SessionStart, Shared, open, refusal::GuildRefusal, state::Guild};
use crate::{
    campaign::stand_in_handles_without_tables,
    discord::{capacity::Capacity, options::Options, tenure::Tenure, voice},
    domain::SessionId,
    panics::caught,
};

const ME: u64 = 2;
const HERE: GuildId = GuildId::new(3);

fn cache() -> Arc<Cache> {
    let cache = Cache::new();
    describe(&cache);
    Arc::new(cache)
}

/// The guild as the gateway describes it: one voice channel, open to everyone.
fn describe(cache: &Cache) {
    let channel = |id: &str, kind: u8| {
        json!({"id": id, "type": kind, "name": "table", "position": 0, "guild_id": "3",
            "permission_overwrites": [], "bitrate": 64000, "user_limit": 0})
    };
    let role = json!({"id": "3", "name": "@everyone", "permissions": "8", "position": 0,
        "color": 0, "colors": {"primary_color": 0}, "hoist": false, "managed": false,
        "mentionable": false, "flags": 0});
    let guild = json!({
        "id": "3", "name": "Inn", "icon": null, "splash": null, "discovery_splash": null,
        "owner_id": "9", "afk_channel_id": null, "afk_timeout": 300, "verification_level": 0,
        "default_message_notifications": 0, "explicit_content_filter": 0, "roles": [role],
        "emojis": [], "features": [], "mfa_level": 0, "application_id": null,
        "system_channel_id": null, "system_channel_flags": 0, "rules_channel_id": null,
        "vanity_url_code": null, "description": null, "banner": null, "premium_tier": 0,
        "preferred_locale": "en-US", "public_updates_channel_id": null, "nsfw_level": 0,
        "premium_progress_bar_enabled": false, "joined_at": "2026-01-01T00:00:00Z",
        "large": false, "unavailable": false, "member_count": 1, "voice_states": [],
        "members": [], "channels": [channel("4", 2), channel("5", 0)], "threads": [],
        "presences": [], "stage_instances": [], "guild_scheduled_events": [], "stickers": [],
        "safety_alerts_channel_id": null,
    });
    let mut event: GuildCreateEvent = serde_json::from_value(guild).unwrap();
    cache.update(&mut event);
}

/// State of a shard with [`HERE`]; all else lies in `folder`.
pub fn shared(folder: &std::path::Path) -> Arc<Shared> {
    Arc::new(Shared {
        http: Arc::new(Http::new("MTIz.a.b")),
        cache: cache(),
        songbird: Songbird::serenity_from_config(voice::config()),
        tenure: Tenure::endless(),
        shards: 1,
        node: None,
        capacity: Capacity::new(None).0,
        handles: stand_in_handles_without_tables(folder),
        options: Options::plain(),
        me: UserId::new(ME),
    })
}

#[tokio::test]
async fn guild_can_retry_after_session_opening_panics() {
    let folder = tempfile::tempdir().unwrap();
    let mut guild = Guild::new(HERE, shared(folder.path()));
    let start = SessionStart {
        user: UserId::new(9),
        text: ChannelId::new(5),
        voice: Some(ChannelId::new(4)),
    };
    for _ in 0..2 {
        let opening = guild.start(&start).unwrap();
        let twice = guild.start(&start).err();
        assert!(matches!(twice, Some(GuildRefusal::Opening)), "one at a time: {twice:?}");
        assert!(caught(opening).await.is_err(), "its factory panics");
    }
    assert!(guild.shared.handles.sessions.paid(&SessionId("any".to_owned())).is_none());
}

fn breaks(_: &mut Guild) {
    panic!("a command");
}

fn no_work() -> Job {
    panic!("its work");
}

#[tokio::test]
async fn guild_goes_on_after_whatever_panics_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let stop = CancellationToken::new();
    let (events, task) = open(HERE, shared(folder.path()), stop.clone());
    let tell = async |job: Job| assert!(events.send(GuildEvent::Job(job)).await.is_ok());
    for _ in 0..2 {
        tell(Box::new(breaks)).await;
        tell(Box::new(|guild| guild.spawn(async { no_work() }))).await;
        tell(Box::new(|guild| guild.send(async { drop(no_work()) }))).await;
        tell(Box::new(|guild| guild.spawn(async { Box::new(breaks) as Job }))).await;
    }
    let (done, answered) = oneshot::channel();
    tell(Box::new(move |guild| _ = done.send(guild.id))).await;
    let answered = timeout(Duration::from_secs(30), answered).await.expect("it still answers");
    assert_eq!(answered, Ok(HERE));
    stop.cancel();
    task.await.expect("its task did not end with a panic");
}
