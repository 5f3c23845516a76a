//! The voice servers against songbird, the client most bots in Rust are built on (version 4).
//!
//! Songbird trusts the authorities of SSL_CERT_FILE, read once per process: so it runs in a
//! process of its own, which is this test again with a seat in its environment.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test, whose client reports by lines"
)]

use discord_loopback::{Certificates, Player, Scope, Seat, Voice, VoiceOptions};
use songbird::{
    Config, ConnectionInfo, CoreEvent, Driver, Event, EventContext, EventHandler,
    driver::DecodeMode,
    id::{ChannelId, GuildId, UserId},
    input::RawAdapter,
    packet::Packet as _,
};
use std::{
    io::{BufRead as _, BufReader, Cursor, Write as _},
    num::NonZeroU64,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Mutex, mpsc},
    time::{Duration, Instant},
};
use tokio_rustls::TlsAcceptor;

const GUILD: u64 = 3003;
const CHANNEL: u64 = 4004;
const BOT: u64 = 1001;
const LIMIT: Duration = Duration::from_secs(120);
/// The variable that makes this test the client.
const SEAT: &str = "LOOPBACK_SEAT";

fn authority() -> (TlsAcceptor, Certificates) {
    let certificates = Certificates::new().unwrap();
    (certificates.acceptor(), certificates)
}

/// A second of a tone of half the full scale.
fn tone(hertz: f64) -> impl Iterator<Item = f64> {
    (0..48_000_u32)
        .map(move |at| (f64::from(at) * hertz * std::f64::consts::TAU / 48_000.0).sin() / 2.0)
}

/// Says "loud" for every loud packet it hears.
struct Ears(Mutex<opus2::Decoder>);

#[async_trait::async_trait]
impl EventHandler for Ears {
    async fn act(&self, context: &EventContext<'_>) -> Option<Event> {
        if let EventContext::RtpPacket(data) = context {
            let rtp = data.rtp();
            let payload = rtp.payload();
            let opus = &payload[data.payload_offset..payload.len() - data.payload_end_pad];
            let mut pcm = [0; 5760];
            let length = self.0.lock().unwrap().decode(opus, &mut pcm, false).unwrap_or(0);
            if pcm[..length].iter().any(|sample| *sample > 8000) {
                println!("loud");
            }
        }
        None
    }
}

fn info(endpoint: &str, token: &str) -> ConnectionInfo {
    let id = |id: u64| NonZeroU64::new(id).unwrap();
    ConnectionInfo {
        channel_id: ChannelId(id(CHANNEL)),
        guild_id: GuildId(id(GUILD)),
        user_id: UserId(id(BOT)),
        session_id: "bot".into(),
        endpoint: endpoint.into(),
        token: token.into(),
    }
}

/// The client: plays a tone, reports what it hears, follows its orders.
async fn client(seat: String) {
    let mut driver = Driver::new(Config::default().decode_mode(DecodeMode::Decrypt));
    let ears = Ears(Mutex::new(opus2::Decoder::new(48_000, opus2::Channels::Mono).unwrap()));
    driver.add_global_event(CoreEvent::RtpPacket.into(), ears);
    let (endpoint, token) = seat.split_once(' ').unwrap();
    driver.connect(info(endpoint, token)).await.unwrap();
    #[expect(clippy::cast_possible_truncation, reason = "sound has no use for more")]
    let second: Vec<u8> = tone(440.0).flat_map(|value| (value as f32).to_le_bytes()).collect();
    // Ten minutes: computing each sample of them takes seconds.
    let pcm = second.repeat(600);
    let _playing = driver.play_input(RawAdapter::new(Cursor::new(pcm), 48_000, 1).into());
    let (lines, mut moves) = tokio::sync::mpsc::channel(8);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            lines.blocking_send(line.unwrap()).unwrap();
        }
    });
    while let Some(seat) = moves.recv().await {
        let (endpoint, token) = seat.split_once(' ').unwrap();
        driver.connect(info(endpoint, token)).await.unwrap();
    }
}

/// The client's process.
struct Bot {
    process: Child,
    stdin: ChildStdin,
    lines: mpsc::Receiver<String>,
}

impl Drop for Bot {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

impl Bot {
    fn start(voice: &Voice, ca: &Certificates) -> Self {
        let (token, endpoint) = voice.admit(GUILD, CHANNEL, BOT, "bot");
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "songbird_talks", "--nocapture"])
            .env(SEAT, format!("{endpoint} {token}"))
            .env("SSL_CERT_FILE", ca.authority())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ended = sender.send(line);
            }
        });
        Self { stdin: process.stdin.take().unwrap(), process, lines }
    }
}

/// Both hear each other.
async fn both_hear(bot: &Bot, player: &Player, what: &str) {
    player.in_call_with(&[BOT, player.user()], LIMIT).await.unwrap();
    let begun = Instant::now();
    player.forget();
    bot.lines.try_iter().for_each(drop);
    #[expect(clippy::cast_possible_truncation, reason = "half of what fits")]
    let pcm: Vec<i16> = tone(700.0).map(|value| (value * 32_000.0) as i16).collect();
    let mut loud = 0;
    loop {
        player.say(&pcm).await.unwrap();
        loud += bot.lines.try_iter().filter(|line| line.ends_with("loud")).count();
        if loud > 40 && player.first_audible_after(BOT, begun).is_some() {
            return;
        }
        assert!(begun.elapsed() < LIMIT, "{what}: {loud} packets heard");
    }
}

#[expect(clippy::disallowed_methods, reason = "tells the client's process from the test's")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn songbird_talks() {
    if let Ok(seat) = std::env::var(SEAT) {
        return client(seat).await;
    }
    tokio::join!(round(true, true), round(true, false), round(false, true), round(false, false));
}

/// A player's place.
fn seat(user: u64, token: String, endpoint: String) -> Seat {
    let session_id = "player".to_owned();
    Seat { endpoint, token, guild: GUILD, channel: CHANNEL, user, session_id }
}

/// Waits for the bot's first sound.
async fn sends(voice: &Voice) {
    let begun = Instant::now();
    while voice.counts(GUILD, BOT).packets_in == 0 {
        assert!(begun.elapsed() < LIMIT, "the bot sends nothing: {:?}", voice.violations());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// One call, with everything that may happen to it.
async fn round(dave: bool, bot_first: bool) {
    let (tls, ca) = authority();
    let voice = Voice::start(tls, VoiceOptions { dave, ..VoiceOptions::default() }).await.unwrap();
    let join = async |user: u64| {
        let (token, endpoint) = voice.admit(GUILD, CHANNEL, user, "player");
        Player::connect(seat(user, token, endpoint), ca.authority()).await.unwrap()
    };
    let (mut bot, one) = if bot_first {
        let bot = Bot::start(&voice, &ca);
        sends(&voice).await;
        (bot, join(1).await)
    } else {
        let one = join(1).await;
        (Bot::start(&voice, &ca), one)
    };
    sends(&voice).await;
    both_hear(&bot, &one, "joined").await;
    let two = join(2).await;
    both_hear(&bot, &two, "a third member").await;
    one.leave();
    voice.leave(GUILD, 1);
    both_hear(&bot, &two, "a member less").await;
    if dave {
        voice.reset_group(GUILD, CHANNEL);
        both_hear(&bot, &two, "a new group").await;
        voice.spoil_commit(GUILD, CHANNEL, BOT);
        let three = join(3).await;
        both_hear(&bot, &three, "a broken commit").await;
        assert_eq!(voice.group(GUILD, CHANNEL).refused, 1);
        voice.leave(GUILD, 3);
    }
    voice.cut(Scope::Guild(GUILD), Duration::from_secs(2));
    both_hear(&bot, &two, "a cut").await;
    voice.close(GUILD, BOT, Some(4015));
    both_hear(&bot, &two, "a resume").await;
    // Sound goes on while the gateway is resumed.
    let begun = Instant::now();
    while voice.counts(GUILD, BOT).resumed == 0 {
        assert!(begun.elapsed() < LIMIT, "never resumed: {:?}", voice.violations());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(voice.counts(GUILD, BOT).resumed, 1, "{:?}", voice.violations());
    for (user, token, endpoint) in voice.migrate(GUILD) {
        if user == BOT {
            writeln!(bot.stdin, "{endpoint} {token}").unwrap();
        } else {
            two.server_update(&endpoint, &token).await.unwrap();
        }
    }
    both_hear(&bot, &two, "another server").await;
    if dave {
        voice.downgrade(GUILD, CHANNEL);
        both_hear(&bot, &two, "without DAVE").await;
        assert_eq!(voice.group(GUILD, CHANNEL).version, 0);
        voice.upgrade(GUILD, CHANNEL);
        both_hear(&bot, &two, "with DAVE again").await;
    }
    assert_eq!(voice.violations(), Vec::<String>::new());
}
