//! A test's view of the voice server.
//!
//! Entry: [`Counts`] of one user, [`GroupStatus`] of one channel.
//! Never changes anything.

use std::collections::BTreeSet;

/// Counts of one user's packets and messages since it was admitted; a new seat starts again at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// RTP packets of this user that were accepted.
    pub packets_in: u64,
    /// RTP packets of others sent to this user.
    pub packets_out: u64,
    /// Of `packets_in`: encrypted end to end.
    pub dave_frames: u64,
    /// Of `packets_in`: neither encrypted end to end nor a silence frame.
    pub plain_frames: u64,
    /// Of `packets_in`: the frame that says silence, which is never encrypted end to end.
    pub silence_frames: u64,
    /// Packets sent before the first speaking update; 100 ms after the first they reach no user.
    pub before_speaking: u64,
    /// Packets from the client's address that did not decrypt; they reach no user.
    pub undecryptable: u64,
    /// Packets with this user's SSRC that came from another address; they reach no user.
    pub misplaced: u64,
    /// Packets of this user that [`Faults`](crate::Faults) or a cut swallowed.
    pub lost: u64,
    /// UDP keepalives, which were echoed.
    pub keepalives: u64,
    /// Heartbeats on the voice gateway.
    pub heartbeats: u64,
    /// Speaking updates.
    pub speaking_updates: u64,
    /// Successful IDENTIFYs.
    pub identified: u64,
    /// Successful RESUMEs.
    pub resumed: u64,
}

/// The DAVE group of one voice channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupStatus {
    /// 0 without DAVE.
    pub version: u16,
    /// Commits since the group was founded.
    pub epoch: u64,
    /// Its members.
    pub members: BTreeSet<u64>,
    /// Transitions that were executed (op 22), over all groups of this channel.
    pub transitions: u64,
    /// Commits and welcomes that clients refused (op 31).
    pub refused: u64,
}
