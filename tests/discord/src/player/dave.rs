//! End-to-end encryption as a player's client speaks it.
//!
//! Entry: [`Dave::json`] and [`Dave::binary`] take a message of the server and return the answers;
//! [`Dave::seal`] and [`Dave::open`] are for frames.
//! Never sends plain sound in an encrypted call.

use davey::{DaveSession, MediaType, OPUS_SILENCE_PACKET, ProposalsOperationType};
use serde_json::{Value, json};
use std::{
    collections::{BTreeSet, HashMap},
    num::NonZeroU16,
};

/// The end of every frame that is encrypted end to end.
const MARK: [u8; 2] = [0xfa, 0xfa];

/// An answer to the server.
pub(super) enum Answer {
    /// JSON with an op.
    Json(u8, Value),
    /// Binary with an op.
    Binary(u8, Vec<u8>),
}

/// The end-to-end encryption of one connection.
#[derive(Default)]
pub(super) struct Dave {
    /// Own user and channel.
    who: (u64, u64),
    /// 0 without DAVE.
    version: u16,
    /// From the first version on.
    session: Option<DaveSession>,
    /// Versions by announced transition, until the server says go.
    pending: HashMap<u16, u16>,
    /// Users that may be proposed.
    pub(super) recognised: BTreeSet<u64>,
}

impl Dave {
    /// For a new connection.
    pub(super) fn new(user: u64, channel: u64) -> Self {
        let recognised = BTreeSet::from([user]);
        Self { who: (user, channel), recognised, ..Self::default() }
    }

    /// The version spoken.
    pub(super) const fn version(&self) -> u16 {
        self.version
    }

    /// Members of the group, if keys are there.
    pub(super) fn members(&self) -> Vec<u64> {
        let ready = self.session.as_ref().filter(|session| session.is_ready());
        ready.and_then(DaveSession::get_user_ids).unwrap_or_default()
    }

    /// True if all members have the keys of what was announced: the server says go once they do.
    pub(super) fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }

    /// The session begins, or begins again; the answer is a key package.
    pub(super) fn begin(&mut self, version: u64) -> anyhow::Result<Vec<Answer>> {
        self.pending.clear();
        self.version = u16::try_from(version)?;
        let Some(version) = NonZeroU16::new(self.version) else { return Ok(Vec::new()) };
        let (user, channel) = self.who;
        match &mut self.session {
            Some(session) => session.reinit(version, user, channel, None)?,
            None => self.session = Some(DaveSession::new(version, user, channel, None)?),
        }
        let package = self.session.as_mut().map(DaveSession::create_key_package).transpose()?;
        Ok(package.map(|package| Answer::Binary(26, package)).into_iter().collect())
    }

    /// Ops 21, 22 and 24.
    pub(super) fn json(&mut self, op: u64, d: &Value) -> anyhow::Result<Vec<Answer>> {
        let number = |key: &str| d[key].as_u64().and_then(|number| u16::try_from(number).ok());
        let id = number("transition_id").unwrap_or_default();
        match op {
            21 => {
                let version = number("protocol_version").unwrap_or_default();
                self.pending.insert(id, version);
                if let Some(session) = self.session.as_mut().filter(|_| version == 0) {
                    session.set_passthrough_mode(true, Some(120));
                }
                Ok(vec![ready(id)])
            }
            22 => {
                if let Some(version) = self.pending.remove(&id) {
                    self.version = version;
                }
                Ok(Vec::new())
            }
            24 if d["epoch"] == 1 => self.begin(d["protocol_version"].as_u64().unwrap_or_default()),
            _ => Ok(Vec::new()),
        }
    }

    /// Ops 25, 27, 29 and 30.
    pub(super) fn binary(&mut self, op: u8, body: &[u8]) -> anyhow::Result<Vec<Answer>> {
        let Some(session) = &mut self.session else { return Ok(Vec::new()) };
        match (op, body) {
            (25, package) => {
                session.set_external_sender(package)?;
                Ok(Vec::new())
            }
            (27, [kind, proposals @ ..]) => {
                let kind = match kind {
                    0 => ProposalsOperationType::APPEND,
                    _ => ProposalsOperationType::REVOKE,
                };
                let known: Vec<u64> = self.recognised.iter().copied().collect();
                let commit = session.process_proposals(kind, proposals, Some(&known))?;
                let body =
                    commit.map(|made| [made.commit, made.welcome.unwrap_or_default()].concat());
                Ok(body.map(|body| Answer::Binary(28, body)).into_iter().collect())
            }
            (29 | 30, [high, low, message @ ..]) => {
                let id = u16::from_be_bytes([*high, *low]);
                let read = match op {
                    29 => session.process_commit(message).map_err(anyhow::Error::from),
                    _ => session.process_welcome(message).map_err(anyhow::Error::from),
                };
                if let Err(error) = read {
                    tracing::debug!(%error, op, "a player could not read what the group has become");
                    let mut answers = vec![Answer::Json(31, json!({"transition_id": id}))];
                    answers.extend(self.begin(u64::from(self.version))?);
                    return Ok(answers);
                }
                self.pending.insert(id, self.version);
                Ok(vec![ready(id)])
            }
            _ => Ok(Vec::new()),
        }
    }

    /// A frame as it leaves; `None` in an encrypted call without keys.
    pub(super) fn seal(&mut self, opus: &[u8]) -> Option<Vec<u8>> {
        match &mut self.session {
            Some(session) if self.version > 0 => {
                session.encrypt_opus(opus).ok().map(std::borrow::Cow::into_owned)
            }
            _ => Some(opus.to_vec()),
        }
    }

    /// A user's frame as Opus; `None` if it does not decrypt, or is plain in an encrypted call.
    pub(super) fn open(&mut self, user: u64, frame: Vec<u8>) -> Option<Vec<u8>> {
        if frame == OPUS_SILENCE_PACKET {
            return Some(frame);
        }
        match &mut self.session {
            Some(session) if self.version > 0 || frame.ends_with(&MARK) => {
                session.decrypt(user, MediaType::AUDIO, &frame).ok()
            }
            _ => Some(frame),
        }
    }
}

/// Op 23.
fn ready(id: u16) -> Answer {
    Answer::Json(23, json!({"transition_id": id}))
}
