//! Two processes that play music at tables. One is killed, halted or ended, and the tables go on.
//!
//! Entry type: [`Pair`]. Every wait is for an event; silences and times are printed, and asked in
//! `./dev proof` alone.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    time::Duration,
};

use discord_loopback::{AUDIBLE, Packet, Player, Slash};
use rustix::process::Signal;
use tokio::{
    task::{block_in_place, spawn_blocking},
    time::Instant,
};

use super::{AFTER_KILL, Cluster, HEARD, LEASE_S, Node, SECOND, silence::Figures};
use crate::{
    bot::hall::BOUND,
    support::{
        processes::wait_until,
        program::{PATH, Place, repository},
        speech::plain_wav,
        tones::{power, tone},
    },
};

const NAMES: [&str; 2] = ["first", "second"];
const SHARDS: u64 = 4;
const KILLS: usize = 3;
/// A lease that ends soon, in seconds. One that is shorter saves no time: a shard identifies every 5.5 s
/// at most.
const SHORT: u64 = 3;
/// Longest silence after the end of a process: less than a lease lasts.
const AFTER_END: Duration = Duration::from_secs(6);
/// Longest time in which a process hands over.
const TO_END: Duration = Duration::from_secs(10);
/// Most packets until a line is heard.
const MOST: u64 = 60 * SECOND;

/// A line with a dragon sounds as a tone of this pitch and length.
const PITCH: f64 = 700.0;
const LENGTH: usize = 3;
/// Packets of such a line, without those at its edges.
const LINE: usize = 140;
const FIRST: &str = "Deep below the old mill there sleeps a dragon of grey and quiet stone.";
const NEXT: &str = "No one alive has ever seen the dragon open more than one of its eyes.";
const FLITE: &str = r#"#!/bin/sh
[ "$1" = -lv ] && { echo 'Voices available: kal kal16 awb rms slt'; exit; }
case "$*" in *dragon*) said=line ;; *) said=word ;; esac
exec cat "${0%/*}/$said.wav"
"#;

/// Like [`Cluster::home`], where a line with a dragon takes its time.
fn slow_home(cluster: &Cluster) -> Place {
    let mut place = cluster.home();
    let line: Vec<i16> = tone(PITCH, LENGTH).into_iter().step_by(3).collect();
    place.write("bin/line.wav", plain_wav(&line));
    let word = fs::read(repository("tests/support/brief/word.wav")).expect("a sound");
    place.write("bin/word.wav", word);
    place.write("bin/flite", FLITE);
    fs::set_permissions(place.path("bin/flite"), Permissions::from_mode(0o755)).expect("a program");
    let path = format!("{}:{PATH}", place.path("bin").display());
    place.set_env("PATH", &path);
    place
}

/// True if a line with a dragon is heard, beside music too.
fn is_line(packet: &Packet) -> bool {
    power(&packet.pcm, PITCH) > 5e4
}

/// Two processes, and a player at each table.
struct Pair {
    nodes: [Node; 2],
    players: Vec<Player>,
    cluster: Cluster,
}

impl Pair {
    /// Both start at once, and music plays at so many tables; `None`, after a report: there is no
    /// PostgreSQL here.
    async fn begins(tables: u64, lease_s: u64, home: fn(&Cluster) -> Place) -> Option<Self> {
        let cluster = Cluster::new(SHARDS, tables, lease_s).await?;
        let before = cluster.asked();
        let mut nodes = NAMES.map(|name| {
            let place = home(&cluster);
            let program = Some(place.start(&["run", "--node", name]));
            Node { place, program }
        });
        let players = cluster.seats().await;
        for (node, before) in nodes.iter_mut().zip(before..) {
            cluster.is_up(node.program.as_mut().expect("it runs"), before);
        }
        cluster.has_all_shards().await;
        cluster.open_all().await;
        Some(Self { nodes, players, cluster })
    }

    /// The process that serves the first table.
    fn owner(&self) -> usize {
        let table = self.cluster.guilds[0].id;
        let serves = |name: &&str| self.cluster.served_by(name).iter().any(|it| it.id == table);
        NAMES.iter().position(serves).expect("one serves it")
    }

    /// Waits until the first table goes on in a process other than the one whose sound was `old`;
    /// the silence between.
    fn goes_on(&self, old: u32) -> Duration {
        let guild = &self.cluster.guilds[0];
        self.cluster.wait_for_sound(guild, HEARD, |it| it.source != old);
        let sound = self.cluster.sound(guild);
        let last = sound.iter().filter(|it| it.source == old).map(|it| it.last).max();
        let next = sound.iter().filter(|it| it.source != old).map(|it| it.first).min();
        next.expect("new sound").saturating_duration_since(last.expect("old sound"))
    }

    /// All is in order, and both processes live.
    fn assert_in_order(&mut self) {
        self.cluster.assert_in_order();
        for node in &mut self.nodes {
            let program = node.program.as_mut().expect("it runs");
            assert!(!program.has_ended(), "it has ended: {:#?}", program.said());
        }
    }
}

/// A kill.
impl Pair {
    /// A process is killed once a line was written, and started again at once; silences of its tables
    /// until all of them sound.
    async fn outlives_a_kill(&mut self, victim: usize, line: &str) -> Vec<Duration> {
        let (cluster, node, name) = (&self.cluster, &mut self.nodes[victim], NAMES[victim]);
        let hit = cluster.served_by(name);
        cluster.types(hit.first().expect("it serves some"), line).await;
        cluster.assert_written_once(line);
        let hit: Vec<_> = hit.into_iter().map(|it| (it, cluster.source(it))).collect();
        let (program, began) = (node.program.take().expect("it runs"), Instant::now());
        block_in_place(|| program.kill());
        node.program = Some(node.place.start(&["run", "--node", name]));
        cluster.go_on(&hit, began).await
    }
}

/// Silences of all tables that three kills hit, one process after the other.
async fn killed_three_times(lease_s: u64) -> Option<Vec<Duration>> {
    let mut pair = Pair::begins(SHARDS, lease_s, Cluster::home).await?;
    let (mut victim, mut all, mut lines) = (pair.owner(), Vec::new(), Vec::new());
    for kill in 1..=KILLS {
        let line = format!("the zyxkey{kill} is under the mill");
        let silences = pair.outlives_a_kill(victim, &line).await;
        let (count, first) = (silences.len(), silences.iter().min().expect("a table"));
        let last = Figures::of(silences.iter().copied()).worst;
        eprintln!(
            "kill {kill} of {KILLS}: {count} tables, silent for {first:.1?} (first) to {last:.1} s"
        );
        victim = 1 - victim;
        lines.push(line);
        all.extend(silences);
    }
    lines.iter().for_each(|line| pair.cluster.assert_written_once(line));
    pair.assert_in_order();
    Some(all)
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_outlive_three_kills() {
    killed_three_times(SHORT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_outlive_three_kills_in_time() {
    let Some(silences) = killed_three_times(LEASE_S).await else { return };
    let worst = silences.into_iter().max().expect("a table");
    assert!(worst <= AFTER_KILL, "{worst:?}");
}

/// The owner of a table is halted past its leases, and wakes up beside the new one.
#[tokio::test(flavor = "multi_thread")]
async fn halted_process_wakes_up_and_stays_silent() {
    let Some(mut pair) = Pair::begins(1, SHORT, Cluster::home).await else { return };
    let owner = pair.owner();
    let (cluster, player) = (&pair.cluster, &pair.players[0]);
    let (guild, bot) = (&cluster.guilds[0], cluster.discord.bot());
    let old = cluster.source(guild);
    // Not asked for afterwards: a halted one is silent, and tries its old seat when it wakes up.
    assert_eq!(cluster.discord.violations(), Vec::<String>::new());
    pair.nodes[owner].halt();
    let silence = pair.goes_on(old);
    let line = "the zyxkey is under the mill";
    // Its sessions are still open.
    cluster.types(guild, line).await;
    let new = cluster.source(guild);
    let woken = Instant::now();
    pair.nodes[owner].signal(Signal::CONT);
    // It has closed them.
    cluster.has_all_shards().await;
    for _ in 0..SECOND {
        player.wait_for_voice(bot, 0.0, BOUND).await.expect("the music goes on");
    }
    assert_eq!(cluster.source(guild), new, "the new owner plays");
    let sound = cluster.sound(guild);
    let leaked = sound.iter().filter(|it| it.source == old && it.first > woken);
    // A frame that was mixed before the halt leaves after it, and reaches no listener.
    assert!(leaked.map(|it| it.frames).sum::<u64>() <= 1, "{sound:#?}");
    cluster.assert_written_once(line);
    eprintln!("a session goes on {silence:.1?} after a halt");
    pair.assert_in_order();
    let program = pair.nodes[owner].program.take().expect("it runs");
    assert_eq!(block_in_place(|| program.terminate()), 0);
}

/// An end.
impl Pair {
    /// The NPC at the first table begins to say a line with a dragon.
    async fn speaks(&self, line: &str) {
        let (player, bot) = (&self.players[0], self.cluster.discord.bot());
        player.forget();
        let speak = Slash::new("npc speak").option("name", "Bartok").option("text", line);
        let answer = self.cluster.asks(&self.cluster.guilds[0], speak).await;
        assert!(answer.contains("says it"), "{answer}");
        for _ in 0..MOST {
            player.wait_for_voice(bot, AUDIBLE, BOUND).await.expect("it sounds");
            if player.packets(bot).iter().rev().take(3).any(is_line) {
                return;
            }
        }
        panic!("no line is heard");
    }

    /// Waits until the line that has begun was heard to its end: when.
    fn finishes(&self) -> std::time::Instant {
        let heard = || {
            let packets = self.players[0].packets(self.cluster.discord.bot());
            packets.into_iter().filter(is_line).map(|it| it.arrival).collect::<Vec<_>>()
        };
        block_in_place(|| wait_until("the sentence is finished", || heard().len() >= LINE));
        heard().pop().expect("it was heard")
    }
}

/// Times after a request to end.
struct Drain {
    ended: Duration,
    silence: Duration,
}

/// A process is asked to end while its NPC speaks.
async fn ended_in_a_sentence(lease_s: u64) -> Option<Drain> {
    let mut pair = Pair::begins(1, lease_s, slow_home).await?;
    let (owner, old) = (pair.owner(), pair.cluster.source(&pair.cluster.guilds[0]));
    pair.speaks(FIRST).await;
    let program = pair.nodes[owner].program.take().expect("it runs");
    let asked = std::time::Instant::now();
    let ended = spawn_blocking(move || program.terminate());
    assert_eq!(ended.await.expect("it ends"), 0);
    let ended = asked.elapsed();
    let finished = pair.finishes().saturating_duration_since(asked);
    let silence = pair.goes_on(old);
    pair.cluster.has_all_shards().await;
    pair.speaks(NEXT).await;
    let spoken = asked.elapsed();
    pair.finishes();
    assert_ne!(pair.cluster.source(&pair.cluster.guilds[0]), old, "the other process speaks");
    // Nor is it paused.
    let line = "the zyxkey is under the mill";
    pair.cluster.types(&pair.cluster.guilds[0], line).await;
    for line in [FIRST, NEXT, line] {
        pair.cluster.assert_written_once(line);
    }
    pair.cluster.assert_in_order();
    eprintln!(
        "asked to end, an NPC finishes its sentence after {finished:.1?}, its process after {ended:.1?}; \
         the session goes on after a silence of {silence:.1?}, and its NPC speaks after {spoken:.1?}"
    );
    Some(Drain { ended, silence })
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_process_finishes_its_sentence() {
    ended_in_a_sentence(SHORT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_process_hands_over_in_time() {
    let Some(Drain { ended, silence }) = ended_in_a_sentence(LEASE_S).await else { return };
    assert!(ended <= TO_END, "{ended:?}");
    assert!(silence < AFTER_END, "{silence:?}");
}
