//! Messages of one page, both ways at once. Entry functions: [`exchange`], [`farewell`].
//! `assets/web/socket.js` knows [`REPLACED`].

use std::time::Duration;

use futures::{Sink, SinkExt, Stream, StreamExt};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout, timeout_at},
};
use tokio_tungstenite::tungstenite::{
    Bytes, Error, Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use super::{
    pace::PagePace,
    pages::{PageMessages, PagePlace, PageQueue, PageSent},
    wire::{self, FromPage, ToPage, Unreadable},
};

/// Time for a page's hello.
const HELLO: Duration = Duration::from_secs(10);
/// Interval of pings, which browsers answer by themselves.
const PING: Duration = Duration::from_secs(15);
/// Silence after which a page is gone: three pings.
const SILENCE: Duration = Duration::from_secs(45);
/// Longest wait for one message to leave; its queue mostly runs full before.
const WRITE: Duration = Duration::from_secs(10);

/// Code of a socket whose place another one took; a page that reads it is in another tab.
const REPLACED: u16 = 4000;

/// Reason a page's socket ends, sent to the page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    #[error("the page was closed")]
    Left,
    #[error("the connection broke off")]
    Broken,
    #[error("the message is too long (send at most {} KiB)", wire::MESSAGE_MAX / 1024)]
    Long,
    #[error("the page did not say hello (reload it)")]
    NoHello,
    #[error("the page sends too much at once (reload it)")]
    Fast,
    #[error("the page takes too long to read (reload it)")]
    Slow,
    #[error("the page no longer answers")]
    Silent,
    #[error("the same tab has connected again")]
    Replaced,
    #[error("the table is closed")]
    NoTable,
    #[error("the program ends")]
    Stopped,
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl Ended {
    const fn code(&self) -> CloseCode {
        match self {
            Self::Left | Self::Broken => CloseCode::Normal,
            Self::NoTable | Self::Stopped => CloseCode::Away,
            Self::Long => CloseCode::Size,
            Self::NoHello | Self::Fast | Self::Slow | Self::Silent => CloseCode::Policy,
            Self::Unreadable(_) => CloseCode::Unsupported,
            Self::Replaced => CloseCode::Library(REPLACED),
        }
    }
}

/// Carries messages between a page and the table until one of them ends, or another page has the
/// place.
pub async fn exchange<S>(socket: &mut S, place: PagePlace) -> Ended
where
    S: Stream<Item = Result<Message, Error>> + Sink<Message> + Unpin,
{
    let replaced = place.replaced();
    tokio::select! {
        biased;
        () = replaced.cancelled() => Ended::Replaced,
        ended = carry(socket, place) => ended,
    }
}

async fn carry<S>(socket: &mut S, place: PagePlace) -> Ended
where
    S: Stream<Item = Result<Message, Error>> + Sink<Message> + Unpin,
{
    let mut pace = PagePace::new(Instant::now());
    let name = match timeout(HELLO, hello(socket, &mut pace)).await {
        Ok(Ok(hello)) => hello,
        Ok(Err(ended)) => return ended,
        Err(_) => return Ended::NoHello,
    };
    let Some(queue) = place.join(name).await else { return Ended::NoTable };
    let PageQueue { mut messages, slow, sent } = queue;
    let (mut sink, mut stream) = socket.split();
    tokio::select! {
        ended = read(&mut stream, &mut pace, &sent) => ended,
        ended = write(&mut sink, &mut messages) => ended,
        () = slow.cancelled() => Ended::Slow,
    }
}

/// Tells the page why its socket ends, and waits until the page has closed it, which callers bound.
pub async fn farewell<S>(socket: &mut S, ended: &Ended)
where
    S: Stream<Item = Result<Message, Error>> + Sink<Message> + Unpin,
{
    if matches!(ended, Ended::Left | Ended::Broken) {
        _ = socket.close().await;
        return;
    }
    let bye = ToPage::Bye { reason: ended.to_string() };
    let close = CloseFrame { code: ended.code(), reason: "".into() };
    let bye = serde_json::to_string(&bye).unwrap_or_default();
    for last in [Message::text(bye), Message::Close(Some(close))] {
        if socket.send(last).await.is_err() {
            return;
        }
    }
    while socket.next().await.is_some_and(|message| message.is_ok()) {}
}

/// Name in the first event, which must be a hello.
async fn hello<S>(socket: &mut S, pace: &mut PagePace) -> Result<String, Ended>
where
    S: Stream<Item = Result<Message, Error>> + Unpin,
{
    loop {
        match next(socket, pace).await? {
            Some(PageSent::Event(FromPage::Hello { name, .. })) => return Ok(name),
            Some(_) => return Err(Ended::NoHello),
            None => {}
        }
    }
}

async fn read<S>(socket: &mut S, pace: &mut PagePace, sent: &mpsc::Sender<PageSent>) -> Ended
where
    S: Stream<Item = Result<Message, Error>> + Unpin,
{
    loop {
        match next(socket, pace).await {
            Ok(None) => {}
            Ok(Some(message)) => {
                if sent.send(message).await.is_err() {
                    return Ended::NoTable;
                }
            }
            Err(ended) => return ended,
        }
    }
}

/// The next message of a page; `None`: one that only the protocol needs.
async fn next<S>(socket: &mut S, pace: &mut PagePace) -> Result<Option<PageSent>, Ended>
where
    S: Stream<Item = Result<Message, Error>> + Unpin,
{
    let received = timeout(SILENCE, socket.next()).await.map_err(|_| Ended::Silent)?;
    let message = match received {
        Some(Ok(message)) => message,
        Some(Err(Error::Capacity(_))) => return Err(Ended::Long),
        Some(Err(Error::ConnectionClosed)) | None => return Err(Ended::Left),
        Some(Err(_)) => return Err(Ended::Broken),
    };
    if !pace.take(Instant::now()) {
        return Err(Ended::Fast);
    }
    Ok(match message {
        Message::Text(text) => Some(PageSent::Event(wire::read_event(&text)?)),
        Message::Binary(bytes) => Some(PageSent::Sound(wire::read_sound(&bytes)?)),
        Message::Close(_) => return Err(Ended::Left),
        Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => None,
    })
}

async fn write<S>(socket: &mut S, messages: &mut PageMessages) -> Ended
where
    S: Sink<Message> + Unpin,
{
    let mut ping = Instant::now() + PING;
    loop {
        let message = if Instant::now() >= ping {
            ping = Instant::now() + PING;
            Message::Ping(Bytes::new())
        } else {
            match timeout_at(ping, messages.recv()).await {
                Ok(Some(message)) => message,
                Ok(None) => return Ended::NoTable,
                Err(_) => continue,
            }
        };
        match timeout(WRITE, socket.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Ended::Broken,
            Err(_) => return Ended::Slow,
        }
    }
}
