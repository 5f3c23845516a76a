//! A body that keeps a guard until it is sent. Entry type: [`Guarded`].

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

use super::bounds::time_for;

/// Most bytes that hyper gets at once. It takes the next only when there is space, so a large answer
/// keeps its guard until its reader has taken nearly all.
const PIECE: usize = 64 * 1024;

/// The body of an answer; drops `guard` when it was sent or given up. Fails when its reader is too
/// slow.
pub struct Guarded<T> {
    body: Body,
    /// Rest of a large frame.
    rest: Bytes,
    /// Deadline for taking all of it.
    end: Option<Instant>,
    _guard: T,
}

impl<T: Send + Unpin + 'static> Guarded<T> {
    pub fn body(body: Body, guard: T) -> Body {
        Body::new(Self { body, rest: Bytes::new(), end: None, _guard: guard })
    }
}

impl<T> Guarded<T> {
    /// The next piece of `rest`.
    fn piece(&mut self) -> Result<Frame<Bytes>, axum::Error> {
        if self.end.is_some_and(|end| Instant::now() > end) {
            return Err(axum::Error::new(io::Error::from(io::ErrorKind::TimedOut)));
        }
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        Ok(Frame::data(piece))
    }
}

impl<T: Unpin> HttpBody for Guarded<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Some(self.piece()));
        }
        let next = Pin::new(&mut self.body).poll_frame(context);
        let frame = match next {
            Poll::Ready(Some(Ok(frame))) => frame,
            other => return other,
        };
        match frame.into_data() {
            Ok(data) if data.len() > PIECE => {
                self.end = Some(Instant::now() + time_for(data.len()));
                self.rest = data;
                Poll::Ready(Some(self.piece()))
            }
            Ok(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            Err(other) => Poll::Ready(Some(Ok(other))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (body, rest) =
            (self.body.size_hint(), u64::try_from(self.rest.len()).unwrap_or_default());
        let mut all = SizeHint::new();
        all.set_lower(body.lower().saturating_add(rest));
        if let Some(upper) = body.upper() {
            all.set_upper(upper.saturating_add(rest));
        }
        all
    }
}
