//! The bot: what runs once per program, beside the shards of the gateway that it serves.
//!
//! Entry function: [`run`]. Gives up only on faults that need its owner.

use std::{sync::Arc, time::Duration};

use serenity::{
    all::{ApplicationId, UserId},
    http::Http,
};
use tokio::{
    sync::{broadcast::Receiver, mpsc},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    admission::Admission,
    bot_state::Bot,
    capacity::Capacity,
    deletions,
    options::Options,
    registration,
    rest::{self, Fatal},
    schedules,
    served_shards::ServedShards,
    shard,
    shards::{self, Leasing, Sharing, check_alone},
    voice,
};
use crate::{
    campaign::{Deleted, Drives, Handles},
    panics::caught,
};

/// Wait after a panic before the bot tries again to leave unapproved servers.
const LEAVE_AGAIN: Duration = Duration::from_secs(60);

/// Runs the bot until `stop` is cancelled, then ends every session. Without `sharing` it serves all
/// servers alone, else the shards that it leases. Fails only on faults that need the bot's owner.
pub async fn run(
    options: Options,
    handles: Handles,
    sharing: Option<Sharing>,
    stop: CancellationToken,
) -> Result<(), Fatal> {
    match &sharing {
        // Nothing until it has leases.
        Some(Sharing { node, .. }) => handles.served().hold(node.shards, [], Instant::now()),
        None => check_alone(&*handles.leases()).await?,
    }
    let privacy = handles.privacy.clone();
    let finished = privacy.finished();
    // Before deletions, which need the same files.
    handles.sessions.take_over().await;
    handles.guilds.take_over().await;
    privacy.resume();
    let ended = serve(options, handles, sharing, finished, stop).await;
    privacy.close().await;
    ended
}

/// Serves Discord; notifies people of `finished` deletions.
async fn serve(
    options: Options,
    handles: Handles,
    sharing: Option<Sharing>,
    finished: Receiver<Deleted>,
    stop: CancellationToken,
) -> Result<(), Fatal> {
    let client = rest::client(&options)?;
    let http = Arc::new(rest::http_over(client.clone(), &options));
    let node = sharing.as_ref().map(|it| &it.node);
    let shards = node.map_or(1, |node| node.shards);
    let name = node.map(|node| node.name.clone());
    let (capacity, refused) = Capacity::new(node.and_then(|node| node.capacity));
    let served = ServedShards::new(shards, handles.figures.clone());
    let introduced = tokio::select! {
        introduced = introduce(&http, shards) => introduced?,
        () = stop.cancelled() => return Ok(()),
    };
    registration::register(&http, &options).await;
    let admission = Admission::new(options.clone(), handles.guilds.clone());
    let notifying = deletions::notify(finished, Arc::clone(&http));
    let _notifying = AbortOnDropHandle::new(tokio::spawn(notifying));
    let _scheduling = fire_schedules(&handles, served.clone(), Arc::clone(&http), &stop);
    let (strangers, here) = (admission.clone(), served.clone());
    let leaving = leave_strangers(strangers, Arc::clone(&http), here, stop.clone());
    let _leaving = AbortOnDropHandle::new(tokio::spawn(leaving));
    let leasing =
        sharing.map(|it| leasing(&handles, &served, it, &introduced, (capacity.clone(), refused)));
    let hand_over_by = leasing.as_ref().map(|it| Arc::clone(&it.hand_over_by)).unwrap_or_default();
    let (me, application, voice) = (introduced.me, introduced.application, voice::config());
    let bot = Arc::new(Bot {
        options,
        handles,
        admission,
        capacity,
        served,
        client,
        voice,
        me,
        node: name,
        hand_over_by,
        application,
    });
    let serve = move |lease, tenure, close, slot| {
        shard::serve(Arc::clone(&bot), lease, tenure, close, slot)
    };
    match leasing {
        Some(leasing) => shards::serve(leasing, serve, stop).await,
        None => shards::serve_alone(serve, stop).await,
    }
}

fn leasing(
    handles: &Handles,
    shards: &ServedShards,
    mut sharing: Sharing,
    introduced: &Introduced,
    (capacity, refused): (Capacity, mpsc::Receiver<u64>),
) -> Leasing {
    sharing.node.application = introduced.application.get();
    let buckets = introduced.buckets;
    let playing = Box::new(move || capacity.guilds());
    let shards = shards.clone();
    let connected = Box::new(move || shards.connected());
    let (leases, served) = (handles.leases(), handles.served().clone());
    let figures = handles.figures.clone();
    let hand_over_by = Arc::default();
    Leasing { leases, sharing, buckets, playing, connected, refused, served, figures, hand_over_by }
}

/// Fires the schedules of servers that are served here until `stop`, and tells game masters of
/// missed ones.
fn fire_schedules(
    handles: &Handles,
    served: ServedShards,
    http: Arc<Http>,
    stop: &CancellationToken,
) -> [AbortOnDropHandle<()>; 2] {
    let notices = handles.schedules.notices();
    let (schedules, guilds) = (handles.schedules.clone(), handles.guilds.clone());
    let telling = schedules::notify(notices, schedules::Post { schedules, guilds, http });
    let starts = Arc::new(handles.workflows.clone());
    let drives = Drives::Guilds(Box::new(move |guild| served.serves(guild)));
    let firing = handles.schedules.clone().run(drives, starts, stop.child_token());
    [tokio::spawn(telling), tokio::spawn(firing)].map(AbortOnDropHandle::new)
}

/// Leaves unapproved servers until `stop`, even after panics.
async fn leave_strangers(
    admission: Admission,
    http: Arc<Http>,
    served: ServedShards,
    stop: CancellationToken,
) {
    let serves = |guild| served.serves_shard_of(guild);
    let leave =
        || caught(admission.clone().leave_strangers(Arc::clone(&http), serves, stop.child_token()));
    while let Err(fault) = leave().await {
        tracing::error!(%fault, "cannot leave servers that are not approved; trying again");
        tokio::time::sleep(LEAVE_AGAIN).await;
    }
}

/// The bot, as Discord knows it.
struct Introduced {
    application: ApplicationId,
    me: UserId,
    /// Shards that may identify at once.
    buckets: u32,
}

/// Asks Discord until it answers.
async fn introduce(http: &Http, shards: u32) -> Result<Introduced, Fatal> {
    let mut wait = rest::RETRY;
    loop {
        let asked = async {
            let (application, me) = rest::introduce(http).await?;
            let buckets = buckets(http, shards).await?;
            Ok::<_, serenity::Error>(Introduced { application: application.id, me: me.id, buckets })
        };
        let error = match asked.await {
            Ok(introduced) => return Ok(introduced),
            Err(error) => error,
        };
        if rest::is_bad_token(&error) {
            return Err(Fatal::Token);
        }
        wait = rest::pause(&error, wait).await;
    }
}

/// How many shards Discord lets identify at once; not asked for one shard.
async fn buckets(http: &Http, shards: u32) -> serenity::Result<u32> {
    if shards == 1 {
        return Ok(1);
    }
    let limit = http.get_bot_gateway().await?.session_start_limit;
    let (remaining, total) = (limit.remaining, limit.total);
    if remaining.saturating_mul(2) < total {
        tracing::warn!(remaining, total, "more than half of today's starts of shards are used");
    }
    Ok(u32::try_from(limit.max_concurrency).unwrap_or(1).max(1))
}
