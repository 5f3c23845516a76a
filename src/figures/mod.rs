//! Figures of one run of the program: what it did, how fast, and what it cost.
//!
//! Entry type: [`Figures`], which is fed where things happen and renders Prometheus' text. Each has
//! a recorder of its own, so that several programs in one process don't mix. Counters only grow:
//! what an X-card takes back stays counted. **Never**: a name of a person, or a text; values of
//! labels that come from outside are bounded.

mod labels;
mod leases;
mod names;
mod written;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, AtomicU8, AtomicUsize, Ordering},
    },
    time::Duration,
};

use metrics::{Counter, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{
    Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};
use tokio::time::Instant;

use self::{
    labels::Labels,
    leases::Shards,
    names::{Figure, Times},
    written::{Lines, states},
};
pub use leases::LeaseLoss;
pub use written::Sample;

/// Recorded times after which the recorder sorts them into buckets, which frees their memory.
const UPKEEP: usize = 4_096;
const BILLION: u64 = 1_000_000_000;
static METADATA: Metadata<'static> = Metadata::new("glyphoxa", Level::INFO, None);

/// Figures of one run. Cloning shares them.
#[derive(Clone)]
pub struct Figures(Arc<Collected>);

struct Collected {
    recorder: PrometheusRecorder,
    rendered: PrometheusHandle,
    labels: Labels,
    /// Times recorded so far.
    times: AtomicUsize,
    /// Billionths of the currency, by service and kind.
    spent: Mutex<BTreeMap<(String, &'static str), u64>>,
    listeners: AtomicI64,
    gateway: AtomicU8,
    shards: Shards,
    sample: Mutex<Sample>,
}

/// A turn's labels.
#[derive(Clone, Copy, Debug)]
pub struct TurnLabels {
    pub outcome: &'static str,
    pub tier: &'static str,
    pub engine: &'static str,
}

/// A call of a tool by a model.
#[derive(Clone, Copy, Debug)]
pub struct ToolCallFigure<'a> {
    /// `server.tool`.
    pub tool: &'a str,
    pub tier: &'static str,
    pub outcome: &'static str,
    /// `None`: the result came from the cache, or comes later.
    pub took: Option<Duration>,
}

/// State of the gateway; without a bot none is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gateway {
    Down = 1,
    Up = 2,
}

impl Default for Figures {
    fn default() -> Self {
        let recorder = recorder();
        let rendered = recorder.handle();
        let figures = Self(Arc::new(Collected {
            recorder,
            rendered,
            labels: Labels::default(),
            times: AtomicUsize::new(0),
            spent: Mutex::default(),
            listeners: AtomicI64::new(0),
            gateway: AtomicU8::new(0),
            shards: Shards::default(),
            sample: Mutex::default(),
        }));
        // Dashboards see zero instead of nothing before the first of them.
        for figure in [
            &names::EVENTS_MISSED,
            &names::PACKETS_LOST,
            &names::PACKETS_UNDECODABLE,
            &names::VOICE_RECONNECTS,
            &names::GATEWAY_RECONNECTS,
        ] {
            figures.count(figure, Vec::new(), 0);
        }
        for kind in ["barge_in", "x_card"] {
            figures.count(&names::INTERRUPTIONS, labels([("kind", kind)]), 0);
        }
        for loss in LeaseLoss::ALL {
            figures.count(&names::LEASES_LOST, labels([("reason", loss.word())]), 0);
        }
        figures
    }
}

/// A recorder that knows all help lines and buckets.
fn recorder() -> PrometheusRecorder {
    let mut builder = PrometheusBuilder::new();
    for times in names::TIMES {
        let of = Matcher::Full(times.figure.name.to_owned());
        // Only a list without buckets fails.
        builder = builder.set_buckets_for_metric(of, times.buckets).unwrap_or_default();
    }
    let recorder = builder.build_recorder();
    for times in names::TIMES {
        let Figure { name, help } = times.figure;
        recorder.describe_histogram(name.into(), None, help.into());
    }
    for Figure { name, help } in names::COUNTERS {
        recorder.describe_counter((*name).into(), None, (*help).into());
    }
    recorder
}

/// Feeding.
impl Figures {
    /// An utterance that was answered or not.
    pub fn turn(&self, of: TurnLabels) {
        let TurnLabels { outcome, tier, engine } = of;
        self.count(
            &names::TURNS,
            labels([("outcome", outcome), ("tier", tier), ("engine", engine)]),
            1,
        );
    }

    /// End of speech to first sound.
    pub fn first_audio(&self, of: TurnLabels, took: Duration) {
        let TurnLabels { tier, engine, .. } = of;
        self.time(&names::FIRST_AUDIO, labels([("tier", tier), ("engine", engine)]), took);
    }

    pub fn stage(&self, stage: &'static str, took: Duration) {
        self.time(&names::STAGE, labels([("stage", stage)]), took);
    }

    pub fn interruption(&self, kind: &'static str) {
        self.count(&names::INTERRUPTIONS, labels([("kind", kind)]), 1);
    }

    pub fn tool_call(&self, call: ToolCallFigure<'_>) {
        let ToolCallFigure { tool, tier, outcome, took } = call;
        let tool = Label::new("tool", self.0.labels.bounded("tool", tool));
        if let Some(took) = took {
            self.time(&names::TOOL_CALL_TIME, vec![tool.clone()], took);
        }
        let mut all = labels([("tier", tier), ("outcome", outcome)]);
        all.push(tool);
        self.count(&names::TOOL_CALLS, all, 1);
    }

    pub fn events_missed(&self, missed: u64) {
        self.count(&names::EVENTS_MISSED, Vec::new(), missed);
    }

    /// A write or a check of the store.
    pub fn store(&self, operation: &'static str, took: Duration) {
        self.time(&names::STORE_TIME, labels([("operation", operation)]), took);
    }

    /// Money booked for `service`, in billionths of the currency; `kind`: what the service bills.
    pub fn spent(&self, service: &str, kind: &'static str, billionths: u64) {
        let service = self.0.labels.bounded("service", service);
        let mut spent = self.0.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = spent.entry((service, kind)).or_default();
        *spent = spent.saturating_add(billionths);
    }

    /// Packets of players' voices that were lost, and that are no sound.
    pub fn voice_packets(&self, lost: u64, undecodable: u64) {
        for (figure, packets) in
            [(&names::PACKETS_LOST, lost), (&names::PACKETS_UNDECODABLE, undecodable)]
        {
            if packets > 0 {
                self.count(figure, Vec::new(), packets);
            }
        }
    }

    /// A lost voice connection is back.
    pub fn voice_reconnected(&self) {
        self.count(&names::VOICE_RECONNECTS, Vec::new(), 1);
    }

    /// The gateway is connected again.
    pub fn gateway_reconnected(&self) {
        self.count(&names::GATEWAY_RECONNECTS, Vec::new(), 1);
    }

    pub fn set_gateway(&self, state: Gateway) {
        self.0.gateway.store(state as u8, Ordering::Relaxed);
    }

    /// `None`: this program has no bot.
    pub fn gateway(&self) -> Option<Gateway> {
        match self.0.gateway.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Gateway::Down),
            _ => Some(Gateway::Up),
        }
    }

    /// Shards that this node holds now, and those of the whole bot.
    pub fn set_shards(&self, held: u32, total: u32) {
        self.0.shards.set(held, total);
    }

    /// A renewal of leases that was sent at `at` has worked.
    pub fn lease_renewed(&self, at: Instant) {
        self.0.shards.renewed(at);
    }

    /// `None`: no lease was ever renewed here.
    pub fn since_renewal(&self, now: Instant) -> Option<Duration> {
        self.0.shards.since_renewal(now)
    }

    /// A shard's lease ended while it was served. Not for one that is given back.
    pub fn lease_lost(&self, loss: LeaseLoss) {
        self.count(&names::LEASES_LOST, labels([("reason", loss.word())]), 1);
    }

    /// A shard's wait for its turn to identify; zero counts too.
    pub fn identify_waited(&self, waited: Duration) {
        self.time(&names::IDENTIFY_WAIT, Vec::new(), waited);
    }

    /// Counts the people heard at one table, from zero.
    pub fn listeners(&self) -> Listeners {
        Listeners { figures: self.clone(), count: 0 }
    }

    /// Sets what is read at the moment of a request.
    pub fn set_sample(&self, sample: Sample) {
        *self.0.sample.lock().unwrap_or_else(PoisonError::into_inner) = sample;
    }

    fn count(&self, figure: &Figure, labels: Vec<Label>, more: u64) {
        let key = Key::from_parts(figure.name, labels);
        let counter: Counter = self.0.recorder.register_counter(&key, &METADATA);
        counter.increment(more);
    }

    fn time(&self, times: &Times, labels: Vec<Label>, took: Duration) {
        let key = Key::from_parts(times.figure.name, labels);
        self.0.recorder.register_histogram(&key, &METADATA).record(took.as_secs_f64());
        if self.0.times.fetch_add(1, Ordering::Relaxed) % UPKEEP == UPKEEP - 1 {
            self.0.rendered.run_upkeep();
        }
    }
}

fn labels<const N: usize>(all: [(&'static str, &'static str); N]) -> Vec<Label> {
    all.into_iter().map(|(name, value)| Label::from_static_parts(name, value)).collect()
}

/// Rendering.
impl Figures {
    /// All figures as Prometheus' text.
    pub fn render(&self) -> String {
        let mut text = self.0.rendered.render();
        text.push_str(&self.written());
        text
    }

    /// Figures outside the recorder, as Prometheus' text.
    fn written(&self) -> String {
        let mut lines = Lines::default();
        let spent = self.0.spent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !spent.is_empty() {
            lines.begin(&names::SPEND, "counter");
        }
        for ((service, kind), spent) in &spent {
            let value = format!("{}.{:09}", spent / BILLION, spent % BILLION);
            lines.value(&names::SPEND, &[("service", service), ("kind", kind)], value);
        }
        let sample = self.0.sample.lock().unwrap_or_else(PoisonError::into_inner).clone();
        lines.begin(&names::BUILD, "gauge");
        lines.value(&names::BUILD, &[("version", env!("CARGO_PKG_VERSION"))], 1);
        lines.gauge(&names::TABLES, sample.tables);
        lines.gauge(&names::BLOCKED, sample.blocked);
        lines.gauge(&names::LISTENERS, self.0.listeners.load(Ordering::Relaxed));
        lines.gauge(&names::BACKLOG, sample.backlog);
        let labels = &self.0.labels;
        let up = states(labels, "server", &sample.servers, false);
        lines.states(&names::SERVER_UP, "server", &up);
        if !sample.breakers.is_empty() {
            lines.begin(&names::BREAKER_OPEN, "gauge");
        }
        for (kind, services) in &sample.breakers {
            for (name, is_open) in states(labels, "service", services, true) {
                let labels = [("kind", *kind), ("service", &*name)];
                lines.value(&names::BREAKER_OPEN, &labels, u8::from(is_open));
            }
        }
        if let Some(gateway) = self.gateway() {
            lines.gauge(&names::GATEWAY_UP, u8::from(gateway == Gateway::Up));
        }
        self.0.shards.write(&mut lines, sample.since_renewal);
        lines.into_text()
    }
}

/// People who are heard at one table; they stop counting once it is dropped.
pub struct Listeners {
    figures: Figures,
    count: i64,
}

impl Listeners {
    pub fn set(&mut self, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.figures.0.listeners.fetch_add(count - self.count, Ordering::Relaxed);
        self.count = count;
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        self.figures.0.listeners.fetch_sub(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
