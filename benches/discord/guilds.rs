//! Tables of many guilds that listen.

use std::time::{Duration, Instant};

use discord_loopback::Player;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use crate::{
    hall::Hall,
    sound::babble,
    support::{
        figures::{goal, rounded},
        process::{cpu_of, resident_mb},
    },
};

/// Settling before anything is measured.
const SETTLE: Duration = Duration::from_secs(5);
/// What a player says at a stretch: 6 s.
const SPEECH: usize = 300;
/// And the pause after it.
const PAUSE: Duration = Duration::from_millis(1_500);
/// Of the whole time, what passes before memory is looked at first.
const FIRST_FIFTH: u32 = 5;

/// `tables` of them for `time`; the goals.
pub async fn measure(tables: usize, time: Duration) -> Vec<Value> {
    let hall = Hall::open(Duration::from_millis(100)).await;
    let (mut rooms, mut talking) = (Vec::new(), JoinSet::new());
    for nth in 0..tables {
        rooms.push(hall.room(&format!("Inn {nth}")).await);
    }
    for room in &rooms {
        talking.spawn(talk(room.player.clone()));
    }
    sleep(SETTLE).await;
    let (began, cpu) = (Instant::now(), cpu_of(&hall.bot.id));
    sleep(time / FIRST_FIFTH).await;
    let early = resident_mb(&hall.bot.id);
    sleep((time - time / FIRST_FIFTH).saturating_sub(began.elapsed() - time / FIRST_FIFTH)).await;
    let late = resident_mb(&hall.bot.id);
    let used = (cpu_of(&hall.bot.id) - cpu).as_secs_f64() / began.elapsed().as_secs_f64();
    let number = f64::from(u32::try_from(tables).unwrap_or(1));
    let percent = used * 100.0 / number;
    let heard: Vec<usize> =
        rooms.iter().map(|room| room.reported("utterance", began).len()).collect();
    println!(
        "{}",
        json!({
            "case": "guilds",
            "tables": tables,
            "seconds": rounded(began.elapsed().as_secs_f64()),
            "cpu_percent_of_a_core_per_table": rounded(percent),
            "resident_mb_after_a_fifth": rounded(early),
            "resident_mb": rounded(late),
            "utterances_per_table_min": heard.iter().min(),
            "utterances_per_table_max": heard.iter().max(),
            "complaints_of_lost_speech": hall.bot.lost(),
        })
    );
    let lost = f64::from(u32::try_from(hall.bot.lost()).unwrap_or(u32::MAX));
    let deaf = f64::from(u32::try_from(heard.iter().filter(|n| **n == 0).count()).unwrap_or(1));
    talking.shutdown().await;
    hall.close(rooms).await;
    vec![
        goal("discord, cpu of a listening table in % of a core", percent, 1.0),
        goal("discord, tables that heard nothing", deaf, 0.0),
        goal("discord, complaints of lost speech", lost, 0.0),
        goal("discord, memory that grew in MB", late - early, 2.0),
    ]
}

/// Talks for ever, with pauses.
async fn talk(player: Player) {
    let speech = babble(SPEECH);
    loop {
        player.say(&speech).await.expect("it is said");
        sleep(PAUSE).await;
    }
}
