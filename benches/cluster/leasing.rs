//! Leases of shards as a discrete model: which process takes which, and when each may identify.
//!
//! Intervals, fair share and surplus are the program's own. Here requests to the store take no time,
//! nor does closing a shard without a session. **Never**: reads a clock.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque},
    time::Duration,
};

use glyphoxa::measure::{
    BALANCE_EVERY, IDENTIFY_APART, LEASE_TTL, Lease, Node, NodeStatus, fair_share, renewed_every,
    surplus,
};
use rand::{RngExt, rngs::StdRng};

/// All processes start within this time.
const STARTS_WITHIN: Duration = Duration::from_secs(2);
/// From the end of a process to the first renewal of the one that replaces it.
const RESTART: Duration = Duration::from_secs(5);
/// Without a change for so long, all have looked at each other twice.
const QUIET: Duration = Duration::from_secs(40);
/// The model runs no longer.
const MOST: Duration = Duration::from_secs(86_400);

/// The bot that is served.
#[derive(Clone, Copy)]
pub struct Bot {
    /// Processes.
    pub nodes: usize,
    /// Shards of the gateway.
    pub shards: u32,
    /// Discord's `max_concurrency`.
    pub buckets: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The leases of a dead process run out.
    Expires(usize),
    /// A shard may identify, if it still waits for that.
    Identifies { process: usize, shard: u32, start: u64 },
    /// A run of a process renews its leases.
    Renews { process: usize, run: u64 },
}

#[derive(Clone)]
struct Process {
    node: Node,
    run: u64,
    /// Last renewal of this run.
    seen: Option<Duration>,
    balanced_at: Duration,
    leases: BTreeSet<u32>,
    /// Starts of shards that wait to identify, by bucket; the first has reserved.
    queues: BTreeMap<u32, VecDeque<(u32, u64)>>,
    is_dead: bool,
}

impl Process {
    fn new(nth: usize, shards: u32) -> Self {
        let name = format!("node-{nth}");
        let node =
            Node { run: name.clone(), name, build: String::new(), shards, ..Node::default() };
        Self {
            node,
            run: 0,
            seen: None,
            balanced_at: Duration::ZERO,
            leases: BTreeSet::new(),
            queues: BTreeMap::new(),
            is_dead: false,
        }
    }

    /// As others see it.
    fn status(&self, now: Duration) -> Option<NodeStatus> {
        let seen_ago = now.saturating_sub(self.seen?);
        let leases = self.leases.iter().map(|shard| Lease { shard: *shard, epoch: 0 }).collect();
        let is_gone = seen_ago > LEASE_TTL;
        Some(NodeStatus { node: self.node.clone(), seen_ago, is_gone, leases })
    }
}

#[derive(Clone, Copy, Default)]
struct Shard {
    owner: Option<usize>,
    /// Number of its last start.
    start: u64,
    /// It has identified since.
    is_open: bool,
}

/// Silence of shards after the death of their process.
pub struct Death {
    /// From the death to the first identify of one of them.
    pub first: Duration,
    /// From the death to the last one.
    pub last: Duration,
    /// Identifies that it took.
    pub identifies: u64,
}

/// All processes of a bot.
#[derive(Clone)]
pub struct Cluster {
    bot: Bot,
    now: Duration,
    events: BinaryHeap<Reverse<(Duration, Event)>>,
    processes: Vec<Process>,
    shards: Vec<Shard>,
    free: BTreeSet<u32>,
    /// When each bucket may identify next, as the store has it.
    slots: Vec<Duration>,
    /// Last identify of each bucket.
    identified: Vec<Option<Duration>>,
    living: u64,
    open: usize,
    changed_at: Duration,
    /// Every open shard has a session, and is not given back.
    is_playing: bool,
    identifies: u64,
}

impl Cluster {
    /// All processes start. `is_playing`: sessions go on in each shard as soon as it is open.
    pub fn start(bot: Bot, is_playing: bool, dice: &mut StdRng) -> Self {
        let starts = (0..bot.nodes).map(|process| {
            let at = STARTS_WITHIN.mul_f64(dice.random_range(0.0..1.0));
            Reverse((at, Event::Renews { process, run: 0 }))
        });
        Self {
            bot,
            now: Duration::ZERO,
            events: starts.collect(),
            processes: (0..bot.nodes).map(|nth| Process::new(nth, bot.shards)).collect(),
            shards: vec![Shard::default(); bot.shards as usize],
            free: (0..bot.shards).collect(),
            slots: vec![Duration::ZERO; bot.buckets as usize],
            identified: vec![None; bot.buckets as usize],
            living: 0,
            open: 0,
            changed_at: Duration::ZERO,
            is_playing,
            identifies: 0,
        }
    }

    /// Runs until every shard is open; how long that took.
    pub fn open_all(&mut self) -> Duration {
        while self.open < self.shards.len() {
            self.step();
        }
        self.now
    }

    /// Runs until every shard is open and none changes hands any more.
    pub fn settle(&mut self) {
        while self.open < self.shards.len() || self.now < self.changed_at + QUIET {
            self.step();
        }
    }

    /// Identifies so far.
    pub const fn identifies(&self) -> u64 {
        self.identifies
    }

    /// Shards of each process.
    pub fn shards_of_nodes(&self) -> impl Iterator<Item = &BTreeSet<u32>> {
        self.processes.iter().map(|it| &it.leases)
    }

    /// One process with shards dies while all play.
    pub fn death(mut self, dice: &mut StdRng) -> Death {
        self.is_playing = true;
        let process = self.any_serving(dice);
        let (died_at, before) = (self.now, self.identifies);
        self.kill(process);
        let (mut first, open) = (None, self.open);
        while self.open < self.shards.len() {
            self.step();
            if first.is_none() && self.open > open {
                first = Some(self.now);
            }
        }
        let first = first.unwrap_or(self.now).saturating_sub(died_at);
        let last = self.now.saturating_sub(died_at);
        Death { first, last, identifies: self.identifies - before }
    }

    /// One process with shards ends in order and another replaces it; the identifies that takes.
    pub fn replacement(mut self, dice: &mut StdRng) -> u64 {
        let process = self.any_serving(dice);
        let before = self.identifies;
        self.free_all(process);
        let its = &mut self.processes[process];
        (its.seen, its.run) = (None, its.run + 1);
        let run = its.run;
        self.at(self.now + RESTART, Event::Renews { process, run });
        self.settle();
        self.identifies - before
    }

    /// A process with shards, at any moment between two renewals.
    fn any_serving(&mut self, dice: &mut StdRng) -> usize {
        let until = self.now + renewed_every(LEASE_TTL).mul_f64(dice.random_range(0.0..1.0));
        while self.events.peek().is_some_and(|Reverse((at, _))| *at <= until) {
            self.step();
        }
        self.now = until;
        let serving = self.processes.iter().enumerate().filter(|(_, it)| !it.leases.is_empty());
        let serving: Vec<usize> = serving.map(|(process, _)| process).collect();
        serving[dice.random_range(0..serving.len())]
    }

    fn kill(&mut self, process: usize) {
        let its = &mut self.processes[process];
        its.is_dead = true;
        its.queues.clear();
        let expires = its.seen.expect("it has leases") + LEASE_TTL;
        for shard in &its.leases {
            self.open -= usize::from(std::mem::take(&mut self.shards[*shard as usize].is_open));
        }
        self.at(expires, Event::Expires(process));
    }

    fn step(&mut self) {
        let Reverse((at, event)) = self.events.pop().expect("a process lives");
        assert!(at < MOST, "the cluster comes to no rest");
        self.now = at;
        match event {
            Event::Expires(process) => self.free_all(process),
            Event::Identifies { process, shard, start } => self.identify(process, shard, start),
            Event::Renews { process, run } => self.renew(process, run),
        }
    }

    fn at(&mut self, time: Duration, event: Event) {
        self.events.push(Reverse((time, event)));
    }

    fn renew(&mut self, process: usize, run: u64) {
        let now = self.now;
        let its = &mut self.processes[process];
        if its.is_dead || its.run != run {
            return;
        }
        if its.seen.replace(now).is_none() {
            its.balanced_at = now;
            self.living += 1;
        }
        let balances = self.bot.shards > 1 && now >= its.balanced_at + BALANCE_EVERY;
        if balances {
            its.balanced_at = now;
        }
        self.take(process);
        if balances {
            self.balance(process);
        }
        self.at(now + renewed_every(LEASE_TTL), Event::Renews { process, run });
    }

    fn share(&self) -> usize {
        usize::try_from(fair_share(self.bot.shards, self.living)).expect("as many as shards")
    }

    /// Takes free shards up to the process's share; one of each bucket reserves its identify.
    fn take(&mut self, process: usize) {
        let room = self.share().saturating_sub(self.processes[process].leases.len());
        for _ in 0..room {
            let Some(shard) = self.free.pop_first() else { return };
            self.processes[process].leases.insert(shard);
            let its = &mut self.shards[shard as usize];
            *its = Shard { owner: Some(process), start: its.start + 1, is_open: false };
            let start = its.start;
            self.changed_at = self.now;
            let bucket = shard % self.bot.buckets;
            let queue = self.processes[process].queues.entry(bucket).or_default();
            queue.push_back((shard, start));
            if queue.len() == 1 {
                self.reserve(process, bucket);
            }
        }
    }

    /// Reserves the identify of the next shard that still waits.
    fn reserve(&mut self, process: usize, bucket: u32) {
        let Some(queue) = self.processes[process].queues.get_mut(&bucket) else { return };
        while let Some(&(shard, start)) = queue.front() {
            let its = &self.shards[shard as usize];
            if its.owner == Some(process) && its.start == start {
                let slot = &mut self.slots[bucket as usize];
                let at = self.now.max(*slot);
                *slot = at + IDENTIFY_APART;
                return self.at(at, Event::Identifies { process, shard, start });
            }
            queue.pop_front();
        }
    }

    /// Ends the wait of a shard; the next one reserves.
    fn leave_queue(&mut self, process: usize, shard: u32) {
        let bucket = shard % self.bot.buckets;
        let Some(queue) = self.processes[process].queues.get_mut(&bucket) else { return };
        if queue.front().is_some_and(|(first, _)| *first == shard) {
            queue.pop_front();
            self.reserve(process, bucket);
        }
    }

    fn identify(&mut self, process: usize, shard: u32, start: u64) {
        let its = &mut self.shards[shard as usize];
        if its.owner != Some(process) || its.start != start || self.processes[process].is_dead {
            return;
        }
        its.is_open = true;
        let before = self.identified[(shard % self.bot.buckets) as usize].replace(self.now);
        let is_apart = before.is_none_or(|before| self.now >= before + IDENTIFY_APART);
        assert!(is_apart, "two identifies of one bucket are too close");
        self.open += 1;
        self.identifies += 1;
        self.changed_at = self.now;
        self.leave_queue(process, shard);
    }

    /// Gives back shards without a session that others lack.
    fn balance(&mut self, process: usize) {
        let its = &self.processes[process];
        // Others need not be counted for a process without too many.
        if its.leases.len() <= self.share() {
            return;
        }
        let nodes: Vec<_> = self.processes.iter().filter_map(|it| it.status(self.now)).collect();
        let idle = |shard: &&u32| !(self.is_playing && self.shards[**shard as usize].is_open);
        let above = surplus(&nodes, &its.node);
        let given: Vec<u32> = its.leases.iter().rev().filter(idle).take(above).copied().collect();
        given.into_iter().for_each(|shard| self.release(process, shard));
    }

    fn free_all(&mut self, process: usize) {
        self.living -= 1;
        let leases = self.processes[process].leases.clone();
        leases.into_iter().for_each(|shard| self.release(process, shard));
    }

    fn release(&mut self, process: usize, shard: u32) {
        self.processes[process].leases.remove(&shard);
        let its = &mut self.shards[shard as usize];
        its.owner = None;
        self.open -= usize::from(std::mem::take(&mut its.is_open));
        self.free.insert(shard);
        self.changed_at = self.now;
        self.leave_queue(process, shard);
    }
}
