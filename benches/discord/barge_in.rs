//! A player talks into what the NPC says.

use std::time::{Duration, Instant};

use discord_loopback::{AUDIBLE, Spoken, laughter};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    hall::{BOUND, Hall, Room},
    sound::babble,
    support::figures::{Figures, goal, ms},
};

/// Guilds at the same time.
const ROOMS: usize = 4;
/// A sentence of the NPC: nothing ends by itself here.
const SENTENCE: Duration = Duration::from_secs(6);
/// Time the NPC has been audible before a player interrupts it.
const HEARD_FOR: Duration = Duration::from_millis(400);
/// Half as loud, 6 dB less, is ducked.
const DUCKED: f64 = 0.5;
/// Nothing follows an interruption so soon: the answer to it comes later.
const AFTER: Duration = Duration::from_millis(350);
/// After a false alarm the NPC is as loud as before within this.
const BACK: Duration = Duration::from_millis(1_200);
/// Frames until a word is read, of which ten are from before the voice was noticed.
const WORD_AFTER: usize = 24;
/// Packets of an interruption: 1.2 s, of which syllables leave less to count as voice.
const INTERRUPTION: usize = 60;
/// Listening sounds and their words, which are no interruption.
const LISTENING: [(&str, &str); 3] = [("mm_hm", "mm-hm"), ("okay", "okay"), ("laughter", "")];

/// One interruption, in ms.
struct Cut {
    /// From the first voiced packet to a quieter one.
    ducked: Option<f64>,
    /// From confirmation to the last audible packet.
    silent: f64,
    /// From the first voiced packet to the last audible one.
    whole: f64,
}

/// Results of one guild.
#[derive(Default)]
struct Tried {
    stop: Vec<Cut>,
    words: Vec<Cut>,
    /// Listening sounds, and whether each did not interrupt.
    listening: Vec<(&'static str, bool)>,
    /// Times until the NPC was quieter after those, in ms, if it was.
    ducked: Vec<f64>,
}

/// `n` tries of each; the goals.
pub async fn measure(n: usize) -> Vec<Value> {
    let hall = Hall::open(SENTENCE, None).await;
    let (mut rooms, count) = (Vec::new(), ROOMS.min(n));
    for nth in 0..count {
        rooms.push(hall.room(&format!("Inn {nth}")).await);
    }
    let each = n.div_ceil(count);
    let tried = futures::future::join_all(rooms.iter().map(|room| tries(room, each))).await;
    let mut all = Tried::default();
    for tried in tried {
        all.stop.extend(tried.stop);
        all.words.extend(tried.words);
        all.listening.extend(tried.listening);
        all.ducked.extend(tried.ducked);
    }
    let stop = print_cuts("stop_word", &all.stop);
    let words = print_cuts("words", &all.words);
    let ducked = all.stop.iter().chain(&all.words).filter_map(|cut| cut.ducked).chain(all.ducked);
    let ducked = Figures::new(ducked);
    println!("{}", ducked.line("ducked"));
    let mut silenced = 0_u32;
    for (name, _) in LISTENING {
        let of: Vec<_> = all.listening.iter().filter(|(case, _)| *case == name).collect();
        let stopped = of.iter().filter(|(_, went_on)| !went_on).count();
        silenced += u32::try_from(stopped).unwrap_or(u32::MAX);
        println!("{}", json!({ "case": name, "n": of.len(), "silenced": stopped }));
    }
    hall.close(rooms).await;
    vec![
        goal("discord, voice to ducked in ms, p95", ducked.at(95), 100.0),
        goal("discord, stop word read to the last packet in ms, p95", stop, 40.0),
        goal("discord, words confirmed to the last packet in ms, p95", words, 40.0),
        goal("discord, listening noises that silence", f64::from(silenced), 0.0),
    ]
}

/// Prints a kind of interruption; confirmation to the last packet at p95.
fn print_cuts(case: &str, cuts: &[Cut]) -> f64 {
    let silent = Figures::new(cuts.iter().map(|cut| cut.silent));
    let mut line = silent.line(case);
    Figures::new(cuts.iter().filter_map(|cut| cut.ducked)).add_to(&mut line, "ducked_");
    Figures::new(cuts.iter().map(|cut| cut.whole)).add_to(&mut line, "from_voice_");
    println!("{line}");
    silent.at(95)
}

/// Talks `n` times into an answer with something that is no interruption, then with words, and
/// into the answer to those with a stop word.
async fn tries(room: &Room, n: usize) -> Tried {
    let mut tried = Tried::default();
    for nth in 0..n {
        room.cue(0, "tell me all there is to tell").await;
        let asked = Instant::now();
        room.player.say(&babble(25)).await.expect("it is said");
        talks(room, asked, nth).await;
        let (name, words) = LISTENING[nth % LISTENING.len()];
        let (went_on, ducked) = listens(room, name, words).await;
        tried.listening.push((name, went_on));
        tried.ducked.extend(ducked);
        room.cue(WORD_AFTER, "what about the reward").await;
        let (cut, spoken) = interrupts(room, "stops").await;
        tried.words.push(cut);
        room.cue(WORD_AFTER, "stop").await;
        talks(room, spoken.last_voiced, nth).await;
        let (cut, spoken) = interrupts(room, "word").await;
        tried.stop.push(cut);
        room.news("utterance", spoken.last_voiced).await;
        room.silence(Duration::from_millis(700)).await;
        room.player.forget();
    }
    tried
}

/// Waits until the NPC talks since `since`, and on to some moment between two packets.
async fn talks(room: &Room, since: Instant, nth: usize) {
    let speaks = room.news("speaks", since).await;
    let wait = HEARD_FOR + Duration::from_micros(u64::try_from(nth * 7_300 % 20_000).unwrap_or(0));
    room.player.wait_for_voice(room.npc, AUDIBLE, BOUND).await.expect("an answer");
    tokio::time::sleep_until((speaks + wait).into()).await;
}

/// Says something that is no interruption: whether the NPC goes on as before, and when it was
/// quieter in between.
async fn listens(room: &Room, name: &str, words: &str) -> (bool, Option<f64>) {
    room.cue(if words.is_empty() { 0 } else { WORD_AFTER }, words).await;
    let sound = if name == "laughter" { laughter() } else { babble(18) };
    let before = Instant::now();
    let loud = loudness(room, before);
    let spoken = room.player.say(&sound).await.expect("it is said");
    sleep(BACK).await;
    let stopped = !room.reported("stops", before).is_empty();
    let since = Instant::now() - Duration::from_millis(200);
    let back = first(room, since, |rms| rms > loud * 0.8).is_some();
    (!stopped && back, first(room, spoken.first_voiced, quieter(loud)).map(since_voice(&spoken)))
}

/// Interrupts the NPC; `confirmed` is what the bot reports when it is.
async fn interrupts(room: &Room, confirmed: &str) -> (Cut, Spoken) {
    let before = Instant::now();
    let loud = loudness(room, before);
    let spoken = room.player.say(&babble(INTERRUPTION)).await.expect("it is said");
    let confirmed = room.news(confirmed, before).await;
    tokio::time::sleep_until((confirmed + AFTER).into()).await;
    let last = room.player.last_audible_before(room.npc, confirmed + AFTER).expect("it spoke");
    let until = |from: Instant| ms(last.saturating_duration_since(from));
    let ducked = first(room, spoken.first_voiced, quieter(loud)).map(since_voice(&spoken));
    (Cut { ducked, silent: until(confirmed), whole: until(spoken.first_voiced) }, spoken)
}

/// Median loudness of the NPC in the 200 ms before a moment.
fn loudness(room: &Room, before: Instant) -> f64 {
    let packets = room.player.packets(room.npc);
    let lately = packets.iter().rev().take_while(|it| before - it.arrival < HEARD_FOR / 2);
    Figures::new(lately.map(|packet| packet.rms)).at(50)
}

/// True if a packet is ducked.
fn quieter(loud: f64) -> impl Fn(f64) -> bool {
    move |rms| rms <= loud * DUCKED
}

/// In ms since the first voiced packet.
fn since_voice(spoken: &Spoken) -> impl Fn(Instant) -> f64 {
    let from = spoken.first_voiced;
    move |at| ms(at - from)
}

/// The first packet of the NPC from a moment on that is as wanted.
fn first(room: &Room, since: Instant, wanted: impl Fn(f64) -> bool) -> Option<Instant> {
    let packets = room.player.packets(room.npc);
    let mut packets = packets.iter().filter(|it| it.arrival >= since);
    packets.find(|it| wanted(it.rms)).map(|it| it.arrival)
}
