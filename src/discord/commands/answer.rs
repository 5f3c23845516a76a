//! Answer of a command or a button, immediate or after some work.
//!
//! Entry type: [`Answer`]. **Never**: sends it.

use futures::{FutureExt, future::BoxFuture};
use serenity::all::CreateModal;

pub use crate::commands::Refusal;
use crate::discord::{guild::Guild, ui::reply::Reply};

/// Applies the result of some work.
pub type Then = Box<dyn FnOnce(&mut Guild) -> Reply + Send>;

/// Chooses the answer from the result of some work.
pub type Next = Box<dyn FnOnce(&mut Guild) -> Result<Answer, Refusal> + Send>;

pub enum Answer {
    Now(Reply),
    /// An answer that waits for the table or the memory, which reply before Discord gives up.
    Soon(BoxFuture<'static, Next>),
    Later {
        /// Visible to everyone.
        public: bool,
        work: BoxFuture<'static, Then>,
    },
    /// A reply that replaces the message of the pressed button.
    Replace(Reply),
    Form(CreateModal),
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Now(reply)
    }
}

impl Answer {
    /// Reply of `work`, visible to the asker only.
    pub fn later(work: impl Future<Output = Reply> + Send + 'static) -> Self {
        Self::later_for(false, work)
    }

    /// Reply of `work`, visible to everyone if `public`.
    pub fn later_for(public: bool, work: impl Future<Output = Reply> + Send + 'static) -> Self {
        let work = work.map(|reply| Box::new(move |_: &mut Guild| reply) as Then);
        Self::Later { public, work: work.boxed() }
    }

    /// Reply of `then` to the result of `work`, visible to the asker only.
    pub fn after<T: Send + 'static>(
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut Guild, T) -> Reply + Send + 'static,
    ) -> Self {
        let work = work.map(|done| Box::new(move |guild: &mut Guild| then(guild, done)) as Then);
        Self::Later { public: false, work: work.boxed() }
    }

    /// Answer of `then` to the result of `work`, which ends before Discord gives up.
    pub fn soon<T: Send + 'static>(
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut Guild, T) -> Result<Self, Refusal> + Send + 'static,
    ) -> Self {
        let work = work.map(|done| Box::new(move |guild: &mut Guild| then(guild, done)) as Next);
        Self::Soon(work.boxed())
    }
}
