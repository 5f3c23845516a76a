//! Tables of many guilds: those that listen and those whose NPCs talk, without music and with it.

use std::time::{Duration, Instant};

use discord_loopback::Player;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use crate::{
    hall::Hall,
    music,
    sound::babble,
    support::{
        figures::{goal, rounded},
        process::{cpu_of, resident_mb},
    },
};

/// Settling before anything is measured.
const SETTLE: Duration = Duration::from_secs(5);
/// Frames that a player says at a stretch: 6 s.
const SPEECH: usize = 300;
/// And the pause after it.
const PAUSE: Duration = Duration::from_millis(1_500);
/// Frames of a question: half a second.
const QUESTION: usize = 25;
/// A sentence of an NPC that talks; its answers have three.
const SENTENCE: Duration = Duration::from_secs(6);
/// From a question to the next: an answer, and what is before it.
const ANSWER: Duration = Duration::from_secs(19);
/// Of the whole time, what passes before memory is looked at first.
const FIRST_FIFTH: u32 = 5;
/// The share of the time that every case after the first takes.
const QUARTER: u32 = 4;

/// One way in which tables pass the time.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    /// Their NPCs talk; otherwise their players do, and no NPC answers.
    talks: bool,
    /// Music plays at each of them.
    music: bool,
}

/// Costs and failures of a case.
struct Ran {
    /// % of a core a table.
    percent: f64,
    /// Tables that heard nothing.
    deaf: f64,
    /// Complaints of lost speech.
    lost: f64,
    /// Memory that came in after the first fifth, in MB.
    grown: f64,
}

/// `tables` of them that listen for `time`, and in the other cases for a quarter of it; the goals.
pub async fn measure(tables: usize, time: Duration) -> Vec<Value> {
    let floor = music::encoding();
    println!("{}", json!({ "case": "music_encoding", "cpu_percent_of_a_core": rounded(floor) }));
    let case = |name, talks, music| Case { name, talks, music };
    let listening = run(case("guilds", false, false), tables, time).await;
    let short = time / QUARTER;
    let with_music = run(case("guilds_music", false, true), tables, short).await;
    let talking = run(case("guilds_talking", true, false), tables, short).await;
    let talking_with_music = run(case("guilds_talking_music", true, true), tables, short).await;
    let all = [&listening, &with_music, &talking, &talking_with_music];
    let beyond = with_music.percent - floor;
    let with_talk = talking_with_music.percent;
    vec![
        goal("discord, cpu of a listening table in % of a core", listening.percent, 1.0),
        goal("discord, the same with music, beyond encoding it", beyond, 1.0),
        goal("discord, cpu of a talking table in % of a core", talking.percent, 4.0),
        goal("discord, the same with music", with_talk, 4.0),
        goal("discord, tables that heard nothing", all.iter().map(|it| it.deaf).sum(), 0.0),
        goal("discord, complaints of lost speech", all.iter().map(|it| it.lost).sum(), 0.0),
        goal("discord, memory that grew in MB", listening.grown, 2.0),
    ]
}

/// One table with music whose NPC talks, for a moment: its figures are to be held against no goal.
pub async fn try_out() -> Vec<Value> {
    music::encoding();
    let both = Case { name: "guilds_talking_music", talks: true, music: true };
    run(both, 1, Duration::from_secs(2)).await;
    Vec::new()
}

/// `tables` of them for `time`.
async fn run(case: Case, tables: usize, time: Duration) -> Ran {
    let sentence = if case.talks { SENTENCE } else { Duration::from_millis(100) };
    let hall = Hall::open(sentence, case.music.then(music::file)).await;
    let (mut rooms, mut talking) = (Vec::new(), JoinSet::new());
    for nth in 0..tables {
        rooms.push(hall.room(&format!("Inn {nth}")).await);
    }
    let started = Instant::now();
    for room in &rooms {
        if case.talks {
            room.cue(0, "well what is new in town").await;
            talking.spawn(repeats(room.player.clone(), QUESTION, ANSWER));
        } else {
            talking.spawn(repeats(room.player.clone(), SPEECH, PAUSE));
        }
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
    let reported =
        |what: &'static str| rooms.iter().map(move |it| it.reported(what, started).len());
    println!(
        "{}",
        json!({
            "case": case.name,
            "tables": tables,
            "seconds": rounded(began.elapsed().as_secs_f64()),
            "cpu_percent_of_a_core_per_table": rounded(percent),
            "resident_mb_after_a_fifth": rounded(early),
            "resident_mb": rounded(late),
            "utterances_per_table_min": reported("utterance").min(),
            "utterances_per_table_max": reported("utterance").max(),
            "answers_per_table_min": reported("speaks").min(),
            "complaints_of_lost_speech": hall.bot.lost(),
        })
    );
    let silent = if case.talks { "speaks" } else { "utterance" };
    let deaf = reported(silent).filter(|n| *n == 0).count();
    let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let ran = Ran { percent, deaf: count(deaf), lost: count(hall.bot.lost()), grown: late - early };
    talking.shutdown().await;
    hall.close(rooms).await;
    ran
}

/// Says so many frames for ever, with pauses.
async fn repeats(player: Player, frames: usize, pause: Duration) {
    let speech = babble(frames);
    loop {
        player.say(&speech).await.expect("it is said");
        sleep(pause).await;
    }
}
