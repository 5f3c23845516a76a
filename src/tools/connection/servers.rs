//! All servers: configured ones, and those added by guilds. Only explicit waits block on a server.

use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
    time::Duration,
};

use futures::future::Either;
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    client::{Client, RequestError},
    each_session::{Connections, EachSession},
    facts::Facts,
    oauth::Tokens,
    options::{Reach, Sandbox, Secret, ServerOptions},
    remembered::RememberedServers,
    server::{Server, address},
    shared::{Shared, StartCheck},
    shared_status::SharedStatus,
    status::{State, Status},
    stdio::Room,
    tail::Tail,
};
use crate::{
    domain::{Owner, fnv1a, redact},
    launch,
    tools::{ServerKey, ToolHost},
};

/// Longest wait for all servers to end.
const CLOSING: Duration = Duration::from_secs(8);
/// Longest wait for placeholders that other servers fill.
const GIVEN: Duration = Duration::from_secs(30);

/// Settings and handles that all servers are started with.
pub struct Setup {
    /// Host that receives their tools.
    pub host: ToolHost,
    /// Folder of their records.
    pub data_dir: PathBuf,
    /// Variables every child gets: PATH, HOME, LANG and TMPDIR where set.
    pub environment: Vec<(String, String)>,
    /// This executable, which supervises each child.
    pub launcher: PathBuf,
    /// Unreadable for confined children, like everything below `data_dir`.
    pub hidden: Vec<PathBuf>,
    /// Values of placeholders in headers.
    pub facts: Arc<Facts>,
    /// Seed of the reconnection jitter.
    pub seed: u64,
}

/// Reason a request about the servers failed.
#[derive(Debug, thiserror::Error)]
pub enum ServersError {
    #[error("the server name '{0}' is taken (choose another name)")]
    NameTaken(String),
    #[error("the server name '{0}' is reserved for the installation (choose another name)")]
    Installed(String),
    #[error("unknown server '{0}'")]
    Unknown(String),
    #[error("'{server}' is not connected: {reason}")]
    NotConnected { server: String, reason: String },
    #[error(transparent)]
    Tools(#[from] RequestError),
    #[error("cannot save the approval: {0}")]
    NotRemembered(io::Error),
    #[error("{}", .0.join("\n"))]
    Required(Vec<String>),
}

/// All servers; clones share them.
#[derive(Clone)]
pub struct Servers {
    shared: Arc<Shared>,
    seed: u64,
    all: Arc<Mutex<All>>,
    /// Tasks of all servers, including removed ones that are still ending.
    tasks: TaskTracker,
    /// Warned once that children are not confined.
    told: Arc<Once>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedTools {
    pub server: String,
    /// Its owner; `None`: configured.
    pub owner: Option<Owner>,
    /// One line per changed place of a tool.
    pub what: Vec<String>,
}

#[derive(Default)]
struct All {
    configured: Vec<ServerOptions>,
    /// Added from Discord at run time, each for its owner only.
    added: BTreeMap<Owner, Vec<ServerOptions>>,
    running: BTreeMap<ServerKey, Running>,
}

struct Running {
    options: ServerOptions,
    known: Arc<SharedStatus>,
    /// Set for a server with one connection per session.
    connections: Option<Arc<Connections>>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    /// Status for `owner`: of the owner's session if it has one, else the server's own.
    fn known(&self, owner: Owner) -> Arc<SharedStatus> {
        let own = self.connections.as_ref().and_then(|all| all.of(owner));
        own.unwrap_or_else(|| Arc::clone(&self.known))
    }
}

impl Servers {
    /// Starts with no servers.
    pub fn new(setup: Setup) -> Self {
        let environment = setup.environment.into_iter();
        let mut hidden = setup.hidden;
        hidden.push(setup.data_dir.clone());
        let shared = Shared {
            host: setup.host,
            remembered: RememberedServers::open(&setup.data_dir),
            room: Room {
                launcher: setup.launcher,
                homes: setup.data_dir.join("servers"),
                hidden,
                environment: environment.map(|(name, value)| (name, Secret(value))).collect(),
            },
            facts: setup.facts,
            tokens: Tokens::new(setup.data_dir),
            check: Mutex::default(),
        };
        let tasks = TaskTracker::new();
        let (all, told) = (Arc::default(), Arc::new(Once::new()));
        Self { shared: Arc::new(shared), seed: setup.seed, all, tasks, told }
    }

    /// Replaces the configured servers: connects new ones in the background, removes missing ones,
    /// reconnects changed ones and leaves the rest undisturbed.
    pub fn set(&self, configured: Vec<ServerOptions>) {
        let mut all = self.all();
        all.configured = configured;
        self.apply(&mut all);
    }

    /// Sets the check run before each start of a configured program.
    pub fn set_check(&self, check: Option<StartCheck>) {
        *self.shared.check.lock().unwrap_or_else(PoisonError::into_inner) = check;
    }

    /// Adds a server for `owner`; other owners may use the same name.
    ///
    /// # Errors
    /// The name or identity is taken by a configured server or another one of the owner.
    pub fn add(&self, owner: Owner, options: ServerOptions) -> Result<(), ServersError> {
        let mut all = self.all();
        let clash = |others: &[ServerOptions]| {
            let other = others.iter().find(|other| other.clashes(&options));
            other.map(|other| other.identity().to_owned())
        };
        if let Some(other) = clash(&all.configured) {
            return Err(ServersError::Installed(other));
        }
        let theirs = all.added.entry(owner).or_default();
        if let Some(other) = clash(theirs) {
            return Err(ServersError::NameTaken(other));
        }
        theirs.push(options);
        self.apply(&mut all);
        Ok(())
    }

    /// Removes a server added by `owner`; false if there was none.
    pub fn remove(&self, owner: Owner, name: &str) -> bool {
        let mut all = self.all();
        let Some(theirs) = all.added.get_mut(&owner) else { return false };
        let before = theirs.len();
        theirs.retain(|options| options.name != name);
        let is_gone = theirs.len() < before;
        self.apply(&mut all);
        is_gone
    }

    /// Replaces the servers added by `owner`; skips clashing ones.
    pub fn set_added(&self, owner: Owner, added: Vec<ServerOptions>) {
        let mut all = self.all();
        let before = match added.is_empty() {
            true => all.added.remove(&owner),
            false => all.added.insert(owner, added.clone()),
        };
        if before.unwrap_or_default() != added {
            self.apply(&mut all);
        }
    }

    /// Restarts the server `name` as seen by `owner`; with one connection per session, only the
    /// owner's.
    ///
    /// # Errors
    /// No such server exists.
    pub fn restart(&self, owner: Owner, name: &str) -> Result<(), ServersError> {
        let mut all = self.all();
        let mut keys = [ServerKey::added(owner, name), ServerKey::installed(name)].into_iter();
        let found = keys.find_map(|key| all.running.remove_entry(&key));
        let (key, old) = found.ok_or_else(|| ServersError::Unknown(name.to_owned()))?;
        let fresh = match &old.connections {
            Some(connections) => {
                connections.restart(owner);
                old
            }
            None => self.start(key.owner, old.options.clone(), Some(old)),
        };
        all.running.insert(key, fresh);
        Ok(())
    }

    /// Never held across an await.
    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reconciles running servers with the wanted ones; configured ones win clashes.
    fn apply(&self, all: &mut All) {
        let added = all
            .added
            .iter()
            .flat_map(|(owner, theirs)| theirs.iter().map(|options| (Some(*owner), options)));
        let listed = all.configured.iter().map(|options| (None, options)).chain(added);
        let mut wanted: BTreeMap<ServerKey, ServerOptions> = BTreeMap::new();
        for (owner, options) in listed {
            let is_seen = |key: &ServerKey| key.owner.is_none() || key.owner == owner;
            let mut others = wanted.iter().filter(|(key, _)| is_seen(key));
            if others.any(|(_, other)| other.clashes(options)) {
                let (server, owner) = (&options.name, owner.map(Owner::word));
                tracing::warn!(server, owner, "left out: another server has this name");
                continue;
            }
            wanted.insert(ServerKey { owner, name: options.name.clone() }, options.clone());
        }
        let mut before = std::mem::take(&mut all.running);
        for (key, options) in wanted {
            let running = match before.remove(&key) {
                Some(same) if same.options == options => same,
                old => self.start(key.owner, options, old),
            };
            all.running.insert(key, running);
        }
        for (_, old) in before {
            // The task ends by itself, after its child.
            old.stop.cancel();
        }
    }

    fn start(&self, owner: Option<Owner>, options: ServerOptions, old: Option<Running>) -> Running {
        if let Reach::Stdio { sandbox, .. } = &options.reach
            && *sandbox != Sandbox::Off
            && !launch::is_possible()
        {
            self.told.call_once(|| {
                tracing::warn!(
                    "this kernel has no Landlock: servers that are programs can read whatever this \
                     program's user can (use Linux 5.13 or newer)"
                );
            });
        }
        let known = Arc::new(SharedStatus::new(&options));
        let stop = CancellationToken::new();
        let name = address(owner, &options).name();
        let seed = self.seed.wrapping_add(fnv1a(name.bytes()));
        let shared = Arc::clone(&self.shared);
        let (its, status, until) = (options.clone(), Arc::clone(&known), stop.clone());
        let needs = options.lacks(&self.shared.facts);
        let connections = needs.map(|_| Arc::<Connections>::default());
        let server = match needs.zip(connections.clone()) {
            None => Either::Left(
                Server {
                    options: its,
                    owner,
                    session: None,
                    shared,
                    known: status,
                    seed,
                    stop: until,
                }
                .run(),
            ),
            Some((needs, connections)) => Either::Right(
                EachSession {
                    options: its,
                    shared,
                    known: status,
                    needs,
                    seed,
                    stop: until,
                    connections,
                    tasks: self.tasks.clone(),
                }
                .run(),
            ),
        };
        let task = self.tasks.spawn(async move {
            if let Some(old) = old {
                old.stop.cancel();
                // Withdraw the old tools before the new server offers.
                let _ = old.task.await;
            }
            server.await;
        });
        Running { options, known, connections, stop, task }
    }

    /// Status of every server available to `owner`, by name.
    pub fn status(&self, owner: Owner) -> Vec<Status> {
        let status = |(key, it): (&ServerKey, &Running)| {
            let known = it.known(owner);
            let details = known.details();
            let stderr = known.link.tail.load_full();
            let stderr = stderr.map(|tail: Arc<Tail>| tail.lines()).unwrap_or_default();
            Status {
                owner: key.owner,
                is_shared: key.owner.is_none() && it.connections.is_none(),
                name: key.name.clone(),
                prefix: it.options.identity().to_owned(),
                kept: details.kept(stderr.len()),
                calls_itself: details.calls_itself,
                endpoint: redact::known(&it.options.reach.endpoint()).into_owned(),
                state: known.state.borrow().shown(),
                revision: details.revision,
                tools: details.tools,
                held: details.held,
                changed: details.changed,
                refused: details.refused,
                resources: details.resources,
                held_files: details
                    .held_files
                    .iter()
                    .map(|file| redact::known(file).into_owned())
                    .collect(),
                stderr,
            }
        };
        let mut all: Vec<Status> = self.all().seen_by(owner).map(status).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Changed tools that wait for approval by `owner`.
    pub fn changed(&self, owner: Owner) -> Vec<ChangedTools> {
        let changed = |(key, it): (&ServerKey, &Running)| {
            let what = it.known(owner).details().changed;
            let (server, owner) = (key.name.clone(), key.owner);
            (!what.is_empty()).then_some(ChangedTools { server, owner, what })
        };
        self.all().seen_by(owner).filter_map(changed).collect()
    }

    /// Names of servers of `owner` that a configured server has displaced.
    pub fn displaced(&self, owner: Owner) -> Vec<String> {
        let all = self.all();
        let theirs = all.added.get(&owner).into_iter().flatten();
        let is_away = |name: &&String| !all.running.contains_key(&ServerKey::added(owner, name));
        theirs.map(|options| &options.name).filter(is_away).cloned().collect()
    }

    /// Waits until every server whose tool prefix is `wanted` is ready or has failed once, at most
    /// `patience`.
    pub async fn settled(&self, patience: Duration, wanted: impl Fn(&str) -> bool) {
        let _ = timeout(patience, async {
            for (_, known) in self.known(|options| wanted(options.identity())) {
                settled(&known).await;
            }
        })
        .await;
    }

    /// Waits for required servers.
    ///
    /// # Errors
    /// Names each required server that failed, with the reason.
    pub async fn required(&self) -> Result<(), ServersError> {
        let mut failed = Vec::new();
        for (name, known) in self.known(|options| options.required) {
            let state = settled(&known).await;
            if let State::Lacking { .. } = state {
                failed.push(format!("required server '{name}': {}", state.name()));
            } else if let Some(reason) = state.reason() {
                failed.push(format!("required server '{name}': {reason}"));
            }
        }
        if failed.is_empty() { Ok(()) } else { Err(ServersError::Required(failed)) }
    }

    /// Approves the current tools of `server` and returns their names.
    ///
    /// # Errors
    /// It is not connected, or the approval could not be stored.
    pub async fn approve(&self, server: &ServerKey) -> Result<Vec<String>, ServersError> {
        let running = |all: &All| {
            let it = all.running.get(server)?;
            Some((address(server.owner, &it.options), Arc::clone(&it.known)))
        };
        let running = running(&self.all());
        let (address, known) = running.ok_or_else(|| ServersError::Unknown(server.name.clone()))?;
        let state = settled(&known).await;
        let client: Option<Arc<Client>> = known.link.client.load_full();
        let client = client.ok_or_else(|| ServersError::NotConnected {
            server: server.name.clone(),
            reason: state.reason().map_or_else(|| state.name().into_owned(), str::to_owned),
        })?;
        let tools = client.tools().await?.tools;
        let (shared, listed) = (Arc::clone(&self.shared), tools.clone());
        let remembered = spawn_blocking(move || shared.remembered.accept(&address, &listed)).await;
        let remembered = remembered.unwrap_or_else(|error| Err(io::Error::other(error)));
        remembered.map_err(ServersError::NotRemembered)?;
        // Makes the server's task reread its list.
        client.notices().tools_changed();
        Ok(tools.into_iter().map(|tool| tool.name).collect())
    }

    /// Ends all connections and children.
    pub async fn close(&self) {
        let running = std::mem::take(&mut self.all().running);
        for server in running.values() {
            server.stop.cancel();
        }
        self.tasks.close();
        let _ = timeout(CLOSING, self.tasks.wait()).await;
    }

    fn known(&self, which: impl Fn(&ServerOptions) -> bool) -> Vec<(String, Arc<SharedStatus>)> {
        let all = self.all();
        let wanted = all.running.values().filter(|it| which(&it.options));
        wanted.map(|it| (it.options.name.clone(), Arc::clone(&it.known))).collect()
    }
}

impl All {
    /// Servers of the installation, and those added by `owner`.
    fn seen_by(&self, owner: Owner) -> impl Iterator<Item = (&ServerKey, &Running)> {
        let is_theirs = move |key: &ServerKey| key.owner.is_none_or(|its| its == owner);
        self.running.iter().filter(move |(key, _)| is_theirs(key))
    }
}

/// The first state after connecting, or `Lacking` after [`GIVEN`].
async fn settled(known: &SharedStatus) -> State {
    let mut state = known.state.subscribe();
    let begun = state.wait_for(|state| *state != State::Connecting).await;
    if begun.is_ok_and(|state| matches!(*state, State::Lacking { .. })) {
        let _ = timeout(GIVEN, state.wait_for(|state| !state.is_on_its_way())).await;
    }
    state.borrow_and_update().clone()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::tools::connection::{Reach, Trust};

    fn options(name: &str) -> ServerOptions {
        ServerOptions {
            name: name.to_owned(),
            prefix: None,
            reach: Reach::Stdio {
                command: vec!["no-such-program".to_owned()],
                folder: None,
                env: BTreeMap::new(),
                sandbox: Sandbox::Off,
            },
            required: false,
            connect_timeout: Duration::from_secs(1),
            reconnect: None,
            resources: false,
            resource_vars: BTreeMap::new(),
            tools: BTreeMap::new(),
            trust: Trust::Auto,
            allow_sampling: false,
            debug: false,
        }
    }

    fn servers(folder: &Path) -> Servers {
        Servers::new(Setup {
            host: ToolHost::new(StdRng::seed_from_u64(1)),
            data_dir: folder.to_owned(),
            launcher: launch::SELF.into(),
            hidden: Vec::new(),
            environment: Vec::new(),
            facts: Arc::default(),
            seed: 1,
        })
    }

    /// Each server available to an owner: its adder and name.
    fn there(servers: &Servers, owner: Owner) -> Vec<(Option<u64>, String)> {
        let all = servers.status(owner).into_iter();
        all.map(|it| (it.owner.and_then(Owner::guild), it.name)).collect()
    }

    fn names(servers: &Servers, owner: Owner) -> Vec<String> {
        there(servers, owner).into_iter().map(|(_, name)| name).collect()
    }

    const INN: Owner = Owner::Guild(1);
    const OAR: Owner = Owner::Guild(2);

    #[tokio::test]
    async fn servers_are_added_beside_the_configured_ones() {
        let folder = tempfile::tempdir().unwrap();
        let servers = servers(folder.path());
        let names = || names(&servers, INN);
        servers.set(vec![options("home")]);
        let same = ServerOptions { prefix: Some("home".to_owned()), ..options("other") };
        let taken = servers.add(INN, options("home")).unwrap_err().to_string();
        assert!(taken.contains("'home' is reserved"), "{taken}");
        assert!(servers.add(INN, same).is_err(), "its tools would be called the same");
        servers.add(INN, options("far")).unwrap();
        assert!(
            servers.add(INN, options("far")).unwrap_err().to_string().contains("'far' is taken")
        );
        assert_eq!(names(), ["far", "home"]);
        // It outlives a changed file, unless that names it too.
        servers.set(Vec::new());
        assert_eq!(names(), ["far"]);
        servers.set(vec![options("far")]);
        assert_eq!(there(&servers, INN), [(None, "far".to_owned())]);
        assert_eq!(
            (servers.displaced(INN), servers.displaced(OAR)),
            (vec!["far".to_owned()], vec![])
        );
        assert!(servers.remove(INN, "far"));
        assert_eq!(names(), ["far"], "it is configured now");
        assert!(!servers.remove(INN, "far"));
        servers.restart(INN, "far").unwrap();
        let unknown = servers.restart(INN, "home").unwrap_err();
        assert!(unknown.to_string().contains("unknown server 'home'"));
        servers.settled(Duration::from_secs(5), |_| true).await;
        assert_eq!(servers.status(INN)[0].state.name(), "failed");
        servers.close().await;
    }

    #[tokio::test]
    async fn added_servers_are_separate_per_guild() {
        let folder = tempfile::tempdir().unwrap();
        let servers = servers(folder.path());
        servers.set(vec![options("far")]);
        servers.add(INN, options("home")).unwrap();
        servers.add(OAR, options("home")).unwrap();
        servers.add(OAR, options("cellar")).unwrap();
        let home = |guild| (Some(guild), "home".to_owned());
        let far = || (None, "far".to_owned());
        assert_eq!(there(&servers, INN), [far(), home(1)]);
        assert_eq!(there(&servers, OAR), [(Some(2), "cellar".to_owned()), far(), home(2)]);
        assert_eq!(there(&servers, Owner::Local), [far()]);
        assert!(servers.restart(INN, "cellar").is_err());
        assert!(servers.approve(&ServerKey::added(INN, "cellar")).await.is_err());
        assert!(!servers.remove(INN, "cellar"));
        assert!(servers.remove(INN, "home"));
        assert_eq!(there(&servers, INN), [far()]);
        assert_eq!(names(&servers, OAR), ["cellar", "far", "home"]);
        servers.set_added(OAR, Vec::new());
        assert_eq!(there(&servers, OAR), [far()]);
        servers.close().await;
    }
}
