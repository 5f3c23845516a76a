//! A service on loopback with a thread and a runtime of its own, which paused time in a test does not
//! touch.
//!
//! Entry type: [`OwnThread`]; the service ends when it is dropped.

use std::{net::SocketAddr, thread::JoinHandle};

use tokio::{net::TcpListener, sync::oneshot};

/// A service that runs.
pub struct OwnThread {
    /// Address at which it listens.
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OwnThread {
    /// Listens on a free port; `serve` takes its connections.
    pub fn serving<S: Future<Output = ()>>(
        serve: impl FnOnce(TcpListener) -> S + Send + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = TcpListener::from_std(listener).expect("a listener");
                tokio::select! {
                    () = serve(listener) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
