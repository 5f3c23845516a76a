//! Music beside NPCs and players, as the players hear it.
//!
//! The tone that the levels are read from lies above every voice, which ends at 8 kHz here.

use std::time::{Duration, Instant};

use discord_loopback::{AUDIBLE, Message, Options, Packet, Player, Scope, Slash};

use super::{
    consolidating::log_channel,
    hall::{BOUND, Hall, said},
};
use crate::support::{
    chat_server::{ChatServer, Script},
    tones::{db, music_wav, power, stair, stairs, tone},
};

/// Above every voice, and in the middle of a band of Opus, in Hz.
const ABOVE: f64 = 9_000.0;
/// Packets of a second.
const SECOND: usize = 50;
/// Ducked, but for the last of the way, in dB.
const DUCKED: f64 = -10.5;
/// Loudness of packets in which a voice is heard.
const VOICE: f64 = 300.0;
/// Most packets that are waited for.
const PATIENCE: usize = 60 * SECOND;
/// Stairs of a second.
const STAIRS: u64 = 5;

/// A hall with these files of music.
async fn with_music(more: &str, music: &[(&str, Vec<i16>)]) -> Hall {
    let hall = Hall::new(Options::default(), more).await;
    for (name, samples) in music {
        hall.place.write(&format!("music/{name}.wav"), music_wav(samples));
    }
    hall
}

/// A session with these files of music; what the bot says at its beginning is over.
async fn table(more: &str, music: &[(&str, Vec<i16>)]) -> (Hall, Player) {
    let mut hall = with_music(more, music).await;
    let dora = hall.listens().await;
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    (hall, dora)
}

impl Hall {
    /// The game master plays `title`, and `player` hears it.
    async fn plays(&self, title: &str, player: &Player) {
        let play = Slash::new("music play").option("mood", title);
        let answer = self.asks(&self.dm, play).await.text();
        assert!(answer.contains(title), "{answer}");
        player.wait_for_voice(self.discord.bot(), AUDIBLE, BOUND).await.unwrap();
    }

    /// Waits for this number of packets of the bot; returns all that `player` remembers.
    async fn heard_by_now(&self, player: &Player, packets: usize) -> Vec<Packet> {
        let bot = self.discord.bot();
        for _ in 0..packets {
            player.wait_for_voice(bot, 0.0, BOUND).await.unwrap();
        }
        player.packets(bot)
    }

    /// Mean power of [`ABOVE`] in a second from now on; the music sounds alone.
    async fn whole(&self, player: &Player) -> f64 {
        player.forget();
        let heard = self.heard_by_now(player, SECOND).await;
        player.forget();
        mean(heard.iter().map(|it| power(&it.pcm, ABOVE)))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = values.collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// Levels of [`ABOVE`] in dB of `whole`, one a packet.
fn levels(packets: &[Packet], whole: f64) -> Vec<f64> {
    packets.iter().map(|it| db(power(&it.pcm, ABOVE) / whole)).collect()
}

/// True if a voice is heard in a packet: 16 samples hold three periods of the tone, whose mean is zero.
fn has_voice(packet: &Packet) -> bool {
    let means = packet.pcm.chunks_exact(16).map(|it| mean(it.iter().map(|it| f64::from(*it))));
    mean(means.map(|it| it * it)).sqrt() > VOICE
}

/// Checks that music is back at the end, having swollen within 600 ms; the last packet in which it was ducked.
#[track_caller]
fn assert_swells(levels: &[f64]) -> usize {
    let low = levels.iter().rposition(|it| *it <= DUCKED).expect("it was ducked");
    let high = levels.iter().skip(low).position(|it| *it >= -1.0).expect("it comes back");
    // From -10.5 to -1 dB; 20 ms a packet.
    assert!((13..=31).contains(&high), "{high} packets: {levels:.1?}");
    let end = mean(levels.iter().rev().take(SECOND / 2).copied());
    assert!(end.abs() < 1.0, "back at {end} dB: {levels:.1?}");
    low
}

#[tokio::test(flavor = "multi_thread")]
async fn npc_asked_by_voice_plays_music() {
    let server = ChatServer::start();
    server.push(Script::calls(&[("call_1", "play_track", r#"{"mood":"harbour music"}"#)]));
    server.otherwise(|_| Script::text(&["Listen to the gulls", "."]));
    let more = format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\nnpcs:\n  - name: Tessa\n    \
         voice: {{ voice_id: slt }}\n    tools: [\"music-ambiance.*\"]\n",
        server.base_url()
    );
    let mut hall = with_music(&more, &[("harbour/gulls", tone(ABOVE, 10))]).await;
    let [dora, player] = hall.listens_with("Anna").await;
    dora.forget();
    player.say(&said("slt", "Tessa, play some harbour music")).await.unwrap();
    server.received(2).await;
    let asked = server.requests();
    let told = asked[1].json["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(told["role"], "tool", "{told:#}");
    assert!(told["content"].to_string().contains("gulls"), "{told:#}");
    let mut packets = 0;
    loop {
        let heard = hall.heard_by_now(&dora, SECOND).await;
        if heard.iter().any(|it| power(&it.pcm, ABOVE) > 1e4) {
            break;
        }
        packets += SECOND;
        assert!(packets < PATIENCE, "no music is heard");
    }
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn music_ducks_under_an_npc_and_swells() {
    let (hall, dora) = table("", &[("harbour/gulls", tone(ABOVE, 10))]).await;
    hall.plays("gulls", &dora).await;
    let whole = hall.whole(&dora).await;
    let line = "Sit down and listen, all of you.";
    let speak = Slash::new("npc speak").option("name", "Bartok").option("text", line);
    hall.told(&hall.dm, speak).await;
    let heard = hall.heard_by_now(&dora, 6 * SECOND).await;
    let levels = levels(&heard, whole);
    let voiced = |packets: &[Packet]| packets.iter().position(has_voice).expect("he is heard");
    let reversed: Vec<Packet> = heard.iter().rev().cloned().collect();
    let (first, last) = (voiced(&heard), heard.len() - 1 - voiced(&reversed));
    assert!(levels[0] > -1.5, "before he speaks: {levels:.1?}");
    // The third packet after his first begins 60 ms later.
    for three in levels[first + 3..=last].windows(3) {
        let level = mean(three.iter().copied());
        assert!((level + 12.0).abs() < 1.5, "{level} dB of {first}..={last}: {levels:.1?}");
    }
    let low = assert_swells(&levels);
    assert!(low < last + SECOND, "he ends at {last}, ducked until {low}: {levels:.1?}");
    hall.ends();
}

/// A session at which music plays; the game master, and a player.
async fn with_talk() -> (Hall, [Player; 2]) {
    let mut hall = with_music("", &[("harbour/gulls", tone(ABOVE, 10))]).await;
    let players = hall.listens_with("Anna").await;
    hall.plays("gulls", &players[0]).await;
    (hall, players)
}

/// Delays and levels of the music that [`Hall::talks_over`] measures.
struct Ducking {
    /// From the first voiced packet of the player to the first in which music is ducked.
    down: Duration,
    /// Packets from the player's last voiced one to the last in which music is ducked.
    up: usize,
    /// Levels of the music while the player speaks, once it is ducked, in dB.
    ducked: Vec<f64>,
}

impl Hall {
    /// `player` talks over the music, which makes room and comes back, as `dora` hears it.
    async fn talks_over(&self, [dora, player]: &[Player; 2]) -> Ducking {
        let whole = self.whole(dora).await;
        let line = said("rms", "I draw my sword and look around");
        let spoken = player.say(&line).await.unwrap();
        let heard = self.heard_by_now(dora, 3 * SECOND).await;
        let levels = levels(&heard, whole);
        let before = |moment: Instant| heard.iter().filter(|it| it.arrival < moment).count();
        let (first, last) = (before(spoken.first_voiced), before(spoken.last_voiced));
        let way = levels[first..].iter().position(|it| *it <= DUCKED).expect("it makes room");
        let ducked = levels.get(first + way + 1..last).unwrap_or_default().to_vec();
        assert!(!ducked.is_empty(), "ducked only after {first}..{last}: {levels:.1?}");
        let up = assert_swells(&levels).saturating_sub(last);
        Ducking { down: heard[first + way].arrival - spoken.first_voiced, up, ducked }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn music_ducks_under_a_player_and_swells() {
    let (hall, players) = with_talk().await;
    hall.talks_over(&players).await;
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn music_ducks_under_a_player_in_time() {
    let (hall, players) = with_talk().await;
    let mut delays = Vec::new();
    for _ in 0..3 {
        let Ducking { down, up, ducked } = hall.talks_over(&players).await;
        assert!(up < SECOND, "ducked for {up} packets after the voice");
        for three in ducked.windows(3) {
            let level = mean(three.iter().copied());
            assert!((level + 12.0).abs() < 1.5, "{level} dB while she speaks: {ducked:.1?}");
        }
        delays.push(down);
    }
    delays.sort();
    assert!(delays[1] <= Duration::from_millis(150), "{delays:?}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn music_crosses_at_equal_power() {
    // In the middle of bands of Opus.
    let (low, high) = (1_100.0, 4_400.0);
    let music = [("harbour/gulls", tone(low, 10)), ("market/hawkers", tone(high, 10))];
    let (hall, dora) = table("", &music).await;
    hall.plays("gulls", &dora).await;
    dora.forget();
    let alone = hall.heard_by_now(&dora, SECOND).await;
    let first = mean(alone.iter().map(|it| power(&it.pcm, low)));
    dora.forget();
    hall.plays("hawkers", &dora).await;
    let heard = hall.heard_by_now(&dora, 4 * SECOND).await;
    let second = mean(heard.iter().rev().take(SECOND / 2).map(|it| power(&it.pcm, high)));
    let shares: Vec<(f64, f64)> = heard
        .iter()
        .map(|it| (power(&it.pcm, low) / first, power(&it.pcm, high) / second))
        .collect();
    // Time when both exceed -20 dB: all but the first and last eighth of a second.
    let begin = shares.iter().position(|(_, high)| *high > 0.01).expect("one begins");
    let end = shares.iter().rposition(|(low, _)| *low > 0.01).expect("one ends");
    assert!((75..=100).contains(&(end - begin)), "{begin} to {end}: {shares:.2?}");
    for (at, (low, high)) in shares.iter().enumerate() {
        let sum = db(low + high);
        assert!(sum.abs() < 1.5, "{sum} dB in packet {at} of {begin} to {end}: {shares:.2?}");
    }
    let (low, high) = shares[usize::midpoint(begin, end)];
    assert!((0.35..0.65).contains(&low) && (0.35..0.65).contains(&high), "{shares:.2?}");
    hall.ends();
}

/// Packets of music that arrive after an X-card was answered.
async fn music_after_x_card() -> usize {
    let (hall, dora) = table("", &[("harbour/gulls", tone(ABOVE, 10))]).await;
    let (bot, anna) = (hall.discord.bot(), hall.inn.add_member("Anna", &[]));
    hall.plays("gulls", &dora).await;
    hall.whole(&dora).await;
    let card = hall.told(&anna, Slash::new("xcard")).await;
    let answered = Instant::now();
    assert!(card.contains("No player learns"), "{card}");
    dora.wait_for_silence(bot, Duration::from_secs(1), BOUND).await.unwrap();
    let heard = dora.packets(bot);
    let late = heard.iter().filter(|it| it.arrival > answered && it.rms >= AUDIBLE).count();
    // The game master may go on with it.
    hall.plays("gulls", &dora).await;
    hall.ends();
    late
}

#[tokio::test(flavor = "multi_thread")]
async fn x_card_silences_music_without_a_fade() {
    // The fade of a stop lasts two seconds.
    let late = music_after_x_card().await;
    assert!(late < SECOND, "{late} packets of music after the card");
}

#[tokio::test(flavor = "multi_thread")]
async fn x_card_silences_music_in_time() {
    let late = music_after_x_card().await;
    // One was on its way; in the next the decoder's last window dies away.
    assert!(late <= 2, "{late} packets of music after the card");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_keeps_its_volume_over_a_restart() {
    let (mut hall, _dora) = Hall::in_session(Options::default(), "").await;
    let quieter = Slash::new("music volume").option("percent", 40);
    hall.told(&hall.dm, quieter).await;
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    hall.start().await;
    hall.told(&hall.dm, Slash::new("session start")).await;
    let list = hall.told(&hall.dm, Slash::new("music list")).await;
    assert!(list.contains("40 percent"), "{list}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_music_is_reported_in_log_channel() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let log = log_channel(&hall).await;
    let scene = Slash::new("scene set").option("location", "The Old Mill");
    hall.told(&hall.dm, scene.option("music", "*xyzzy*")).await;
    let is_it = |it: &Message| it.content().contains("no music matches");
    let told = hall.discord.wait_for_message(log, BOUND, is_it).await.unwrap();
    assert!(told.content().contains(r"'\*xyzzy\*'"), "{}", told.content());
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn music_goes_on_after_a_cut_connection() {
    let (hall, dora) = table("", &[("harbour/stairs", stairs())]).await;
    let (bot, voice) = (hall.discord.bot(), hall.discord.voice());
    hall.plays("stairs", &dora).await;
    hall.heard_by_now(&dora, 3 * SECOND).await;
    let bots = Scope::User { guild: hall.inn.id, user: bot };
    voice.cut(bots, Duration::from_secs(4));
    dora.wait_for_silence(bot, Duration::from_secs(1), BOUND).await.unwrap();
    let (before, at) = last_stair(&dora.packets(bot));
    assert!(before > 10, "{before}");
    dora.forget();
    dora.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    assert_goes_on((before, at), &hall.heard_by_now(&dora, SECOND).await);

    // The bot connects again, to another server.
    let (before, at) = last_stair(&dora.packets(bot));
    for seat in hall.discord.migrate_voice(hall.inn.id) {
        if seat.user == dora.user() {
            dora.server_update(&seat.endpoint, &seat.token).await.unwrap();
        }
    }
    dora.in_call_with(&[bot], BOUND).await.unwrap();
    dora.forget();
    dora.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    assert_goes_on((before, at), &hall.heard_by_now(&dora, SECOND).await);
    hall.ends();
}

/// The last stair that is heard, and when.
fn last_stair(packets: &[Packet]) -> (usize, Instant) {
    let last = packets.iter().rev().find(|it| it.rms >= AUDIBLE).expect("music is heard");
    (stair(&last.pcm).expect("a stair"), last.arrival)
}

/// Checks that the music goes on after the stair `before`, which was heard at `at`: no earlier, and no
/// further on than time is.
#[track_caller]
fn assert_goes_on((before, at): (usize, Instant), packets: &[Packet]) {
    // The first packets after a gap are not whole.
    let heard = packets.iter().filter(|it| it.rms >= AUDIBLE).nth(5).expect("music is heard");
    let after = stair(&heard.pcm).expect("a stair");
    let passed = ((heard.arrival - at).as_secs() + 1) * STAIRS;
    let most = before + usize::try_from(passed).expect("some seconds");
    assert!((before..=most).contains(&after), "{before}, then {after}, {most} at most");
}
