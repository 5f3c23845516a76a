//! Connected pages, up to a bound. Entry types: [`Pages`], [`Page`].
//!
//! A page first takes a [`PagePlace`], then says hello; then the table gets it as [`Joined`], with
//! what it sends from then on. That ends once its socket is closed. Its messages wait in a
//! queue; a page that lets it run full is too slow, and its socket is closed. Music does not fill
//! it: it has a small part of its own, beyond which it is dropped. A connection may be lost without
//! an end; a page that comes back in the same tab of the same browser ends it, and is the same
//! player once that one has left the table.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::body::Bytes;
use tokio::sync::{
    Notify,
    mpsc::{self, error::TrySendError},
};
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use super::wire::{FromPage, MUSIC_BYTES, ToPage};
use crate::web::pages::Pass;

/// Messages that wait for a page before music is dropped: half a second of it, more than pages
/// play.
const MUSIC: usize = 25;
/// Messages that wait for a page: five seconds of sound, and music.
const QUEUE: usize = 256 + MUSIC;
/// Bytes that wait for a page: that much sound, and several explanations of the longest answers, of
/// 200 KB each.
const BYTES: usize = 2 * 1024 * 1024 + MUSIC * MUSIC_BYTES;
/// Messages of a page that wait for the table; the longest, a typed line, has 16 KB.
const SENT: usize = 64;

/// All pages of a program. Cloning shares them.
#[derive(Clone)]
pub struct Pages(Arc<Shared>);

struct Shared {
    most: usize,
    /// Start of the program, as Unix time in ms.
    since: i64,
    newcomers: mpsc::Sender<Joined>,
    open: Mutex<Open>,
    /// Woken when a place is free again.
    freed: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// Places, by page.
    taken: BTreeMap<u64, Taken>,
    /// Browsers that had a page in this run.
    known: BTreeSet<String>,
}

struct Taken {
    /// Number of the player.
    player: u32,
    browser: String,
    /// Random name of its tab; `None`: it has given none.
    tab: Option<String>,
    /// Cancelled once a later page has the player.
    replaced: CancellationToken,
}

/// A page's place, free again once dropped. A player has it until the table knows that they left:
/// a page that came sooner would be taken for them.
pub struct PagePlace {
    shared: Arc<Shared>,
    id: u64,
    /// No other page has this number now, but for those that this one replaces.
    player: u32,
    browser: String,
    again: bool,
    replaced: CancellationToken,
}

/// A page that has said hello.
pub struct Joined {
    pub page: Page,
    pub name: String,
    /// Random name of its browser.
    pub browser: String,
    /// Its browser was here before, perhaps before the program was restarted.
    pub again: bool,
    /// Messages from it; ends with its socket.
    pub sent: mpsc::Receiver<PageSent>,
    pub place: PagePlace,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageSent {
    Event(FromPage),
    /// 20 ms, mono at 16 kHz.
    Sound(Vec<i16>),
}

/// The way to a page. Its socket is closed once all clones are dropped.
#[derive(Clone, Debug)]
pub struct Page {
    /// Never used again in a run.
    pub id: u64,
    /// Number of the player, from 1; a reloaded page mostly has it again.
    pub player: u32,
    queue: mpsc::Sender<Message>,
    waiting: Arc<AtomicUsize>,
    slow: CancellationToken,
}

/// The socket's side of a [`Page`].
pub struct PageQueue {
    pub messages: PageMessages,
    /// Cancelled once the page was too slow.
    pub slow: CancellationToken,
    pub sent: mpsc::Sender<PageSent>,
}

/// Messages that wait for a page.
pub struct PageMessages {
    queue: mpsc::Receiver<Message>,
    /// Their bytes.
    waiting: Arc<AtomicUsize>,
}

impl PageMessages {
    /// The next message; `None`: all of [`Page`] are dropped. Cancel safe.
    pub async fn recv(&mut self) -> Option<Message> {
        let message = self.queue.recv().await?;
        self.waiting.fetch_sub(message.len(), Ordering::Relaxed);
        Some(message)
    }

    /// A message that has come.
    #[cfg(test)]
    pub fn now(&mut self) -> Option<Message> {
        let message = self.queue.try_recv().ok()?;
        self.waiting.fetch_sub(message.len(), Ordering::Relaxed);
        Some(message)
    }
}

impl Pages {
    /// At most `most` at a time; `since`: start of the program, as Unix time in ms.
    pub fn new(most: usize, since: i64) -> (Self, mpsc::Receiver<Joined>) {
        let (newcomers, joined) = mpsc::channel(most.max(1));
        let (open, freed) = (Mutex::default(), Notify::new());
        let shared = Shared { most, since, newcomers, open, freed };
        (Self(Arc::new(shared)), joined)
    }

    /// Pages that may be connected at a time.
    pub fn most(&self) -> usize {
        self.0.most
    }

    /// A place for a page of the browser with `pass` in `tab`: that of its earlier connection, which
    /// ends, or a free one; `None`: all are taken.
    pub fn admit(&self, pass: &Pass, tab: Option<&str>) -> Option<PagePlace> {
        let mut open = self.0.open();
        let player = match open.replace(&pass.session, tab) {
            Some(player) => player,
            None => open.newcomer(pass.player, self.0.most)?,
        };
        let is_known = !open.known.insert(pass.session.clone());
        let again = is_known || pass.issued < self.0.since;
        let id = open.next;
        open.next += 1;
        let (browser, replaced) = (pass.session.clone(), CancellationToken::new());
        let (tab, ends) = (tab.map(str::to_owned), replaced.clone());
        open.taken.insert(id, Taken { player, browser: browser.clone(), tab, replaced: ends });
        drop(open);
        Some(PagePlace { shared: Arc::clone(&self.0), id, player, browser, again, replaced })
    }
}

impl Open {
    /// Ends the connection of this browser's tab; returns the number of its player.
    fn replace(&self, browser: &str, tab: Option<&str>) -> Option<u32> {
        let tab = tab?;
        let is_same = |it: &&Taken| it.browser == browser && it.tab.as_deref() == Some(tab);
        let earlier = self.taken.values().find(|it| is_same(it) && !it.replaced.is_cancelled())?;
        earlier.replaced.cancel();
        Some(earlier.player)
    }

    /// Number of another player, `wanted` if it is free; `None`: `most` are here.
    fn newcomer(&self, wanted: u32, most: usize) -> Option<u32> {
        let here = self.taken.values().filter(|it| !it.replaced.is_cancelled());
        if here.count() >= most {
            return None;
        }
        let is_free = |player: &u32| !self.taken.values().any(|it| it.player == *player);
        [wanted].into_iter().chain(1..).find(is_free)
    }

    /// True while an earlier page than `id` has its player.
    fn has_earlier(&self, id: u64, player: u32) -> bool {
        self.taken.range(..id).any(|(_, it)| it.player == player)
    }
}

impl PagePlace {
    /// Cancelled once a page of the same tab has come in place of this one.
    pub fn replaced(&self) -> CancellationToken {
        self.replaced.clone()
    }

    /// Hands the page to the table, once those that it replaces have left; `None`: no table takes
    /// pages any more. Cancel safe.
    pub async fn join(self, name: String) -> Option<PageQueue> {
        loop {
            let freed = self.shared.freed.notified();
            if !self.shared.open().has_earlier(self.id, self.player) {
                break;
            }
            freed.await;
        }
        let (queue, messages) = mpsc::channel(QUEUE);
        let waiting = Arc::<AtomicUsize>::default();
        let messages = PageMessages { queue: messages, waiting: Arc::clone(&waiting) };
        let (sender, sent) = mpsc::channel(SENT);
        let slow = CancellationToken::new();
        let page = Page { id: self.id, player: self.player, queue, waiting, slow: slow.clone() };
        let (newcomers, browser) = (self.shared.newcomers.clone(), self.browser.clone());
        let joined = Joined { page, name, browser, again: self.again, sent, place: self };
        newcomers.send(joined).await.ok()?;
        Some(PageQueue { messages, slow, sent: sender })
    }
}

impl Drop for PagePlace {
    fn drop(&mut self) {
        self.shared.open().taken.remove(&self.id);
        self.shared.freed.notify_waiters();
    }
}

/// An event as pages get it; `None`: it cannot be written, which is logged.
pub fn written(event: &ToPage) -> Option<Message> {
    match serde_json::to_string(event) {
        Ok(text) => Some(Message::text(text)),
        Err(error) => {
            tracing::error!(%error, "cannot write an event for pages");
            None
        }
    }
}

impl Page {
    /// Sends an event, behind all that was sent before; false if the page is gone or too slow.
    pub fn send(&self, event: &ToPage) -> bool {
        written(event).is_some_and(|message| self.queue(message))
    }

    /// Like [`Self::send`], for an event that is [`written`] once for many pages, which share its
    /// bytes.
    pub fn send_written(&self, event: Message) -> bool {
        self.queue(event)
    }

    /// Sends sound as of [`super::wire::sound`]; false if the page is gone or too slow.
    pub fn sound(&self, samples: Bytes) -> bool {
        self.queue(Message::Binary(samples))
    }

    /// Sends music as of [`super::wire::music`], unless too much waits: it never takes the place of
    /// speech or events.
    pub fn music(&self, samples: Bytes) {
        let is_behind = QUEUE.saturating_sub(self.queue.capacity()) >= MUSIC
            || self.waiting.load(Ordering::Relaxed) > BYTES / 2;
        if !is_behind {
            self.queue(Message::Binary(samples));
        }
    }

    fn queue(&self, message: Message) -> bool {
        let bytes = message.len();
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let queued = match waiting <= BYTES {
            true => self.queue.try_send(message),
            false => Err(TrySendError::Full(message)),
        };
        if queued.is_err() {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
        }
        if let Err(TrySendError::Full(_)) = queued {
            self.slow.cancel();
        }
        queued.is_ok()
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::*;

    fn pass(session: &str, player: u32, issued: i64) -> Pass {
        Pass { session: session.to_owned(), player, issued }
    }

    #[test]
    fn player_is_found_again_or_is_a_new_one() {
        let (pages, _joined) = Pages::new(3, 1_000);
        let ada = pages.admit(&pass("ada", 1, 2_000), None).unwrap();
        assert_eq!((ada.player, ada.again), (1, false));
        let beside = pages.admit(&pass("ada", 1, 2_000), None).unwrap();
        assert_eq!((beside.player, beside.again), (2, true), "a second page of one browser");
        let earlier = pages.admit(&pass("ben", 2, 500), None).unwrap();
        assert_eq!((earlier.player, earlier.again), (3, true), "of an earlier run");
        assert!(pages.admit(&pass("cid", 7, 2_000), None).is_none(), "all places are taken");
        drop(ada);
        let back = pages.admit(&pass("ada", 1, 2_000), None).unwrap();
        assert_eq!((back.player, back.again), (1, true));
    }

    #[test]
    fn tab_takes_its_own_place_over() {
        let (pages, _joined) = Pages::new(2, 0);
        let admit = |browser, tab| pages.admit(&pass(browser, 1, 1), Some(tab));
        let lost = admit("ada", "a").unwrap();
        let beside = admit("ada", "b").unwrap();
        assert!(admit("ben", "a").is_none(), "another browser's tab is another one");
        // It needs no free place.
        let back = admit("ada", "a").unwrap();
        assert_eq!((lost.player, beside.player, back.player), (1, 2, 1));
        assert!(lost.replaced().is_cancelled());
        assert!(!back.replaced().is_cancelled() && !beside.replaced().is_cancelled());
        assert!(admit("ben", "c").is_none(), "no place was gained");
        drop((lost, back));
        assert_eq!(admit("ben", "c").unwrap().player, 1);
    }

    #[tokio::test]
    async fn returned_page_waits_until_its_player_has_left() {
        let (pages, mut joined) = Pages::new(1, 0);
        let admit = || pages.admit(&pass("ada", 1, 1), Some("a")).unwrap();
        let queue = admit().join("Ada".to_owned()).await.unwrap();
        let lost = joined.recv().await.unwrap();
        let between = admit();
        let mut back = Box::pin(admit().join("Ada".to_owned()));
        assert!(poll!(&mut back).is_pending());
        drop(between);
        assert!(poll!(&mut back).is_pending(), "the first one is still at the table");
        drop((queue, lost));
        assert!(back.await.is_some());
        assert_eq!(joined.recv().await.unwrap().page.player, 1);
    }

    #[tokio::test]
    async fn page_that_takes_nothing_is_too_slow() {
        let (pages, mut joined) = Pages::new(1, 0);
        let place = pages.admit(&pass("ada", 1, 1), None).unwrap();
        let queue = place.join("Ada".to_owned()).await.unwrap();
        let Joined { page, place, .. } = joined.recv().await.unwrap();
        assert!(pages.admit(&pass("ben", 1, 1), None).is_none(), "it has the place");
        drop(place);
        assert!(pages.admit(&pass("ben", 1, 1), None).is_some());
        for _ in 0..QUEUE {
            assert!(page.sound(Bytes::from_static(&[0; 1_920])));
        }
        assert!(!queue.slow.is_cancelled());
        assert!(!page.send(&ToPage::Card { on: true }));
        assert!(queue.slow.is_cancelled());
        drop(queue);
        assert!(!page.sound(Bytes::new()), "it is gone");
    }

    #[tokio::test]
    async fn long_messages_fill_a_queue_too() {
        let (pages, mut joined) = Pages::new(1, 0);
        let place = pages.admit(&pass("ada", 1, 1), None).unwrap();
        let mut queue = place.join("Ada".to_owned()).await.unwrap();
        let Joined { page, .. } = joined.recv().await.unwrap();
        let long = Bytes::from(vec![0; BYTES / 2]);
        for _ in 0..10 {
            assert!(page.sound(long.clone()) && page.sound(long.clone()));
            assert!(queue.messages.recv().await.is_some());
            assert!(queue.messages.recv().await.is_some());
        }
        assert!(page.sound(long.clone()) && page.sound(long));
        assert!(!page.send(&ToPage::Card { on: true }) && queue.slow.is_cancelled());
    }

    #[tokio::test]
    async fn full_queue_drops_music_alone() {
        let (pages, mut joined) = Pages::new(1, 0);
        let place = pages.admit(&pass("ada", 1, 1), None).unwrap();
        let mut queue = place.join("Ada".to_owned()).await.unwrap();
        let Joined { page, .. } = joined.recv().await.unwrap();
        let music = || page.music(Bytes::from_static(&[0; MUSIC_BYTES]));
        (0..2 * QUEUE).for_each(|_| music());
        for _ in 0..QUEUE - MUSIC - 1 {
            assert!(page.sound(Bytes::from_static(&[0; 1_920])));
            music();
        }
        assert!(page.send(&ToPage::Card { on: true }) && !queue.slow.is_cancelled());
        let sent: Vec<_> = std::iter::from_fn(|| queue.messages.now()).collect();
        let is_music = |it: &&Message| it.len() == MUSIC_BYTES;
        assert_eq!((sent.iter().filter(is_music).count(), sent.len()), (MUSIC, QUEUE));
        // A long explanation is on its way.
        assert!(page.sound(Bytes::from(vec![0; BYTES / 2 + 1])));
        music();
        assert!(queue.messages.now().is_some() && queue.messages.now().is_none());
        music();
        assert!(queue.messages.now().is_some(), "it goes on");
    }

    #[tokio::test]
    async fn no_page_joins_without_a_table() {
        let (pages, joined) = Pages::new(1, 0);
        drop(joined);
        let place = pages.admit(&pass("ada", 1, 1), None).unwrap();
        assert!(place.join("Ada".to_owned()).await.is_none());
    }
}
