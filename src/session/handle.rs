//! Handles of an open table for its owner. Entry types: [`TableHandle`], [`Conversations`].

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::{
    Command, VoiceInput, continuation::Continuation, explanations::Explanations, seats::Seated,
};
use crate::domain::Message;

#[derive(Clone, Debug)]
pub struct TableHandle {
    /// Queue of sound; see [`VoiceInput`].
    pub voice: mpsc::Sender<VoiceInput>,
    pub commands: mpsc::Sender<Command>,
    pub seated: watch::Receiver<Arc<[Seated]>>,
    /// `None`: the table doesn't explain its answers.
    pub explanations: Option<Explanations>,
}

/// The state of a closed table.
#[derive(Debug, Default)]
pub struct Conversations {
    pub histories: Vec<(String, Vec<Message>)>,
    pub continuation: Continuation,
}
