//! The task of one guild: reads its settings, then handles one event after another.
//!
//! Entry function: [`open`]; others send it [`GuildEvent`]s. After a panic [`Guild::failed`] cleans
//! up. Once the shard's tenure is over, the task ends where it is: it says, writes and leaves
//! nothing more. **Never**: waits for Discord, or leaves work marked as under way.

use std::{future::pending, sync::Arc, time::Duration};

use serenity::all::GuildId;
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, MissedTickBehavior, interval, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    session::{GuildSession, SessionEvent},
    state::{Guild, Job, Shared},
};
use crate::{
    campaign::{GuildError, GuildSettings, ServerError},
    domain::Owner,
    panics::{Panicked, caught_now},
};

/// Events waiting for a guild; more wait in Discord's client.
const EVENT_CAPACITY: usize = 64;
/// Interval of checks.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Unfinished jobs are abandoned after this when the bot stops.
const CLOSE_PATIENCE: Duration = Duration::from_secs(3);
/// Delay before unreadable settings are tried again.
const REREAD: Duration = Duration::from_secs(10);
/// Delay before a lost voice connection is made again after a panic.
const REJOIN: Duration = Duration::from_secs(5);

pub enum GuildEvent {
    /// Runs on the guild's task: a command, a button, a form.
    Job(Job),
    /// A voice state has changed in the cache.
    VoiceStates,
    /// The bot has left its voice channel or was removed.
    Disconnected,
    /// The bot is no longer in the guild.
    Gone,
    /// Another node serves the guild from now on; the task ends. It takes its time: the shard
    /// ends the tenure if that is too long.
    HandOver,
}

enum Event {
    Outside(GuildEvent),
    Done(Job),
    Session(SessionEvent),
    Look,
    Stop,
}

/// Frees what the guild's owner holds beyond its task, if that ends after the tenure.
struct Dropped {
    shared: Arc<Shared>,
    owner: Owner,
}

impl Drop for Dropped {
    fn drop(&mut self) {
        let Shared { tenure, handles, .. } = &*self.shared;
        if !tenure.holds(Instant::now()) {
            // Servers added there connect again where the guild is served.
            handles.servers.set_added(self.owner, Vec::new());
            handles.workflows.abandon(self.owner);
        }
    }
}

/// Starts a guild's task; it ends when `stop` is cancelled, or the tenure is over.
pub fn open(
    id: GuildId,
    shared: Arc<Shared>,
    stop: CancellationToken,
) -> (mpsc::Sender<GuildEvent>, JoinHandle<()>) {
    let (events, events_in) = mpsc::channel(EVENT_CAPACITY);
    let dropped = Dropped { shared: Arc::clone(&shared), owner: Owner::Guild(id.get()) };
    let guild = Guild::new(id, shared);
    let task = async move {
        tokio::select! {
            biased;
            () = dropped.shared.tenure.over() => {}
            () = run(guild, events_in, stop) => {}
        }
    };
    (events, tokio::spawn(task))
}

async fn run(mut guild: Guild, mut events: mpsc::Receiver<GuildEvent>, stop: CancellationToken) {
    let read = guild.shared.handles.guilds.clone().read(guild.id.get());
    tokio::select! {
        read = read => take_settings(&mut guild, read),
        () = stop.cancelled() => return,
    }
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let is_handed_over = loop {
        let event = tokio::select! {
            biased;
            () = stop.cancelled() => Event::Stop,
            Some(event) = events.recv() => Event::Outside(event),
            Some(done) = guild.jobs.join_next() => match done {
                Ok(job) => Event::Done(job),
                Err(_) => continue,
            },
            event = next(guild.session.as_mut()) => Event::Session(event),
            _ = look.tick() => Event::Look,
        };
        let is_handed_over = matches!(event, Event::Outside(GuildEvent::HandOver));
        if is_handed_over || matches!(event, Event::Outside(GuildEvent::Gone) | Event::Stop) {
            // Servers added here reconnect when the guild comes back.
            guild.shared.handles.servers.set_added(guild.owner(), Vec::new());
            break is_handed_over;
        }
        if let Err(fault) = caught_now(|| take(&mut guild, event))
            && let Some(wait) = guild.failed(&fault)
        {
            sleep(wait).await;
        }
        while guild.closing.try_join_next().is_some() {}
    };
    let workflows = guild.shared.handles.workflows.clone();
    if is_handed_over {
        guild.hand_over().await;
        return workflows.end(guild.owner()).await;
    }
    // Then abandons unfinished work with the guild.
    let _ = timeout(CLOSE_PATIENCE, guild.close()).await;
    let _ = timeout(CLOSE_PATIENCE, workflows.end(guild.owner())).await;
}

fn take(guild: &mut Guild, event: Event) {
    match event {
        Event::Outside(GuildEvent::Job(job)) | Event::Done(job) => job(guild),
        Event::Outside(GuildEvent::VoiceStates) => {
            guild.go_on();
            guild.seat_people();
        }
        Event::Outside(GuildEvent::Disconnected) => guild.disconnected(),
        Event::Session(event) => guild.take_event(event),
        Event::Look => guild.look(Instant::now()),
        Event::Outside(GuildEvent::Gone | GuildEvent::HandOver) | Event::Stop => {}
    }
    if let Some(why) = guild.ending.take() {
        // The session may have ended meanwhile.
        let _ = guild.stop(why);
    }
}

/// Next event of the running session; waits forever without one.
async fn next(session: Option<&mut GuildSession>) -> SessionEvent {
    match session {
        Some(session) => session.next().await,
        None => pending().await,
    }
}

/// Applies the settings, or retries reading them: until then no one is heard.
fn take_settings(guild: &mut Guild, read: Result<GuildSettings, GuildError>) {
    let failed = read.as_ref().err().map(ToString::to_string);
    guild.settings.take(read);
    let Some(why) = failed else {
        add_servers(guild);
        guild.learn_entities();
        guild.take_up_earlier();
        guild.take_up_running();
        return guild.seat_people();
    };
    tracing::error!(guild = guild.id.get(), why, "cannot read the settings of a guild");
    let again = guild.shared.handles.guilds.clone().read(guild.id.get());
    guild.spawn(async move {
        sleep(REREAD).await;
        let read = again.await;
        Box::new(move |guild: &mut Guild| take_settings(guild, read)) as Job
    });
}

/// Connects the servers that were added here.
fn add_servers(guild: &Guild) {
    let handles = &guild.shared.handles;
    let options = guild.settings().servers.iter().filter_map(|(name, added)| {
        let options = handles.factory.server(name, added);
        let left_out = |why: &ServerError| {
            let (guild, why) = (guild.id.get(), why.to_string());
            tracing::warn!(guild, server = name, why, "skipping a tool server added in discord");
        };
        options.inspect_err(left_out).ok()
    });
    handles.servers.set_added(guild.owner(), options.collect());
}

impl Guild {
    /// Handles a panic in this guild: logs it, undoes unfinished work, notifies; returns how long
    /// to wait before going on. Repeated failures end the session; its transcript stays.
    pub fn failed(&mut self, fault: &Panicked) -> Option<Duration> {
        tracing::error!(guild = self.id.get(), %fault, "something failed in a guild");
        let wait = self.panics.count(Instant::now());
        // The notice itself may be what fails.
        let told = caught_now(|| self.tell_of(fault, wait.is_some()));
        if let Err(again) = told {
            tracing::error!(guild = self.id.get(), fault = %again, "cannot notify the game master");
        }
        wait
    }

    fn tell_of(&mut self, fault: &Panicked, goes_on: bool) {
        if let Some(session) = &mut self.session {
            // Users whose notice was under way are notified again.
            session.people.tell_again();
            if goes_on && !session.voice.is_up() {
                // The failure may have hit the reconnect itself.
                self.reconnect_after(REJOIN);
            }
        }
        match goes_on {
            true => self.tell_dm(format!("Something in me failed, but I carry on: {fault}")),
            false if self.session.is_some() => {
                self.tell_dm(format!(
                    "Something in me keeps failing, so I end the session; the transcript is \
                     kept: {fault}"
                ));
                // The session ends whatever else fails.
                let _ = self.stop("something in me keeps failing");
            }
            false => {}
        }
    }
}
