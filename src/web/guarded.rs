//! A body that keeps a guard until it is sent. Entry type: [`Guarded`].

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// The body of an answer; drops `guard` when it was sent or given up.
pub struct Guarded<T> {
    body: Body,
    _guard: T,
}

impl<T: Send + Unpin + 'static> Guarded<T> {
    pub fn body(body: Body, guard: T) -> Body {
        Body::new(Self { body, _guard: guard })
    }
}

impl<T: Unpin> HttpBody for Guarded<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
