//! All that the voice servers know: seats, groups, faults. One lock, held only for a moment.
//!
//! Entry: [`State::admit`], [`State::vacate`], [`State::migrate`], and [`State::speak`], which
//! delivers what a group has to say.
//! Never waits and never reads a socket.

use super::{
    Faults, Scope, VoiceOptions,
    group::{Group, Say},
    seat::{Close, Seat, Session},
    sound::Sounds,
    transport::Transport,
};
use rand::{Rng, SeedableRng as _, distr::Alphanumeric, rngs::StdRng};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, btree_map::Entry},
    net::SocketAddr,
};
use tokio::time::Instant;

/// A user in a guild.
pub(super) type Who = (u64, u64);

/// The state of all voice servers.
pub(super) struct State {
    /// Options they were started with.
    pub options: VoiceOptions,
    /// Gateway address of each server.
    pub endpoints: Vec<SocketAddr>,
    /// UDP address of each server.
    pub media: Vec<SocketAddr>,
    /// Admitted users.
    pub seats: BTreeMap<Who, Seat>,
    /// User of an SSRC.
    pub sources: HashMap<u32, Who>,
    /// By guild and channel.
    pub groups: BTreeMap<(u64, u64), Group>,
    /// Faults by scope.
    pub faults: HashMap<Scope, Faults>,
    /// Until when nothing passes.
    pub cuts: HashMap<Scope, Instant>,
    /// Sound of each user.
    pub sounds: HashMap<Who, Sounds>,
    /// By SSRC: whose line it was, of connections that are over.
    pub lines_over: HashMap<u32, (Who, Transport)>,
    /// Acts of clients that Discord would not have accepted.
    pub violations: Vec<String>,
    /// Index of each guild's server; 0 if absent.
    servers: HashMap<u64, usize>,
    /// Keys, tokens, and packets that are lost.
    pub random: StdRng,
    /// The last SSRC.
    pub last_ssrc: u32,
    /// The last connection.
    last_connection: u64,
}

impl State {
    /// An empty state.
    pub(super) fn new(
        options: VoiceOptions,
        endpoints: Vec<SocketAddr>,
        media: Vec<SocketAddr>,
    ) -> Self {
        Self {
            random: StdRng::seed_from_u64(options.seed),
            options,
            endpoints,
            media,
            seats: BTreeMap::new(),
            sources: HashMap::new(),
            groups: BTreeMap::new(),
            faults: HashMap::new(),
            cuts: HashMap::new(),
            sounds: HashMap::new(),
            lines_over: HashMap::new(),
            violations: Vec::new(),
            servers: HashMap::new(),
            last_ssrc: 1000,
            last_connection: 0,
        }
    }

    /// A number for a new connection.
    pub(super) fn connection(&mut self) -> u64 {
        self.last_connection += 1;
        self.last_connection
    }

    /// Remembers what a client did wrong.
    pub(super) fn violation(&mut self, text: impl Into<String>) {
        let text = text.into();
        tracing::debug!(%text, "violation of the voice protocol");
        self.violations.push(text);
    }

    /// Faults of the packets of a user.
    pub(super) fn faults(&self, (guild, user): Who) -> Faults {
        let own = self.faults.get(&Scope::User { guild, user });
        own.or_else(|| self.faults.get(&Scope::Guild(guild))).cloned().unwrap_or_default()
    }

    /// Until when a user's network is cut.
    pub(super) fn cut(&self, (guild, user): Who) -> Option<Instant> {
        let cuts = [Scope::User { guild, user }, Scope::Guild(guild)];
        let until = cuts.iter().filter_map(|scope| self.cuts.get(scope)).max().copied();
        until.filter(|until| *until > Instant::now())
    }

    /// The group of a channel.
    pub(super) fn group(&mut self, guild: u64, channel: u64) -> Option<&mut Group> {
        if let Entry::Vacant(vacant) = self.groups.entry((guild, channel)) {
            match Group::new(channel, u16::from(self.options.dave)) {
                Ok(group) => {
                    vacant.insert(group);
                }
                Err(error) => self.violation(format!("making a DAVE group: {error:#}")),
            }
        }
        self.groups.get_mut(&(guild, channel))
    }

    /// Users with a session in a channel.
    pub(super) fn in_channel(&self, guild: u64, channel: u64) -> BTreeSet<u64> {
        let seats = self.seats.range((guild, 0)..=(guild, u64::MAX));
        seats
            .filter(|(_, seat)| seat.channel == channel && seat.session.is_some())
            .map(|((_, user), _)| *user)
            .collect()
    }

    /// Of those, who has got its key.
    pub(super) fn in_call(&self, guild: u64, channel: u64) -> BTreeSet<u64> {
        let described = |user: &u64| {
            let session = self.seats.get(&(guild, *user)).and_then(|seat| seat.session.as_ref());
            session.is_some_and(|session| session.transport.is_some())
        };
        self.in_channel(guild, channel).into_iter().filter(described).collect()
    }

    /// A user's session.
    pub(super) fn session(&mut self, who: Who) -> Option<&mut Session> {
        self.seats.get_mut(&who)?.session.as_mut()
    }

    /// A user's socket has gone; the session stays for a resume.
    pub(super) fn socket_gone(&mut self, who: Who, connection: u64) {
        if let Some(session) = self.session(who) {
            session.gone(connection);
        }
    }

    /// Sends to all users in the channel but one.
    pub(super) fn broadcast(&mut self, guild: u64, channel: u64, (but, op): (u64, u8), d: &Value) {
        for user in self.in_channel(guild, channel) {
            if user != but
                && let Some(session) = self.session((guild, user))
            {
                session.json(op, d);
            }
        }
    }

    /// Delivers what a group has to say.
    pub(super) fn speak(&mut self, guild: u64, said: Vec<Say>) {
        for say in said {
            match say {
                Say::Binary(user, op, body) => {
                    if let Some(session) = self.session((guild, user)) {
                        session.binary(op, &body);
                    }
                }
                Say::Json(user, op, d) => {
                    if let Some(session) = self.session((guild, user)) {
                        session.json(op, &d);
                    }
                }
                Say::Violation(text) => self.violation(text),
            }
        }
    }

    /// A user takes a seat: what VOICE_SERVER_UPDATE tells it.
    pub(super) fn admit(&mut self, who: Who, channel: u64, session_id: &str) -> (String, String) {
        let server = self.servers.get(&who.0).copied().unwrap_or_default();
        if let Some(seat) = self.seats.get(&who)
            && (seat.channel, seat.session_id.as_str(), seat.ended) == (channel, session_id, false)
            && seat.session.as_ref().is_some_and(Session::connected)
        {
            return (seat.token.clone(), self.endpoint(seat.server));
        }
        let moved = self.seats.get(&who).is_some_and(|seat| seat.channel != channel);
        let why = if moved { "moved to another channel" } else { "replaced" };
        self.vacate(who, &Close(4014, why.into()));
        let token = self.token();
        let seat = Seat {
            channel,
            session_id: session_id.to_owned(),
            token: token.clone(),
            server,
            ended: false,
            session: None,
            counts: super::Counts::default(),
        };
        self.seats.insert(who, seat);
        (token, self.endpoint(server))
    }

    /// A user's seat is taken away.
    pub(super) fn vacate(&mut self, who: Who, close: &Close) {
        self.detach(who, close);
        self.seats.remove(&who);
    }

    /// A user's session ends: its socket is closed, and the others are notified.
    pub(super) fn detach(&mut self, (guild, user): Who, close: &Close) {
        let Some(seat) = self.seats.get_mut(&(guild, user)) else { return };
        let (channel, Some(mut session)) = (seat.channel, seat.session.take()) else { return };
        session.close(close);
        self.hang_up((guild, user), session);
        let gone = json!({"user_id": user.to_string()});
        self.broadcast(guild, channel, (user, 13), &gone);
        let (dave, alone) =
            (u16::from(self.options.dave), self.in_channel(guild, channel).is_empty());
        if let Some(group) = self.group(guild, channel) {
            if alone {
                group.dissolve(dave);
            } else {
                let said = group.left(user, Instant::now());
                self.speak(guild, said);
            }
        }
    }

    /// A connection is over; its line stays known, for what it still sends.
    fn hang_up(&mut self, who: Who, session: Session) {
        self.sources.remove(&session.ssrc);
        if let Some(line) = session.transport {
            self.lines_over.insert(session.ssrc, (who, line));
        }
    }

    /// All of a guild go to the next server: new tokens and endpoints, old sockets closed (4022).
    pub(super) fn migrate(&mut self, guild: u64) -> Vec<(u64, String, String)> {
        let server = self.servers.entry(guild).or_default();
        *server = (*server + 1) % self.endpoints.len().max(1);
        let server = *server;
        let dave = u16::from(self.options.dave);
        for (_, group) in self.groups.range_mut((guild, 0)..=(guild, u64::MAX)) {
            group.dissolve(dave);
        }
        let users: Vec<u64> =
            self.seats.range((guild, 0)..=(guild, u64::MAX)).map(|((_, user), _)| *user).collect();
        let endpoint = self.endpoint(server);
        let close = Close(4022, "voice server changed".into());
        let mut told = Vec::new();
        for user in users {
            let token = self.token();
            let Some(seat) = self.seats.get_mut(&(guild, user)) else { continue };
            (seat.token, seat.server, seat.ended) = (token.clone(), server, false);
            if let Some(mut session) = seat.session.take() {
                session.close(&close);
                self.hang_up((guild, user), session);
            }
            told.push((user, token, endpoint.clone()));
        }
        told
    }

    /// Address of a server for VOICE_SERVER_UPDATE.
    fn endpoint(&self, server: usize) -> String {
        self.endpoints.get(server).map(ToString::to_string).unwrap_or_default()
    }

    /// A new token.
    fn token(&mut self) -> String {
        (&mut self.random).sample_iter(Alphanumeric).take(16).map(char::from).collect()
    }

    /// Handles overdue heartbeats, commits and readiness.
    pub(super) fn sweep(&mut self) {
        let now = Instant::now();
        let limit = self.options.heartbeat.mul_f64(2.5);
        let dead: Vec<Who> = self
            .seats
            .iter()
            .filter(|(who, seat)| {
                let silent = |session: &Session| now.duration_since(session.beat) > limit;
                let session = seat.session.as_ref().filter(|session| session.connected());
                session.is_some_and(silent) && self.cut(**who).is_none()
            })
            .map(|(who, _)| *who)
            .collect();
        for who in dead {
            self.violation(format!("user {} sent no heartbeat for {limit:?}", who.1));
            if let Some(session) = self.session(who) {
                session.close(&Close(4009, "session timed out".into()));
            }
        }
        let channels: Vec<(u64, u64)> = self.groups.keys().copied().collect();
        for (guild, channel) in channels {
            let users = self.in_call(guild, channel);
            let reachable = |user: &u64| {
                let session =
                    self.seats.get(&(guild, *user)).and_then(|seat| seat.session.as_ref());
                session.is_some_and(Session::connected) && self.cut((guild, *user)).is_none()
            };
            let blamed = users.iter().copied().filter(reachable).collect();
            if let Some(group) = self.groups.get_mut(&(guild, channel)) {
                let said = group.overdue(&users, &blamed, now);
                self.speak(guild, said);
            }
        }
    }
}
