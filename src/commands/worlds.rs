//! The worlds of campaigns as commands reach them through a face.
//!
//! Entry type: [`Worlds`]. **Never**: decides who may change a world.

use futures::future::BoxFuture;

use super::text::{Refusal, Text};
use crate::campaign::{PlayedCampaign, WorldAnswer, WorldOrder};

/// An order about a world, once what belongs to it is known.
pub type OrderSoon = BoxFuture<'static, Result<WorldOrder, Refusal>>;

/// Result of an order about a world.
pub type WorldSoon = BoxFuture<'static, Result<WorldAnswer, Refusal>>;

/// Campaigns of a face.
pub struct Campaigns {
    /// Name of the one that is played.
    pub played: String,
    /// Names of all that may be played, the configured one first.
    pub all: Vec<String>,
    /// Reason why only the configured one can be played here, with the way out.
    pub fixed: Option<&'static str>,
}

/// A campaign that is to be played.
pub enum Chosen {
    /// The configured one.
    Configured,
    /// The known one of this name.
    Known(String),
    /// One whose file was loaded just now.
    Loaded(PlayedCampaign),
}

/// Worlds and campaigns of a face.
pub trait Worlds {
    /// Carries `order` out in the world of the campaign that is played as this is called.
    ///
    /// # Errors
    /// The future's: the order's own, a fault of it, or of the store.
    fn world(&mut self, order: OrderSoon) -> WorldSoon;

    /// Like [`Self::world`] for an order that fetches a file first: one file at a time where many may
    /// send some.
    ///
    /// # Errors
    /// Those of [`Self::world`].
    fn world_of_file(&mut self, order: OrderSoon) -> WorldSoon {
        self.world(order)
    }

    /// Takes the names that an order has led to, where the face offers names.
    fn learn(&mut self, _answer: &WorldAnswer) {}

    /// True if no other tables than those of this face have its NPCs.
    fn has_own_cast(&self) -> bool {
        true
    }

    /// The campaigns of this face.
    fn campaigns(&self) -> Campaigns;

    /// Plays `chosen`, where the face can; says from when on, or what to do instead.
    fn play(&mut self, chosen: Chosen) -> Text;
}
