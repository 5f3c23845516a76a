//! A TCP proxy in front of a PostgreSQL. While it is cut it holds everything back, as a network does
//! that loses each packet.
//!
//! Entry type: [`Wire`]. **Never**: loses what it holds back.

use std::path::PathBuf;

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
    sync::watch,
    task::JoinSet,
};

use crate::support::own_thread::OwnThread;

/// A proxy, which ends when it is dropped.
pub struct Wire {
    thread: OwnThread,
    cut: watch::Sender<bool>,
}

impl Wire {
    /// Leads to the server behind `socket`.
    pub fn to(socket: PathBuf) -> Self {
        let (cut, is_cut) = watch::channel(false);
        let thread = OwnThread::serving(move |listener| serve(listener, socket, is_cut));
        Self { thread, cut }
    }

    /// Address of the server's own database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.thread.address)
    }

    /// Cuts it, or mends it.
    pub fn set_cut(&self, cut: bool) {
        self.cut.send_replace(cut);
    }
}

async fn serve(listener: TcpListener, socket: PathBuf, is_cut: watch::Receiver<bool>) {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (near, _) = accepted.expect("a connection");
                open.spawn(join(near, socket.clone(), is_cut.clone()));
            }
            Some(_) = open.join_next() => {}
        }
    }
}

/// Carries bytes both ways until one side closes.
async fn join(near: TcpStream, socket: PathBuf, is_cut: watch::Receiver<bool>) {
    // A server that is down refuses, as it would without a proxy.
    let Ok(far) = UnixStream::connect(socket).await else { return };
    _ = near.set_nodelay(true);
    let ((from_near, to_near), (from_far, to_far)) = (near.into_split(), far.into_split());
    tokio::select! {
        () = carry(from_near, to_far, is_cut.clone()) => {}
        () = carry(from_far, to_near, is_cut) => {}
    }
}

async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut is_cut: watch::Receiver<bool>,
) {
    let mut piece = vec![0; 16 * 1024];
    loop {
        let Ok(length @ 1..) = from.read(&mut piece).await else { return };
        let is_gone = is_cut.wait_for(|is_cut| !*is_cut).await.is_err();
        if is_gone || to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
