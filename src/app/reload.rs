//! Applies changed files while the program runs. Entry function: [`follow`].
//! **Never**: applies a file that fails its check, or does more than the user has agreed to.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use tokio::time::{MissedTickBehavior, interval};

use super::{
    IDENTITIES, LiveConfig, Tools, assistant, callers, campaign_key,
    changes::{held, is_another_campaign, later, now},
    rule_book,
    seats::{OpenTables, SeatedTable},
    seeded_for_session,
    servers::start_check,
    turn_judge, with_names, world_of,
};
use crate::{
    campaign::{Mistake, Mistakes, Scoped, Tables, wall_clock},
    config::{self, Agreements, Config, Problem, Use, Watch},
    domain::{Campaign, Npc},
    memory::MemoryStore,
    provider::TurnJudge,
    session::{Command, Limits, Recast, Role},
    tools::manifest,
};

/// Interval between checks of the files.
const POLL: Duration = Duration::from_millis(500);

pub struct Running<'a> {
    /// The configuration file, if named.
    pub path: Option<PathBuf>,
    /// The user's agreements.
    pub agreed: Agreements,
    /// Running tables, whose game masters are notified.
    pub tables: Tables,
    /// Running tables, whose NPCs change.
    pub open: OpenTables,
    /// The tools, whose catalogue and servers change.
    pub tools: &'a Tools,
    /// Store with a campaign's names; `None`: opened when needed.
    pub memory: Option<Arc<dyn MemoryStore>>,
    /// Mistakes in changed files, for faces that show them.
    pub mistakes: Mistakes,
    /// The player uses this machine: no limits, and no consent notices.
    pub is_local: bool,
    /// Sets the level of the log.
    pub log_level: &'a (dyn Fn(&str) + Send + Sync),
}

/// Applies changes of the files to `config` while polled.
pub async fn follow(running: Running<'_>, config: Arc<LiveConfig>) {
    let mut read = config.load_full();
    // The configuration whose built-in tools are offered.
    let mut offered = Arc::clone(&read);
    let mut watch = Watch::new(&read.files, &read.folders, wall_clock());
    let mut ticks = interval(POLL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut pending = false;
    let mut told = String::new();
    // NPCs that were at the table, even if they have left it.
    let mut played: Vec<Npc> = read.npcs.clone();
    loop {
        ticks.tick().await;
        running.offer(&mut offered, &config.load_full());
        // A file is read once it has not changed between two checks, so that none is half-written.
        let changed = watch.has_changed(wall_clock());
        let settled = pending && !changed;
        pending = changed;
        if !settled {
            continue;
        }
        let path = running.path.as_deref();
        match config::load_again(path, &config::environment, IDENTITIES, &played) {
            Ok(fresh) if running.asks(&fresh, &mut watch, &mut told) => {
                running.mistakes.set(Vec::new());
            }
            Ok(mut fresh) => {
                running.mistakes.set(Vec::new());
                running.agreed.settle(&mut fresh);
                told.clear();
                played.retain(|npc| fresh.npcs.iter().all(|now| now.name != npc.name));
                played.extend(fresh.npcs.iter().cloned());
                watch.keep(&fresh.files, &fresh.folders, wall_clock());
                let notice = running.notice(&read, &fresh);
                read = Arc::new(fresh.clone());
                let before = config.load_full();
                config.store(held(fresh, &before));
                running.apply(&before, &mut offered, &config.load_full(), &notice).await;
            }
            Err(report) => {
                // The fix may be in another file than the changed one.
                watch.add(&report.files, &report.folders, wall_clock());
                running.mistakes.set(report.problems.iter().map(mistake).collect());
                let broken = report.to_string();
                // Each new state of a fix in several steps is reported.
                if broken != told {
                    let names: Vec<&str> = read.npcs.iter().map(|npc| npc.name.as_str()).collect();
                    running.tell(&format!(
                        "changed files are ignored until these errors are \
                         fixed:\n{broken}\nunchanged until then: {}",
                        names.join(", ")
                    ));
                    told = broken;
                }
            }
        }
    }
}

fn mistake(problem: &Problem) -> Mistake {
    let Problem { file, at, message, way_out } = problem;
    let line = u64::try_from(at.line).unwrap_or_default();
    let fix = if way_out.is_empty() { String::new() } else { format!(" ({way_out})") };
    Mistake { file: file.to_string(), line, text: format!("{message}{fix}") }
}

impl Running<'_> {
    /// True if `fresh` would do more than the user has agreed to. Notifies game masters unless the
    /// notice equals `told`; `watch` notices the agreement.
    fn asks(&self, fresh: &Config, watch: &mut Watch, told: &mut String) -> bool {
        let lacking = self.agreed.lacking(fresh, Use::Play);
        if lacking.is_empty() {
            return false;
        }
        let files = fresh.files.iter().cloned().chain(config::agreed_file());
        watch.add(&files.collect::<Vec<_>>(), &fresh.folders, wall_clock());
        let lines: String = lacking.iter().map(|demand| format!("\n  - {demand}")).collect();
        let asked = format!(
            "changed files are ignored until you trust them, because they would:{lines}\n(if you agree, \
             run this where Glyphoxa runs: {})",
            config::way_out(fresh)
        );
        if asked != *told {
            self.tell(&asked);
            *told = asked;
        }
        true
    }

    /// Notice for game masters about the change from `before` to `fresh`.
    fn notice(&self, before: &Config, fresh: &Config) -> String {
        let mut said = vec!["configuration reloaded".to_owned()];
        let same = |one: &Config, name: &str| one.npcs.iter().any(|npc| npc.name == name);
        let names = |of: &Config, which: &dyn Fn(&Npc) -> bool| {
            let found = of.npcs.iter().filter(|npc| which(npc)).map(|npc| npc.name.clone());
            found.collect::<Vec<_>>().join(", ")
        };
        let npcs = [
            (
                "changed",
                names(fresh, &|npc| {
                    before.npcs.iter().any(|old| old.name == npc.name && old != npc)
                }),
            ),
            ("joins", names(fresh, &|npc| !same(before, &npc.name))),
            ("leaves", names(before, &|npc| !same(fresh, &npc.name))),
        ];
        let said_of_npcs = npcs.iter().filter(|(_, names)| !names.is_empty());
        said.extend(said_of_npcs.map(|(what, names)| format!("{what}: {names}")));
        if said.len() == 1 {
            said.push("no npc changed".to_owned());
        }
        let mut keys = now(before, fresh);
        keys.retain(|key| !self.is_local || !matches!(*key, "limits" | "assistant"));
        if !keys.is_empty() {
            said.push(format!("in effect now: {}", keys.join(", ")));
        }
        if is_another_campaign(before, fresh) {
            said.push(waits(&["campaign.name"], "with the next session"));
        }
        let mut keys = later(before, fresh);
        keys.extend((self.is_local && before.assistant != fresh.assistant).then_some("assistant"));
        if !keys.is_empty() {
            said.push(waits(&keys, "at the next start"));
        }
        let is_known = |one: &Problem| {
            before.warnings.iter().any(|it| (&it.file, &it.message) == (&one.file, &one.message))
        };
        let unread = fresh.unread();
        let is_new = |it: &&Problem| !is_known(it) && Some(*it) != unread;
        let new = fresh.warnings.iter().filter(is_new).chain(unread);
        let new: String = new.map(|warning| format!("\n{warning}")).collect();
        said.join("; ") + &new
    }

    /// Applies the changes and sends `notice`; delayed tools stay as `offered`.
    async fn apply(
        &self,
        before: &Config,
        offered: &mut Arc<Config>,
        fresh: &Arc<Config>,
        notice: &str,
    ) {
        (self.log_level)(&fresh.log_level);
        // Prices before the services that have them: a service without a price is free.
        if before.budget != fresh.budget {
            for table in self.open.running() {
                table.seats.budget.set_options(fresh.budget.clone());
            }
        }
        self.tools.take(before, fresh).await;
        self.offer(offered, fresh);
        let judge = turn_judge(&self.tools.services, fresh).await;
        for table in self.open.running() {
            let mut config = table.config.lock().await;
            let was = Arc::clone(&config);
            let mut now = self.as_played(&table, &was, fresh).await;
            keep_choices(&mut now, before, &was);
            let now = Arc::new(now);
            *config = Arc::clone(&now);
            table.services.store(Arc::new(now.describe(&now.npcs)));
            table.assistant.store(Arc::new(assistant(&self.tools.services, &now)));
            recast(&table, &was, &now, judge.clone()).await;
        }
        self.tell(notice);
    }

    /// Replaces the offered tools, unless players must first be notified of an outside service.
    fn offer(&self, offered: &mut Arc<Config>, fresh: &Arc<Config>) {
        if Arc::ptr_eq(offered, fresh) {
            return;
        }
        let new = new_services(offered, fresh);
        if self.open.running().iter().all(|table| table.knows(&new)) {
            self.tools.offer(offered, fresh);
            *offered = Arc::clone(fresh);
        }
    }

    /// `fresh` as `table` plays it, which played `was` before.
    async fn as_played(&self, table: &SeatedTable, was: &Config, fresh: &Config) -> Config {
        let played = table.played.as_ref();
        let mut config = match &self.memory {
            None => with_names(fresh).await,
            Some(store) => {
                let at = Scoped::new(&**store, &table.scope);
                seeded_for_session(fresh, at, played).await.unwrap_or_else(|error| {
                    self.tell(&format!(
                        "names from the memory are missing (names in files still \
                                        work): {error:#}"
                    ));
                    fresh.clone()
                })
            }
        };
        let own = &table.scope.campaign;
        let is_renamed = match played {
            None => campaign_key(fresh) != *own,
            Some(_) => world_of(fresh, own).is_none() && world_of(was, own).is_some(),
        };
        if is_renamed {
            // Memory belongs to the campaign in which the session began.
            let Campaign { lines_and_veils, cast, .. } = std::mem::take(&mut config.campaign);
            config.campaign = Campaign { lines_and_veils, cast, ..was.campaign.clone() };
            config.world = was.world.clone();
        }
        if self.is_local {
            config.session.limits = Limits::NONE;
        }
        config
    }

    /// Notifies game masters, and the log in case they are away.
    fn tell(&self, notice: &str) {
        if !self.is_local {
            tracing::info!(notice, "changed files");
        }
        self.tables.tell(notice);
    }
}

impl Tools {
    /// Switches to `fresh`.
    async fn take(&self, before: &Config, fresh: &Config) {
        self.services.retain(&fresh.services);
        self.host.set_approval_expiry(fresh.approvals.expires);
        self.host.catalog().set_cast(&callers(fresh));
        self.offered.archive.set_cast(&fresh.npcs, &fresh.assistant);
        if before.global_data != fresh.global_data {
            self.facts.set_own(fresh.global_data.clone());
        }
        self.servers.set_check(start_check(fresh));
        self.servers.set(fresh.mcp.servers.clone());
        manifest::offer(&self.host, &fresh.manifests);
        self.offered.offer_workflows(&self.host, fresh);
        if before.music != fresh.music {
            self.level_music(fresh).await;
        }
        self.host.reselect_by(fresh.selection.clone());
    }

    /// Offers the built-in tools of `fresh` that differ from those of `before`.
    fn offer(&self, before: &Config, fresh: &Config) {
        let data = |of: &Config| {
            let data = (of.tables.clone(), of.rules.clone(), of.file_io.clone());
            let unwanted = of.campaign.lines_and_veils.clone();
            (data, of.services.image.clone(), of.services.search.clone(), unwanted)
        };
        if data(before) != data(fresh) {
            self.offered.offer(&self.host, &self.services, fresh, rule_book(fresh));
        }
    }
}

/// Names of outside services that tools of `fresh` use and those of `offered` do not.
fn new_services(offered: &Config, fresh: &Config) -> BTreeSet<String> {
    let of_tools = |config: &Config| -> BTreeSet<String> {
        let services = config.describe(&[]);
        let all = services.draws.iter().chain(&services.searches);
        all.filter(|service| !service.is_local()).map(ToString::to_string).collect()
    };
    &of_tools(fresh) - &of_tools(offered)
}

fn waits(keys: &[&str], when: &str) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let take = if keys.len() == 1 { "it takes" } else { "they take" };
    format!("{} changed; {take} effect {when}", quoted.join(", "))
}

/// NPCs with unchanged entries keep the engines and voices chosen by game masters at a table that
/// played `was`.
fn keep_choices(now: &mut Config, before: &Config, was: &Config) {
    for npc in now.npcs.iter_mut().filter(|npc| before.npcs.contains(npc)) {
        if let Some(played) = was.npcs.iter().find(|it| it.name == npc.name) {
            npc.engine = played.engine;
            npc.voice.clone_from(&played.voice);
        }
    }
}

/// Switches `table`, which played `was`, to `now`.
async fn recast(
    table: &SeatedTable,
    was: &Config,
    now: &Arc<Config>,
    judge: Option<Arc<dyn TurnJudge>>,
) {
    let of_seats = |of: &Config| (of.session.max_tokens, of.session.filler_after);
    let all = was.campaign != now.campaign
        || of_seats(was) != of_seats(now)
        || was.services.models != now.services.models;
    let cast = now.npcs.iter().map(|npc| {
        let is_same = !all && was.npcs.contains(npc);
        let role = table.role(now, npc);
        if is_same { Role { seat: None, ..role } } else { role }
    });
    let recast = Recast {
        options: now.session.clone(),
        judge,
        campaign: Arc::new(now.campaign.clone()),
        keywords: now.tiers.clone(),
        rules: now.rules.names().into(),
        cast: cast.collect(),
    };
    send(table, Command::Recast(Box::new(recast))).await;
}

async fn send(table: &SeatedTable, command: Command) {
    // A closed table needs nothing.
    if let Some(commands) = table.commands.upgrade() {
        let _ = commands.send(command).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::builtin;

    #[test]
    fn only_new_outside_tool_services_wait() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("glyphoxa.yaml");
        let with = |providers: &str| {
            let npcs = "npcs: [{ name: Bartok, lines: [{ say: Hm. }] }]";
            std::fs::write(&path, format!("{providers}\n{npcs}\n")).unwrap();
            config::load(Some(&path), &|_| None, builtin::IDENTITIES).unwrap()
        };
        let search = |address: &str| {
            with(&format!("providers: {{ search: {{ service: searxng, base_url: '{address}' }} }}"))
        };
        let (none, near) = (with(""), search("http://127.0.0.1:8888"));
        let far = search("https://search.example.com");
        assert_eq!(new_services(&none, &near), BTreeSet::new());
        let wanted = BTreeSet::from(["searxng at search.example.com".to_owned()]);
        assert_eq!(new_services(&near, &far), wanted);
        assert_eq!(new_services(&far, &far), BTreeSet::new());
        assert_eq!(new_services(&far, &none), BTreeSet::new());
    }
}
