//! One voice connection and the tasks that feed it.
//!
//! Entry type: [`VoiceConnection`]. **Never**: decides who may be heard; the guild fills
//! [`Audience`].

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use serenity::all::{ChannelId, GuildId};
use songbird::{
    Call, Config, Songbird,
    driver::{DecodeMode, MixMode, Scheduler, SchedulerConfig, SchedulerMode},
    error::JoinError,
};
use tokio::{
    sync::{Mutex, mpsc, watch},
    task::JoinSet,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    audience::Audience,
    driver_events::{DriverEvents, Dropped, VoiceNews},
    music_track::play_music,
    receiver::{self, ReceiverChannels, ReceptionReport},
    track_output::{self, Ring, TrackOutput},
};
use crate::{
    audio::Frame,
    discord::tenure::Tenure,
    figures::Figures,
    session::{MusicPlayer, VoiceInput},
};

/// News of the connection waiting for the guild.
const NEWS_CAPACITY: usize = 64;
/// A join that takes longer has failed.
const JOIN_PATIENCE: Duration = Duration::from_secs(20);
/// Calls mixed by one of songbird's threads, 16 by default. All calls of a thread that misses its
/// 20 ms stutter, and [`scheduler`] moves none to another, so each gets few.
const CALLS_PER_THREAD: usize = 4;

/// State of a voice connection; only the guild's voice supervisor changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    Up,
    /// Lost and reconnecting.
    Down {
        /// Shown on the panel.
        why: String,
        /// Failed attempts since the loss.
        attempts: u32,
    },
    /// The session is over.
    Left,
}

/// Requires a tokio runtime. Calls with clones of it share mixing threads.
pub fn config() -> Config {
    Config::default()
        .scheduler(scheduler())
        // songbird's decoder reads noise under DAVE; ours takes the packets.
        .decode_mode(DecodeMode::Decrypt)
        .mix_mode(MixMode::Mono)
        .preallocated_tracks(4)
}

/// Keeps each call on one thread. By default songbird 0.6.1 moves a call away when its thread was
/// held up for 18 ms, but does so between mixing and sending: the thread's last call then sends the
/// moved call's payload under its own header, which does not decrypt, and both lose 20 ms of sound.
fn scheduler() -> Scheduler {
    let mut config = SchedulerConfig::default();
    config.move_expensive_tasks = false;
    if let Some(calls) = NonZeroUsize::new(CALLS_PER_THREAD) {
        config.strategy = SchedulerMode::MaxPerThread(calls);
    }
    Scheduler::new(config)
}

pub struct VoiceConnection {
    songbird: Arc<Songbird>,
    guild: GuildId,
    call: Arc<Mutex<Call>>,
    music: MusicPlayer,
    tenure: Tenure,
    pub audience: Audience,
    pub news: mpsc::Receiver<VoiceNews>,
    pub reception: watch::Receiver<ReceptionReport>,
    pub dropped: Arc<Dropped>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

/// The table's ends of the voice channels.
pub struct TableAudio {
    pub voice: mpsc::Sender<VoiceInput>,
    /// Tracks that the table's output wants started.
    pub tracks: mpsc::Receiver<Arc<Ring>>,
    /// Played beside speech.
    pub music: MusicPlayer,
    /// Counts lost packets.
    pub figures: Figures,
    /// Of the guild's shard.
    pub tenure: Tenure,
}

/// A table's output, and the receiver of tracks to start.
pub fn track_output() -> (TrackOutput, mpsc::Receiver<Arc<Ring>>) {
    let (tracks, started) = mpsc::channel(track_output::TRACK_CAPACITY);
    (TrackOutput::new(tracks), started)
}

impl VoiceConnection {
    /// Sets up the tasks; [`Connector::connect`] joins the channel.
    pub async fn open(songbird: Arc<Songbird>, guild: GuildId, audio: TableAudio) -> Self {
        let audience = Audience::default();
        let dropped = Arc::new(Dropped::default());
        let (packets, packets_in) = mpsc::channel(receiver::PACKET_CAPACITY);
        let (news, news_in) = mpsc::channel(NEWS_CAPACITY);
        let (report, reception) = watch::channel(ReceptionReport::default());
        let call = songbird.get_or_insert(guild);
        {
            let mut call = call.lock().await;
            call.remove_all_global_events();
            let (audience, dropped) = (audience.clone(), Arc::clone(&dropped));
            DriverEvents { audience, packets, news, dropped }.listen(&mut call);
        }
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let (figures, tenure) = (audio.figures, audio.tenure);
        let channels =
            ReceiverChannels { packets: packets_in, voice: audio.voice, report, figures };
        tasks.spawn(receiver::receive(channels, audience.clone(), stop.clone()));
        let tracks = audio.tracks;
        tasks.spawn(track_output::start_tracks(Arc::clone(&call), tracks, tenure.clone()));
        tasks.spawn(play_music(Arc::clone(&call), audio.music.clone(), tenure.clone()));
        let (music, news) = (audio.music, news_in);
        Self {
            songbird,
            guild,
            call,
            music,
            tenure,
            audience,
            news,
            reception,
            dropped,
            stop,
            tasks,
        }
    }

    /// A handle to connect with; may outlive the session.
    pub fn connector(&self) -> Connector {
        Connector {
            songbird: Arc::clone(&self.songbird),
            guild: self.guild,
            call: Arc::clone(&self.call),
            music: self.music.clone(),
            tenure: self.tenure.clone(),
            stop: self.stop.clone(),
        }
    }

    /// Leaves the channel and stops the tasks. Cancel safe.
    pub async fn close(mut self) {
        self.stop.cancel();
        self.call.lock().await.remove_all_global_events();
        // Leaving would throw out the node that serves the shard now: it is the same user.
        if self.tenure.holds(Instant::now())
            && let Err(error) = self.songbird.remove(self.guild).await
        {
            tracing::debug!(%error, "cannot leave a voice channel");
        }
        self.tasks.shutdown().await;
    }
}

/// Reason a connection failed, for the game master.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the session is over")]
    SessionOver,
    /// Discord refused the bot, or its voice server failed.
    #[error("I could not join <#{channel}>: {}", why(.error))]
    Refused { channel: ChannelId, error: JoinError },
    /// Discord did not answer.
    #[error("I could not join <#{channel}>: discord did not answer in time")]
    Late { channel: ChannelId },
}

/// Connects, and plays the bot's own announcements.
#[derive(Clone)]
pub struct Connector {
    songbird: Arc<Songbird>,
    guild: GuildId,
    call: Arc<Mutex<Call>>,
    music: MusicPlayer,
    tenure: Tenure,
    stop: CancellationToken,
}

impl Connector {
    /// Joins `channel` and waits until it is connected. Cancel safe.
    pub async fn connect(&self, channel: ChannelId) -> Result<(), ConnectError> {
        if !self.tenure.holds(Instant::now()) {
            return Err(ConnectError::SessionOver);
        }
        let joined = tokio::time::timeout(JOIN_PATIENCE, self.songbird.join(self.guild, channel));
        let joined = tokio::select! {
            biased;
            // Ending the session leaves the channel.
            () = self.stop.cancelled() => return Err(ConnectError::SessionOver),
            joined = joined => joined,
        };
        let error = match joined {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => ConnectError::Refused { channel, error },
            Err(_) => ConnectError::Late { channel },
        };
        self.hang_up().await;
        Err(error)
    }

    /// Plays an announcement beside any speech; music is lowered for it.
    pub async fn announce(&self, frames: Vec<Frame>) {
        track_output::play(&self.call, frames, self.music.clone(), &self.tenure).await;
    }

    /// Leaves and joins again, even while connected.
    pub async fn reconnect(&self, channel: ChannelId) -> Result<(), ConnectError> {
        self.hang_up().await;
        self.connect(channel).await
    }

    /// Leaves but keeps the audience. Discord considers the bot connected until it leaves.
    async fn hang_up(&self) {
        if self.tenure.holds(Instant::now())
            && let Err(error) = self.songbird.leave(self.guild).await
        {
            tracing::debug!(%error, "cannot leave a voice channel");
        }
    }
}

/// Explains `error`, with the fix.
fn why(error: &JoinError) -> String {
    match error {
        JoinError::TimedOut => {
            "discord did not let me in (is the channel full, or am I not allowed to connect? see \
             /setup)"
                .to_owned()
        }
        JoinError::Dropped => "another request interrupted this one (try again)".to_owned(),
        JoinError::Driver(error) => {
            format!("the voice server gave an unexpected answer: {error} (try again)")
        }
        other => format!("{other} (try again)"),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        env,
        num::NonZeroU64,
        process::Stdio,
        sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    };

    use discord_loopback::{Certificates, Voice, VoiceOptions};
    use songbird::{
        ConnectionInfo, Driver, id,
        input::{Input, RawAdapter, codecs},
    };
    use tokio::{
        process::{Child, Command},
        time::{sleep, timeout},
    };

    use super::*;
    use crate::{
        discord::voice::source::{Frames, Source},
        logic::music::MusicFrame,
    };

    const TEST: &str = "discord::voice::connection::tests::held_up_call_spoils_no_other_call";
    /// Makes this test the bot: an endpoint, and a token for each of [`GUILDS`].
    const SEATS: &str = "GLYPHOXA_TEST_SEATS";
    const GUILDS: [u64; 2] = [3003, 3004];
    const CHANNEL: u64 = 4004;
    const BOT: u64 = 1001;
    const BOUND: Duration = Duration::from_secs(100);
    /// Frames of the second call before the first is held up.
    const BEFORE: usize = 20;
    /// Packets of a call that go on long after that.
    const ENOUGH: u64 = 60;
    /// More than the 18 ms after which songbird finds a thread overloaded.
    const HELD_UP: Duration = Duration::from_millis(30);

    /// Endless sound. Holds up its thread once, when `other` has made [`BEFORE`] frames.
    struct Sound {
        made: Arc<AtomicUsize>,
        other: Option<Arc<AtomicUsize>>,
        held_up: AtomicBool,
    }

    impl Frames for Sound {
        #[expect(clippy::disallowed_methods, reason = "a mixing thread is held up")]
        fn next(&self, into: &mut MusicFrame) -> bool {
            let is_due = |other: &Arc<AtomicUsize>| other.load(Ordering::SeqCst) >= BEFORE;
            if self.other.as_ref().is_some_and(is_due) && !self.held_up.swap(true, Ordering::SeqCst)
            {
                std::thread::sleep(HELD_UP);
            }
            into.fill(1_000);
            self.made.fetch_add(1, Ordering::SeqCst);
            true
        }
    }

    /// Joins a call and plays `sound` until the driver is dropped.
    async fn call(
        config: Config,
        guild: u64,
        (endpoint, token): (&str, &str),
        sound: Sound,
    ) -> Driver {
        let number = |id: u64| NonZeroU64::new(id).unwrap();
        let made = Arc::clone(&sound.made);
        let mut driver = Driver::new(config);
        let connected = driver.connect(ConnectionInfo {
            channel_id: id::ChannelId(number(CHANNEL)),
            guild_id: id::GuildId(number(guild)),
            user_id: id::UserId(number(BOT)),
            session_id: "bot".to_owned(),
            endpoint: endpoint.to_owned(),
            token: token.to_owned(),
        });
        connected.await.unwrap();
        let input = Input::from(RawAdapter::new(
            Source::new(Box::new(sound), Tenure::endless()),
            48_000,
            1,
        ));
        let input =
            input.make_playable_async(codecs::get_codec_registry(), codecs::get_probe()).await;
        let _playing = driver.play_input(input.unwrap());
        while made.load(Ordering::SeqCst) < BEFORE / 2 {
            sleep(Duration::from_millis(5)).await;
        }
        driver
    }

    /// Plays in both guilds until killed; the first call is held up.
    async fn bot(seats: &str) {
        _ = rustls::crypto::ring::default_provider().install_default();
        let seats: Vec<&str> = seats.split(' ').collect();
        let [endpoint, first, second] = seats[..] else { panic!("{seats:?}") };
        let config = config();
        let other = Arc::<AtomicUsize>::default();
        let sound = |made: &Arc<AtomicUsize>, other| Sound {
            made: Arc::clone(made),
            other,
            held_up: AtomicBool::new(false),
        };
        let held_up = sound(&Arc::default(), Some(Arc::clone(&other)));
        let _first = call(config.clone(), GUILDS[0], (endpoint, first), held_up).await;
        let sound = sound(&other, None);
        let _second = call(config, GUILDS[1], (endpoint, second), sound).await;
        std::future::pending().await
    }

    /// songbird reads `SSL_CERT_FILE` once per process, so the bot gets a process of its own.
    fn start_bot(voice: &Voice, authority: &Certificates) -> Child {
        let seats = GUILDS.map(|guild| voice.admit(guild, CHANNEL, BOT, "bot"));
        let [(first, endpoint), (second, _)] = seats;
        Command::new(env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture"])
            .env(SEATS, format!("{endpoint} {first} {second}"))
            .env("SSL_CERT_FILE", authority.authority())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "tells the bot's process from the test's")]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn held_up_call_spoils_no_other_call() {
        if let Ok(seats) = env::var(SEATS) {
            return bot(&seats).await;
        }
        let authority = Certificates::new().unwrap();
        let options = VoiceOptions { dave: false, ..VoiceOptions::default() };
        let voice = Voice::start(authority.acceptor(), options).await.unwrap();
        let mut process = start_bot(&voice, &authority);
        let both_sound = async {
            let sounds = |guild| voice.counts(guild, BOT).packets_in >= ENOUGH;
            while !GUILDS.into_iter().all(sounds) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        let sounded = tokio::select! {
            sounded = timeout(BOUND, both_sound) => sounded.is_ok(),
            _ = process.wait() => false,
        };
        assert_eq!(voice.violations(), Vec::<String>::new());
        assert!(sounded, "both calls continue");
    }
}
