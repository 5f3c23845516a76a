//! Two versions of the program beside each other, as in an update of one process at a time: each goes
//! on with the sessions of the other, on the schema of the later one.
//!
//! Entry type: [`Update`].

use std::{path::PathBuf, time::Duration};

use discord_loopback::{Player, Slash};
use tokio::{task::block_in_place, time::Instant};

use super::{Cluster, LEASE_S, silence::Figures};
use crate::support::program::{Live, Place, earlier_program};

const SHARDS: u64 = 4;
const TABLES: u64 = 2;
/// Longest silence until tables go on in the other version.
const AFTER_CHANGE: Duration = Duration::from_secs(10);

/// Processes of two versions, and a player at each table.
struct Update {
    cluster: Cluster,
    _players: Vec<Player>,
    earlier: PathBuf,
    /// Folders of the earlier and the later version.
    places: [Place; 2],
}

impl Update {
    /// `None`, after a report: something is not installed here.
    async fn new() -> Option<Self> {
        let earlier = earlier_program("two versions beside each other")?;
        let cluster = Cluster::new(SHARDS, TABLES, LEASE_S).await?;
        let places = [(); 2].map(|()| cluster.home());
        let players = cluster.seats().await;
        Some(Self { cluster, _players: players, earlier, places })
    }

    async fn start_earlier(&self) -> Live {
        let arguments = ["run", "--node", "earlier"];
        self.started(|| self.places[0].start_program(&self.earlier, &arguments)).await
    }

    async fn start_later(&self) -> Live {
        self.started(|| self.places[1].start(&["run", "--node", "later"])).await
    }

    /// A process that `start` starts, once it is up and all shards are served.
    async fn started(&self, start: impl FnOnce() -> Live) -> Live {
        let before = self.cluster.asked();
        let mut program = start();
        self.cluster.is_up(&mut program, before);
        self.cluster.has_all_shards().await;
        program
    }

    /// A line at each table, which is written.
    async fn say(&self, line: &str) {
        for (nth, guild) in self.cluster.guilds.iter().enumerate() {
            let line = format!("{line} {nth}");
            let say = Slash::new("say").option("text", line.as_str()).option("npc", "Bartok");
            let shown = self.cluster.asks(guild, say).await;
            assert!(shown.contains(&line), "{shown}");
            self.cluster.assert_written_once(&line);
        }
    }

    /// A process ends, and the other one goes on with all tables; their longest silence.
    async fn hand_over(&self, from: Live) -> Duration {
        let cluster = &self.cluster;
        let tables: Vec<_> = cluster.guilds.iter().map(|it| (it, cluster.source(it))).collect();
        let asked = Instant::now();
        assert_eq!(block_in_place(|| from.terminate()), 0);
        cluster.go_on(&tables, asked).await.into_iter().max().expect("a table")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_share_one_memory_in_time() {
    let Some(update) = Update::new().await else { return };
    let earlier = update.start_earlier().await;
    update.cluster.open_all().await;
    update.say("the zyxkey is under the mill").await;
    let later = update.start_later().await;
    let updated = update.hand_over(earlier).await;
    update.say("the zyxkey is under the well").await;
    // Back to the earlier version, on the schema of the later one.
    let earlier = update.start_earlier().await;
    let reverted = update.hand_over(later).await;
    update.say("the zyxkey is under the hill").await;
    let figures = Figures::of([updated, reverted]);
    eprintln!(
        "two versions: silence of {updated:.1?} at the update, {reverted:.1?} on the way back"
    );
    assert!(figures.worst <= AFTER_CHANGE.as_secs_f64(), "{figures:?}");
    update.cluster.assert_in_order();
    assert_eq!(block_in_place(|| earlier.terminate()), 0);
}
