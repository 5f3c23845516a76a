//! Answer of a command or a button, at once or when some work is done.
//!
//! Entry type: [`Answer`]. **Never**: sends it.

use futures::{FutureExt, future::BoxFuture};
use serenity::all::CreateModal;

pub use crate::commands::Refusal;
use crate::discord::{guild::Guild, ui::reply::Reply};

/// Puts the result of some work in place.
pub type Then = Box<dyn FnOnce(&mut Guild) -> Reply + Send>;

/// Answers once it is known how something stands.
pub type Next = Box<dyn FnOnce(&mut Guild) -> Result<Answer, Refusal> + Send>;

/// Answer of a command.
pub enum Answer {
    /// A reply at once.
    Now(Reply),
    /// An answer that depends on the table or the memory, which report well before Discord gives up waiting.
    Soon(BoxFuture<'static, Next>),
    /// A reply when some work is done.
    Later {
        /// Everybody sees the answer.
        public: bool,
        /// The work; cancelled when the bot stops.
        work: BoxFuture<'static, Then>,
    },
    /// A reply in the place of the message whose button was pressed.
    Replace(Reply),
    /// A form to fill in.
    Form(CreateModal),
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Now(reply)
    }
}

impl Answer {
    /// Reply of `work`, for the asker alone.
    pub fn later(work: impl Future<Output = Reply> + Send + 'static) -> Self {
        Self::later_for(false, work)
    }

    /// Reply of `work`, for everyone where `public`.
    pub fn later_for(public: bool, work: impl Future<Output = Reply> + Send + 'static) -> Self {
        let work = work.map(|reply| Box::new(move |_: &mut Guild| reply) as Then);
        Self::Later { public, work: work.boxed() }
    }

    /// Reply that `then` makes of the guild and the result of `work`, for the asker alone.
    pub fn after<T: Send + 'static>(
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut Guild, T) -> Reply + Send + 'static,
    ) -> Self {
        let work = work.map(|done| Box::new(move |guild: &mut Guild| then(guild, done)) as Then);
        Self::Later { public: false, work: work.boxed() }
    }

    /// Answer that `then` makes of the result of `work`, which is there before Discord gives up waiting.
    pub fn soon<T: Send + 'static>(
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut Guild, T) -> Result<Self, Refusal> + Send + 'static,
    ) -> Self {
        let work = work.map(|done| Box::new(move |guild: &mut Guild| then(guild, done)) as Next);
        Self::Soon(work.boxed())
    }
}
