//! Requests to end, by Ctrl-C or the system. Entry function: [`ended`].

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::complain;

/// Cancels `stop` once `following` ends or a signal asks the program to end; returns at the next
/// signal.
pub async fn ended(following: impl Future<Output = ()>, stop: &CancellationToken) {
    tokio::select! {
        () = following => {}
        () = told_to_end() => {}
    }
    complain("shutting down; sessions are closed first (press Ctrl-C again to stop at once)");
    stop.cancel();
    // A second signal ends the program at once.
    told_to_end().await;
}

/// Waits for Ctrl-C or the system's request to end; forever if signals cannot be received.
async fn told_to_end() {
    if let Err(error) = signalled().await {
        tracing::error!(%error, "cannot listen for signals");
        std::future::pending::<()>().await;
    }
}

async fn signalled() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}
