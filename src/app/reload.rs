//! Changed files take effect while the program runs.
//!
//! Entry function: [`follow`]. **Never**: applies a file that fails its check.

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::time::{MissedTickBehavior, interval};

use super::{
    IDENTITIES, LiveConfig, Tools, callers,
    seats::{OpenTables, SeatedTable},
};
use crate::{
    campaign::{Tables, wall_clock},
    config::{self, Config, Watch},
    domain::{Campaign, Npc},
    session::{Command, Limits, Options, Recast},
    tools::manifest,
};

/// How often the files are looked at.
const POLL: Duration = Duration::from_millis(500);

/// What a reload reaches.
pub struct Running<'a> {
    /// Where the files were read from.
    pub path: Option<PathBuf>,
    /// The tables' game masters.
    pub tables: Tables,
    /// The tables, whose NPCs change.
    pub open: OpenTables,
    /// The tools, whose catalogue and servers change.
    pub tools: &'a Tools,
    /// Sets what is logged.
    pub log_level: &'a (dyn Fn(&str) + Send + Sync),
}

/// Follows the files of `config`, which becomes what they say, for as long as it is polled.
pub async fn follow(running: Running<'_>, config: Arc<LiveConfig>) {
    let mut watch = Watch::new(&config.load().files, wall_clock());
    let mut ticks = interval(POLL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut pending = false;
    loop {
        ticks.tick().await;
        // A file is taken once it has not changed between two looks, so that none is half-written.
        let changed = watch.has_changed(wall_clock());
        let settled = pending && !changed;
        pending = changed;
        if !settled {
            continue;
        }
        match config::load(running.path.as_deref(), &config::environment, IDENTITIES) {
            Ok(fresh) => {
                watch = Watch::new(&fresh.files, wall_clock());
                let notice = running.apply(&config.load(), &fresh).await;
                config.store(fresh);
                running.tell(&notice);
            }
            Err(report) => {
                running.tell(&format!("changed files are not used, for now:\n{report}"));
            }
        }
    }
}

/// What has changed, but is used from the next start on: its keys.
fn later(before: &Config, fresh: &Config) -> Vec<&'static str> {
    let (old, new) = (&before.services, &fresh.services);
    let providers =
        (&old.recogniser, &old.model, &old.voices) != (&new.recogniser, &new.model, &new.voices);
    let world = |config: &Config| {
        // A table's own has entities of the store beside those of the file.
        let campaign = Campaign { entities: Vec::new(), ..config.campaign.clone() };
        (campaign, config.world.clone())
    };
    // The command line has no limits, whatever the file says.
    let of = before.session.limits;
    let limits = |config: &Config| (of != Limits::NONE).then_some(config.session.limits);
    let turn = |config: &Config| Options { limits: of, ..config.session.clone() };
    let all = [
        ("providers", providers),
        ("tools.selection.embedder", old.embedder != new.embedder),
        ("campaign", world(before) != world(fresh)),
        ("campaigns", before.shared != fresh.shared),
        ("turn", turn(before) != turn(fresh)),
        ("limits", limits(before) != limits(fresh)),
        ("tiers", before.tiers != fresh.tiers),
        ("tools.tables", before.tables != fresh.tables),
        ("rules", before.rules != fresh.rules),
        ("file_io", before.file_io != fresh.file_io),
        ("assistant", before.assistant != fresh.assistant),
        ("memory", before.memory != fresh.memory),
        ("data_dir", before.data_dir != fresh.data_dir),
        ("mcp.environment", before.environment != fresh.environment),
    ];
    all.into_iter().filter_map(|(key, changed)| changed.then_some(key)).collect()
}

impl Running<'_> {
    /// Puts what is new into effect; what that is.
    async fn apply(&self, before: &Config, fresh: &Config) -> String {
        (self.log_level)(&fresh.log_level);
        let cast: Vec<Arc<Npc>> = fresh.npcs.iter().cloned().map(Arc::new).collect();
        self.tools.host.set_approval_expiry(fresh.approvals.expires);
        self.tools.host.catalog().set_cast(&callers(fresh));
        self.tools.archive.set_cast(&fresh.npcs, &fresh.assistant);
        self.tools.servers.set(fresh.mcp.servers.clone());
        manifest::offer(&self.tools.host, &fresh.manifests);
        self.tools.host.reselect_by(fresh.selection.clone());
        self.tools.services.retain(&fresh.services);
        for table in self.open.running() {
            table.seats.budget.set_options(fresh.budget.clone());
        }
        let mut changed = Vec::new();
        for npc in cast {
            match before.npcs.iter().find(|old| old.name == npc.name) {
                Some(old) if *old == *npc => continue,
                Some(_) => changed.push(npc.name.clone()),
                None => {
                    changed.push(format!("{} (joins at the next start)", npc.name));
                    continue;
                }
            }
            for table in self.open.running() {
                recast(table, fresh, &npc).await;
            }
        }
        let changed = match changed.as_slice() {
            [] => "no npc has changed".to_owned(),
            names => format!("changed: {}", names.join(", ")),
        };
        match later(before, fresh).as_slice() {
            [] => format!("the files were read again; {changed}"),
            keys => {
                let keys = keys.join(", ");
                format!("the files were read again; {changed} (restart to use the new {keys})")
            }
        }
    }

    fn tell(&self, notice: &str) {
        tracing::info!(notice, "changed files");
        self.tables.tell(notice);
    }
}

/// Has an NPC of `table` go on as described anew.
async fn recast(table: SeatedTable, fresh: &Config, npc: &Arc<Npc>) {
    let (seats, config, described) = (table.seats, fresh.clone(), Arc::clone(npc));
    let recast = Recast {
        npc: npc.name.clone(),
        seat: Box::new(move |history| seats.seat(&config, described, history)),
    };
    // A table that is gone needs no new cast.
    if let Some(commands) = table.commands.upgrade() {
        let _ = commands.send(Command::Recast(recast)).await;
    }
}
