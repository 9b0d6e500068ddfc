//! Bodies of responses: pieces that are there, or lines that are still to come.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::mpsc;

/// Returns a body of several chunks, so that a large one need not be copied between two small ones.
pub(super) fn from_chunks<const N: usize>(pieces: [Bytes; N]) -> Body {
    Body::new(ChunkedBody(pieces.into_iter().filter(|piece| !piece.is_empty()).collect()))
}

/// What a channel brings, until its other end is dropped.
pub(super) fn from_channel(receiver: mpsc::Receiver<Bytes>) -> Body {
    Body::new(ChannelBody(receiver))
}

/// A body that keeps something until it was sent, or nobody wants it any more.
pub(super) fn with_guard(body: Body, kept: impl Send + Unpin + 'static) -> Body {
    Body::new(GuardedBody { body, _kept: kept })
}

struct ChunkedBody(VecDeque<Bytes>);

impl HttpBody for ChunkedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}

struct ChannelBody(mpsc::Receiver<Bytes>);

impl HttpBody for ChannelBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

struct GuardedBody<T> {
    body: Body,
    _kept: T,
}

impl<T: Unpin> HttpBody for GuardedBody<T> {
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
