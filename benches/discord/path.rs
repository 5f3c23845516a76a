//! From a player's last voiced packet to the first audible one of the answer.

use std::time::{Duration, Instant};

use discord_loopback::Player;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::{
    floor,
    hall::{BOUND, Hall, Room},
    sound::babble,
    support::figures::{Figures, goal, ms},
};

/// Guilds whose players talk at the same time.
const ROOMS: usize = 3;
/// Silence that ends a turn.
const PATIENCE: Duration = Duration::from_millis(500);
/// Packets of a question.
const QUESTION: usize = 30;
/// A sentence of an answer.
const SENTENCE: Duration = Duration::from_millis(100);

/// `n` turns, and about as many of songbird alone beside them; the goals.
pub async fn measure(n: usize) -> Vec<Value> {
    let hall = Hall::open(SENTENCE, None).await;
    let (mut rooms, count) = (Vec::new(), ROOMS.min(n));
    for nth in 0..count {
        rooms.push(hall.room(&format!("Inn {nth}")).await);
    }
    let bare = hall.discord.guild_without_bot("The Bare Inn");
    let [anna, bird] = ["Anna", "Songbird"].map(|name| bare.add_member(name, &[]));
    let player = hall.discord.join_voice(&anna, bare.voice).await.expect("a seat");
    let _client = floor::start(&hall.discord, (bare.id, bare.voice), bird.id, QUESTION);
    player.in_call_with(&[bird.id], BOUND).await.expect("keys");
    let each = n.div_ceil(count);
    let floor = async { turns_of_songbird(&player, bird.id, n).await };
    let turns = futures::future::join_all(rooms.iter().map(|room| turns(room, each)));
    let (floor, turns) = tokio::join!(floor, turns);
    let (mut all, mut inside) = (Vec::new(), Vec::new());
    for (whole, until_speaks) in turns.into_iter().flatten() {
        all.push(whole);
        inside.push(until_speaks);
    }
    let (all, floor) = (Figures::new(all), Figures::new(floor));
    let mut line = all.line("path");
    Figures::new(inside).add_to(&mut line, "until_handed_over_");
    floor.add_to(&mut line, "floor_");
    println!("{line}");
    hall.close(rooms).await;
    vec![
        goal("discord, whole path beyond patience in ms, p50", all.at(50), 60.0),
        goal("discord, whole path beyond patience in ms, p99", all.at(99), 90.0),
    ]
}

/// Turns in one guild: each until it is audible, and until its first frame was handed over, both
/// in ms beyond the patience.
async fn turns(room: &Room, n: usize) -> Vec<(f64, f64)> {
    room.cue(0, "well what is new in town").await;
    let mut turns = Vec::new();
    for nth in 0..n {
        sleep(phase(nth)).await;
        let spoken = room.player.say(&babble(QUESTION)).await.expect("it is said");
        let audible = audible_after(&room.player, room.npc, spoken.last_voiced).await;
        let audible = audible.unwrap_or_else(|| {
            unreachable!("the bot did not answer question {nth} ({})", room.history())
        });
        let handed_over = room.news("speaks", spoken.last_voiced).await;
        let beyond = |at: Instant| ms(at - spoken.last_voiced) - ms(PATIENCE);
        turns.push((beyond(audible), beyond(handed_over)));
        room.silence(Duration::from_millis(400)).await;
    }
    turns
}

/// Time that songbird alone takes for each turn, in ms.
async fn turns_of_songbird(player: &Player, bird: u64, n: usize) -> Vec<f64> {
    let mut times = Vec::new();
    for nth in 0..n {
        sleep(phase(nth)).await;
        let spoken = player.say(&babble(QUESTION)).await.expect("it is said");
        sleep(Duration::from_millis(300)).await;
        let audible = audible_after(player, bird, spoken.last_voiced).await;
        let audible = audible.unwrap_or_else(|| {
            let (came, not) = (player.packets(bird).len(), player.not_understood());
            unreachable!(
                "songbird alone did not answer question {nth}: {came} packets came of it, and {not} \
                 were not understood"
            )
        });
        times.push(ms(audible - spoken.last_voiced));
    }
    times
}

/// Time at which the first audible packet of `user` after `moment` came; `None` if none does
/// within [`BOUND`].
async fn audible_after(player: &Player, user: u64, moment: Instant) -> Option<Instant> {
    let heard = async {
        loop {
            if let Some(at) = player.first_audible_after(user, moment) {
                return at;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(BOUND, heard).await.ok()
}

/// Anywhere between two packets of the other side.
fn phase(nth: usize) -> Duration {
    Duration::from_micros(u64::try_from(nth * 7_300 % 20_000).unwrap_or(0))
}
