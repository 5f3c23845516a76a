//! Time of songbird alone from a player's last packet to a packet of its own: a client that does nothing but
//! play a tone, into a track that runs already, when that packet comes.

use std::{
    collections::VecDeque,
    env,
    io::{self, Read, Seek, SeekFrom},
    num::NonZeroU64,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use discord_loopback::Discord;
use songbird::{
    Config, ConnectionInfo, CoreEvent, Driver, Event, EventContext, EventHandler,
    driver::{DecodeMode, MixMode},
    id::{ChannelId, GuildId, UserId},
    input::{Input, RawAdapter, codecs},
    packet::Packet as _,
};
use symphonia::core::io::MediaSource;
use tokio::process::{Child, Command};

use crate::support::{figures::runtime, sound::tone};

/// Argument that makes this bench the client.
pub const FLOOR: &str = "--floor";
/// The packet that says silence.
const SILENCE: [u8; 3] = [0xf8, 0xff, 0xfe];
/// Bytes of 20 ms as songbird reads them.
const FRAME_BYTES: usize = 960 * 4;

/// Starts the client as `user` in a voice channel; it answers the last of `packets` packets, or
/// the silence after them if some were lost.
pub fn start(discord: &Discord, (guild, channel): (u64, u64), user: u64, packets: usize) -> Child {
    let (token, endpoint) = discord.voice().admit(guild, channel, user, "floor");
    Command::new(env::current_exe().expect("this bench"))
        .args([FLOOR, &endpoint, &token])
        .args([guild, channel, user].map(|id| id.to_string()))
        .arg(packets.to_string())
        .env("SSL_CERT_FILE", discord.ca_file())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the same program again")
}

/// The client, until it is killed.
pub fn run(arguments: &[String]) {
    let [endpoint, token, guild, channel, user, packets] = arguments else { return };
    let id = |text: &str| text.parse::<NonZeroU64>().expect("an id");
    let info = ConnectionInfo {
        channel_id: ChannelId(id(channel)),
        guild_id: GuildId(id(guild)),
        user_id: UserId(id(user)),
        session_id: "floor".to_owned(),
        endpoint: endpoint.clone(),
        token: token.clone(),
    };
    let ring = Ring::default();
    let last = packets.parse().expect("a number");
    let answer = Answer { ring: ring.clone(), last, heard: Mutex::default() };
    runtime().block_on(async {
        let config = Config::default().decode_mode(DecodeMode::Decrypt).mix_mode(MixMode::Mono);
        let mut driver = Driver::new(config);
        driver.add_global_event(CoreEvent::RtpPacket.into(), answer);
        driver.connect(info).await.expect("a seat");
        let track = Input::from(RawAdapter::new(ring, 48_000, 1));
        let track =
            track.make_playable_async(codecs::get_codec_registry(), codecs::get_probe()).await;
        let _playing = driver.play_input(track.expect("a track"));
        std::future::pending::<()>().await;
    });
}

/// Plays a tone when the last packet has come. songbird drops packets that overtake the update
/// which says whose they are: then it is the silence after them that is answered, 20 ms later.
struct Answer {
    ring: Ring,
    last: usize,
    heard: Mutex<usize>,
}

#[async_trait]
impl EventHandler for Answer {
    async fn act(&self, context: &EventContext<'_>) -> Option<Event> {
        let EventContext::RtpPacket(data) = context else { return None };
        let rtp = data.rtp();
        let payload = rtp.payload();
        let opus = payload.get(data.payload_offset..payload.len() - data.payload_end_pad)?;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = if opus == SILENCE {
            (1..self.last).contains(&std::mem::take(&mut *heard))
        } else {
            *heard += 1;
            *heard == self.last
        };
        if ends {
            let samples = tone(4_800, 48_000.0);
            let bytes = samples.iter().flat_map(|it| (f32::from(*it) / 32_768.0).to_le_bytes());
            self.ring.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        }
        None
    }
}

/// Silence until there is something to play.
#[derive(Clone, Default)]
struct Ring(Arc<Mutex<VecDeque<u8>>>);

impl Read for Ring {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = into.len().min(FRAME_BYTES) / 4 * 4;
        for byte in into.iter_mut().take(count) {
            *byte = ring.pop_front().unwrap_or(0);
        }
        Ok(count)
    }
}

impl Seek for Ring {
    fn seek(&mut self, _to: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl MediaSource for Ring {
    fn is_seekable(&self) -> bool {
        false
    }

    fn byte_len(&self) -> Option<u64> {
        None
    }
}
