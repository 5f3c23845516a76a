//! Traces on their way to a collector. Entry type: [`Telemetry`].
//!
//! One task sends what turns have queued. A collector that is away or slow delays this task alone:
//! the queue fills, and further traces are lost.

use std::time::Duration;

use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    campaign::wall_clock,
    config::TelemetryOptions,
    provider::Collector,
    traces::{Queue, Traces},
};

/// Longest wait for the last traces when the program ends.
const FLUSH: Duration = Duration::from_secs(2);

#[derive(Default)]
pub struct Telemetry {
    pub traces: Traces,
    /// `None`: nothing is traced.
    sending: Option<Sending>,
}

struct Sending {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Telemetry {
    /// Without `options` nothing is traced, nor if they cannot be used, which is logged.
    pub fn open(options: Option<&TelemetryOptions>) -> Self {
        let Some(options) = options else { return Self::default() };
        let collector = match Collector::new(&options.otlp.0) {
            Ok(collector) => collector,
            Err(error) => {
                tracing::error!(%error, "no traces are sent (check telemetry.otlp, and whether the \
                                         package ca-certificates is installed)");
                return Self::default();
            }
        };
        let (traces, queue) = Traces::open(options.content, wall_clock);
        let stop = CancellationToken::new();
        let task = tokio::spawn(send(queue, collector, stop.clone()));
        Self { traces, sending: Some(Sending { stop, task }) }
    }

    /// Sends what is queued, for at most two seconds.
    pub async fn close(self) {
        let Some(Sending { stop, mut task }) = self.sending else { return };
        stop.cancel();
        if timeout(FLUSH, &mut task).await.is_err() {
            task.abort();
            tracing::warn!("the last traces were not sent: the collector takes too long");
        }
    }
}

async fn send(mut queue: Queue, collector: Collector, stop: CancellationToken) {
    let mut is_away = false;
    while let Some(Some(body)) = stop.run_until_cancelled(queue.next()).await {
        is_away = deliver(&collector, &body, is_away).await;
        report_lost(&queue);
    }
    queue.close();
    while let Some(body) = queue.next().await {
        is_away = deliver(&collector, &body, is_away).await;
    }
    report_lost(&queue);
}

/// Sends a request; true if the collector does not take it. Logs only the first failure in a row.
async fn deliver(collector: &Collector, body: &[u8], was_away: bool) -> bool {
    match collector.post(body).await {
        Ok(()) => {
            if was_away {
                tracing::info!("the collector takes traces again");
            }
            false
        }
        Err(error) => {
            if !was_away {
                tracing::warn!(%error, "traces are lost: the collector does not take them (check \
                                        telemetry.otlp)");
            }
            true
        }
    }
}

fn report_lost(queue: &Queue) {
    let lost = queue.lost();
    if lost > 0 {
        tracing::warn!(lost, "traces of turns were lost: the collector is too slow");
    }
}

#[cfg(test)]
mod tests {
    use tokio::{net::TcpListener, time::Instant};

    use super::*;
    use crate::{domain::Secret, traces::Root};

    fn root() -> Root {
        let now = Instant::now();
        Root {
            agent: "Bartok".to_owned(),
            began: now,
            ended: now,
            stages: Vec::new(),
            attributes: Vec::new(),
            error: None,
        }
    }

    /// A collector that accepts connections and never answers.
    #[tokio::test(start_paused = true)]
    async fn silent_collector_delays_no_turn() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let otlp = Secret(format!("http://{at}/v1/traces"));
        let telemetry = Telemetry::open(Some(&TelemetryOptions { otlp, content: false }));
        let before = Instant::now();
        for _ in 0..1_000 {
            telemetry.traces.begin("evening").finish(root());
        }
        assert_eq!(before.elapsed(), Duration::ZERO, "queuing waits for nothing");
        let before = Instant::now();
        telemetry.close().await;
        assert!(before.elapsed() <= FLUSH + Duration::from_millis(10));
    }
}
