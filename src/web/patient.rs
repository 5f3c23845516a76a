//! A socket whose writes fail when its client takes nothing, or too little, for too long.
//!
//! Entry type: [`Patient`].

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

use super::bounds::time_for;

/// Fails a write that has made no progress for `limit`, or whose client takes too little on average,
/// from the first write that waited until everything is written.
pub struct Patient<S> {
    socket: S,
    limit: Duration,
    /// Since when writes have had to wait, and the bytes that were taken meanwhile.
    slow: Option<(Instant, usize)>,
    /// Set while a write waits.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub const fn new(socket: S, limit: Duration) -> Self {
        Self { socket, limit, slow: None, end: None }
    }

    /// `written`, or the failure of a write that waits for too long.
    fn bounded<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let (now, limit) = (Instant::now(), self.limit);
        let (since, taken) = *self.slow.get_or_insert((now, 0));
        let end = self.end.get_or_insert_with(|| {
            let until = (now + limit).min(since + time_for(taken));
            Box::pin(tokio::time::sleep_until(until))
        });
        match end.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Like [`Self::bounded`], for a write of some bytes.
    fn counted(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if let (Poll::Ready(Ok(bytes)), Some((_, taken))) = (&written, &mut self.slow) {
            *taken = taken.saturating_add(*bytes);
        }
        self.bounded(written, context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.counted(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, pieces);
        self.counted(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(context);
        if flushed.is_ready() {
            self.slow = None;
        }
        self.bounded(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.socket).poll_shutdown(context);
        self.bounded(shut, context)
    }
}
