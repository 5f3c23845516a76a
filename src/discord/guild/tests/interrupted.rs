//! A guild whose session was interrupted.

use std::sync::{Arc, Mutex};

use serde_json::json;
use serenity::{
    all::{HttpBuilder, VoiceStateUpdateEvent},
    cache::Cache,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{HERE, describe, shared};
use crate::{
    campaign::{GuildSettings, RunningSession, WantedTable, now, stand_in_handles_that_refuse},
    discord::guild::{Guild, GuildEvent, Shared, open},
    domain::{Owner, SessionId},
};

const SESSION: &str = "discord-3-1795800000";
const BEFORE: &str = "discord-3-1795200000";
const HOUR: i64 = 60 * 60 * 1_000;

/// The guild and the tables that it wanted; all are refused.
struct Inn {
    guild: Guild,
    wanted: Arc<Mutex<Vec<WantedTable>>>,
    _folder: TempDir,
}

/// State of a guild that the gateway has not described.
fn undescribed(folder: &TempDir, wanted: &Arc<Mutex<Vec<WantedTable>>>) -> Shared {
    // Its own handles are replaced.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut shared = Arc::into_inner(shared(elsewhere.path())).expect("one owner");
    shared.cache = Arc::new(Cache::new());
    shared.handles = stand_in_handles_that_refuse(folder.path(), wanted);
    // Nothing listens there.
    let http = HttpBuilder::new("MTIz.a.b").proxy("http://127.0.0.1:9").ratelimiter_disabled(true);
    shared.http = Arc::new(http.build());
    shared
}

/// Anna joins the voice channel.
fn join(cache: &Cache) {
    let user = json!({"id": "11", "username": "anna", "discriminator": "0", "avatar": null});
    let member = json!({
        "user": user, "nick": null, "roles": [], "joined_at": "2026-01-01T00:00:00Z",
        "deaf": false, "mute": false, "flags": 0,
    });
    let state = json!({
        "guild_id": "3", "channel_id": "4", "user_id": "11", "session_id": "a", "member": member,
        "deaf": false, "mute": false, "self_deaf": false, "self_mute": false, "self_video": false,
        "suppress": false, "request_to_speak_timestamp": null,
    });
    let mut event: VoiceStateUpdateEvent = serde_json::from_value(state).unwrap();
    cache.update(&mut event);
}

fn running(guild: &Guild) -> RunningSession {
    RunningSession {
        session: SESSION.to_owned(),
        after: Some(BEFORE.to_owned()),
        campaign: guild.scope().campaign,
        text_channel: 5,
        voice_channel: 4,
        by: 9,
        began: now() - 2 * HOUR,
        seen: now() - 1_000,
        panel: None,
        told: [11].into(),
        told_of: Default::default(),
        is_listened_to: false,
        answering: None,
        tries: 0,
    }
}

impl Inn {
    /// `change` makes the record of the interrupted session differ.
    fn new(change: impl FnOnce(&mut RunningSession)) -> Self {
        let (folder, wanted) = (tempfile::tempdir().unwrap(), Arc::default());
        let mut guild = Guild::new(HERE, Arc::new(undescribed(&folder, &wanted)));
        let mut running = running(&guild);
        change(&mut running);
        guild.settings.take(Ok(GuildSettings::default()));
        guild.change_settings(|settings| settings.running = Some(running));
        Self { guild, wanted, _folder: folder }
    }

    fn is_opening(&self) -> bool {
        self.guild.opening.strong_count() > 0
    }

    /// True if the session is over in the settings and in the transcript.
    async fn is_over(&self) -> bool {
        let handles = &self.guild.shared.handles;
        handles.sessions.transcripts().caught_up().await.unwrap();
        let found = handles.recaps.session(Owner::Guild(HERE.get()), Some(SESSION)).await.unwrap();
        let has_ended = found.is_some_and(|(_, it)| it.session.ended.is_some());
        assert_eq!(has_ended, self.guild.settings().running.is_none());
        has_ended
    }
}

#[tokio::test]
async fn interrupted_session_goes_on_as_itself() {
    let mut inn = Inn::new(|_| ());
    inn.guild.take_up_running();
    assert!(!inn.is_opening() && !inn.is_over().await, "nothing is known of the channel yet");
    describe(&inn.guild.shared.cache);
    join(&inn.guild.shared.cache);
    inn.guild.go_on();
    assert!(inn.is_opening());
    let running = inn.guild.settings().running.clone().expect("it may still go on");
    assert_eq!(running.tries, 1);
    inn.guild.go_on();
    let [session, before] = [SESSION, BEFORE].map(|id| SessionId(id.to_owned()));
    let job = inn.guild.jobs.join_next().await.unwrap().unwrap();
    let wanted = [(session, Some(before), Some(running.began))];
    assert_eq!(*inn.wanted.lock().unwrap(), wanted, "once");
    job(&mut inn.guild);
    assert!(inn.is_over().await, "its table was refused");
}

#[tokio::test]
async fn session_of_nobody_or_of_long_ago_is_closed() {
    let long_ago = |it: &mut RunningSession| it.seen -= 2 * HOUR;
    let again = |it: &mut RunningSession| it.tries = 3;
    let other = |it: &mut RunningSession| it.campaign.0.push_str("-of-old");
    let cases = [
        (Inn::new(|_| ()), false),
        (Inn::new(long_ago), true),
        (Inn::new(again), true),
        (Inn::new(other), true),
    ];
    for (mut inn, has_people) in cases {
        describe(&inn.guild.shared.cache);
        if has_people {
            join(&inn.guild.shared.cache);
        }
        inn.guild.take_up_running();
        assert!(!inn.is_opening() && inn.wanted.lock().unwrap().is_empty());
        assert!(inn.is_over().await);
    }
}

#[tokio::test]
async fn guild_without_interrupted_session_stays_idle() {
    let mut inn = Inn::new(|_| ());
    inn.guild.change_settings(|settings| settings.running = None);
    describe(&inn.guild.shared.cache);
    join(&inn.guild.shared.cache);
    inn.guild.take_up_running();
    assert!(!inn.is_opening() && inn.wanted.lock().unwrap().is_empty());
    assert!(inn.guild.jobs.is_empty());
}

#[tokio::test]
async fn handed_over_guild_leaves_its_session_running() {
    let inn = Inn::new(|_| ());
    let guilds = inn.guild.shared.handles.guilds.clone();
    let kept = inn.guild.settings().clone();
    guilds.clone().keep(HERE.get(), kept.clone()).await.unwrap();
    let (events, task) = open(HERE, Arc::clone(&inn.guild.shared), CancellationToken::new());
    assert!(events.send(GuildEvent::HandOver).await.is_ok());
    task.await.expect("its task ends by itself");
    assert_eq!(guilds.read(HERE.get()).await.unwrap().running, kept.running);
}
