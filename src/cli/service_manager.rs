//! Notices to the service manager (systemd): that the program is ready, that its runtime answers,
//! and that it stops.
//!
//! Entry type: [`ServiceManager`]. A notice is one datagram to the socket that the manager names
//! (sd_notify(3)); libraries for it read the environment, which this program has overwritten by
//! then. Between two notices of life, the task that sends them and a thread of the runtime must
//! both answer. A slow service or a blocked table therefore never costs a restart; a runtime whose
//! threads all hang does.

use std::{
    io,
    os::{linux::net::SocketAddrExt, unix::net},
    process,
    time::Duration,
};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

const READY: &str = "READY=1";
const ALIVE: &str = "WATCHDOG=1";
const STOPPING: &str = "STOPPING=1";

/// The program that started this one as a service, if any.
pub struct ServiceManager {
    socket: Option<Socket>,
    /// Time between notices of life: half of what the manager waits. `None`: it expects none.
    interval: Option<Duration>,
}

struct Socket {
    socket: net::UnixDatagram,
    address: net::SocketAddr,
}

impl ServiceManager {
    /// The manager that `variable` names, by `NOTIFY_SOCKET` and `WATCHDOG_USEC`. Logs failures.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Self {
        let socket = variable("NOTIFY_SOCKET").and_then(|name| match Socket::open(&name) {
            Ok(socket) => Some(socket),
            Err(error) => {
                tracing::warn!(%error, "cannot notify the service manager");
                None
            }
        });
        // Meant for another process, such as a shell around this one.
        let is_ours = variable("WATCHDOG_PID")
            .is_none_or(|id| id.parse::<u32>().is_ok_and(|id| id == process::id()));
        let waits = variable("WATCHDOG_USEC").filter(|_| is_ours && socket.is_some());
        let waits = waits.and_then(|it| it.parse::<u64>().ok()).filter(|it| *it > 0);
        Self { socket, interval: waits.map(|it| Duration::from_micros(it) / 2) }
    }

    /// Tells that the program is ready, then that it lives, and that it stops once `stop` is
    /// cancelled. Never returns. Poll it on the program's main task.
    pub async fn follow(&self, stop: &CancellationToken) {
        self.tell(READY);
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.tell_alive() => {}
        }
        self.tell(STOPPING);
        std::future::pending::<()>().await;
    }

    async fn tell_alive(&self) {
        let Some(interval) = self.interval else { return std::future::pending().await };
        loop {
            // A task of its own, so that a thread of the runtime has answered.
            if tokio::spawn(async {}).await.is_ok() {
                self.tell(ALIVE);
            }
            sleep(interval).await;
        }
    }

    fn tell(&self, notice: &str) {
        let Some(Socket { socket, address }) = &self.socket else { return };
        if let Err(error) = socket.send_to_addr(notice.as_bytes(), address) {
            tracing::warn!(%error, notice, "cannot notify the service manager");
        }
    }
}

impl Socket {
    /// `name`: a path, or a name without a file after an `@`.
    fn open(name: &str) -> io::Result<Self> {
        let address = match name.strip_prefix('@') {
            Some(name) => net::SocketAddr::from_abstract_name(name)?,
            None => net::SocketAddr::from_pathname(name)?,
        };
        let socket = net::UnixDatagram::unbound()?;
        // A manager that does not read must not stop the program.
        socket.set_nonblocking(true)?;
        Ok(Self { socket, address })
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, pin::pin, sync::mpsc};

    use futures::poll;
    use tokio::{sync::oneshot, time::timeout};

    use super::*;

    /// Longest wait of these tests.
    const BOUND: Duration = Duration::from_secs(60);

    /// A manager's socket at `path`.
    fn bound(path: &Path) -> net::UnixDatagram {
        let told = net::UnixDatagram::bind(path).unwrap();
        told.set_nonblocking(true).unwrap();
        told
    }

    fn found(path: &Path) -> ServiceManager {
        ServiceManager::find(|name| match name {
            "NOTIFY_SOCKET" => Some(path.display().to_string()),
            "WATCHDOG_USEC" => Some("2000".to_owned()),
            "WATCHDOG_PID" => Some(process::id().to_string()),
            _ => None,
        })
    }

    fn read(told: &net::UnixDatagram) -> Option<String> {
        let mut bytes = [0; 64];
        let read = told.recv(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes[..read]).into_owned())
    }

    /// Waits for a notice.
    async fn until(told: &net::UnixDatagram, wanted: &str) {
        let look = async {
            while read(told).as_deref() != Some(wanted) {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(BOUND, look).await.expect("in time");
    }

    #[tokio::test]
    async fn manager_hears_of_life_until_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let (told, manager) = (bound(&path), found(&path));
        let stop = CancellationToken::new();
        let notices = async {
            until(&told, READY).await;
            until(&told, ALIVE).await;
            until(&told, ALIVE).await;
            stop.cancel();
            until(&told, STOPPING).await;
        };
        tokio::select! {
            () = manager.follow(&stop) => {}
            () = notices => {}
        }
        assert_eq!(read(&told), None);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn hanging_runtime_gives_no_sign_of_life() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let (told, manager) = (bound(&path), found(&path));
        let (free, held) = mpsc::channel::<()>();
        let (begun, hangs) = oneshot::channel();
        let hanging = tokio::spawn(async move {
            _ = begun.send(());
            _ = held.recv();
        });
        hangs.await.unwrap();
        let stop = CancellationToken::new();
        let mut following = pin!(manager.follow(&stop));
        assert!(poll!(&mut following).is_pending());
        assert_eq!(read(&told).as_deref(), Some(READY));
        assert!(poll!(&mut following).is_pending());
        assert_eq!(read(&told), None, "no thread has answered");
        drop(free);
        hanging.await.unwrap();
        tokio::select! {
            () = following => {}
            () = until(&told, ALIVE) => {}
        }
    }

    #[test]
    fn watchdog_of_another_process_is_not_served() {
        let find = |id: u32| {
            ServiceManager::find(move |name| match name {
                "NOTIFY_SOCKET" => Some("@nobody-reads-this".to_owned()),
                "WATCHDOG_USEC" => Some("30000000".to_owned()),
                "WATCHDOG_PID" => Some(id.to_string()),
                _ => None,
            })
        };
        assert_eq!(find(process::id()).interval, Some(Duration::from_secs(15)));
        assert_eq!(find(process::id() + 1).interval, None);
        let alone = ServiceManager::find(|_| None);
        assert!(alone.socket.is_none() && alone.interval.is_none());
        alone.tell(READY);
    }
}
