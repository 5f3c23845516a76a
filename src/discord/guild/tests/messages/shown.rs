//! Messages that the bot posts by itself: notices, the panel, requests, refusals.

use std::sync::Arc;

use serde_json::json;
use serenity::all::{ChannelId, GuildId};
use tokio::sync::oneshot;

use super::{Message, message, read};
use crate::{
    campaign::{
        Consent, Fact, FactId, FactStatus, NpcService, OutsidePrograms, ServerError, ServiceInfo,
        Services, WaitingFacts,
    },
    discord::{
        access::VoiceLack,
        admission::Admission,
        commands::tests::{seat, status},
        decisions::{Asked, Outcome, Request},
        guild::{mic_check, refusal::GuildRefusal},
        ui::{action::FactPlace, approvals, facts, notices, panel},
        voice::{ConnectError, ConnectionState},
    },
    domain::CampaignKey,
    logic::music::{Layer, MusicStatus},
    session::{SeatStatus, State, Status},
    tools::{ApprovalRequest, Form},
};

const VOICE: ChannelId = ChannelId::new(4);
const WHY: &str = "whisper-tiny.en is not here (glyphoxa models get whisper-tiny.en)";

pub fn messages() -> Vec<Message> {
    let parts = [notices(), panels(), requests(), proposals(), refusals(), lacks()];
    parts.into_iter().flatten().collect()
}

fn notices() -> Vec<Message> {
    let here = ServiceInfo::here;
    let local = Services {
        hears: vec![here("Whisper")],
        here: None,
        thinks: vec![here("lines")],
        sums_up: false,
        speaks: vec![here("flite")],
        speaks_and_hears: Vec::new(),
        compares: None,
        draws: None,
        searches: None,
        programs: None,
        collector: None,
    };
    let voice_model = ServiceInfo::at("gpt-realtime-2.1", "https://api.openai.com/v1");
    let outside = Services {
        thinks: vec![ServiceInfo::at("gpt", "https://api.example.com/v1"), here("lines")],
        speaks_and_hears: vec![NpcService {
            npcs: vec!["Bartok".to_owned(), "Mira".to_owned()],
            service: voice_model,
        }],
        searches: Some(ServiceInfo::at("brave", "https://api.search.brave.com")),
        ..local.clone()
    };
    let programs = OutsidePrograms { at: ([127, 0, 0, 1], 4100).into(), may_listen: true };
    let listened = Services { programs: Some(programs), ..local.clone() };
    let written =
        |consent, services| read(notices::written(&["Anna", "Ben"], 4, consent, services));
    vec![
        message("notice: spoken", notices::spoken(Consent::Notice, &outside)),
        message("notice: spoken, players are asked", notices::spoken(Consent::Ask, &local)),
        message("notice: spoken, programs listen", notices::spoken(Consent::Notice, &listened)),
        message("notice: spoken by who cannot hear", notices::SPOKEN_UNHEARD),
        message("notice: written, all here", written(Consent::Notice, &local)),
        message("notice: written, players are asked", written(Consent::Ask, &outside)),
        message("notice: written, programs listen", written(Consent::Notice, &listened)),
        message("notice: written, cannot hear", read(notices::written_unheard(&["Anna"], 4))),
        message("notice: cannot hear", notices::cannot_hear(WHY)),
        message("test: the line", mic_check::TEST_LINE),
        message("test: sound without speech", mic_check::nothing(true)),
        message("test: no sound", mic_check::nothing(false)),
        message("server: not approved", Admission::refusal(GuildId::new(8))),
        message("server: tool server that is near", ServerError::TooNear.to_string()),
    ]
}

/// A panel for this state of the table.
fn view<'a>(status: Option<&'a Status>, connection: &'a ConnectionState) -> panel::PanelView<'a> {
    panel::PanelView {
        status,
        heard: vec!["Anna"],
        unheard: Vec::new(),
        cannot_hear: None,
        is_listened_to: false,
        connection,
        node: None,
        notes: Vec::new(),
        over: None,
    }
}

fn panels() -> Vec<Message> {
    let up = &ConnectionState::Up;
    let muted = SeatStatus { muted: true, present: false, waiting: 2, ..seat("Mira") };
    let table = status(vec![seat("Bartok"), muted]);
    let with = |state| Status { state, ..table.clone() };
    let (thinks, speaks) = (with(State::Thinking("Bartok".to_owned())), with(State::Paused));
    let playing = vec![
        (Layer::Music, "Ambush at the bridge".to_owned()),
        (Layer::Ambience, "Rain".to_owned()),
    ];
    let plays = Status { music: MusicStatus { playing, volume: 100 }, ..table.clone() };
    let lost = ConnectionState::Down { why: "the voice server is gone".to_owned(), attempts: 1 };
    let shown =
        |name, view: panel::PanelView<'_>| message(name, read(panel::render(&view).message()));
    vec![
        shown("panel: listening", view(Some(&table), up)),
        shown("panel: thinking", view(Some(&thinks), up)),
        shown(
            "panel: paused, some unheard",
            panel::PanelView { heard: Vec::new(), unheard: vec!["Ben"], ..view(Some(&speaks), up) },
        ),
        shown(
            "panel: cannot hear",
            panel::PanelView { cannot_hear: Some(WHY), ..view(Some(&table), up) },
        ),
        shown("panel: music", view(Some(&plays), up)),
        shown(
            "panel: one of several processes",
            panel::PanelView {
                node: Some("cellar, shard 2 of 4, epoch 3"),
                ..view(Some(&table), up)
            },
        ),
        shown(
            "panel: programs outside listen",
            panel::PanelView { is_listened_to: true, ..view(Some(&table), up) },
        ),
        shown("panel: connection lost", view(None, &lost)),
        shown(
            "panel: over",
            panel::PanelView {
                over: Some("the game master ended it"),
                ..view(None, &ConnectionState::Left)
            },
        ),
    ]
}

fn requests() -> Vec<Message> {
    let arguments = json!({"to": "the duke"}).as_object().cloned().unwrap_or_default();
    let call = Asked::Call(ApprovalRequest {
        npc: "Bartok".into(),
        by: None,
        tool: "post.send".into(),
        arguments,
        reason: "the tool may change something".into(),
        definition: "d".into(),
        may_be_waived: true,
    });
    let form = Form {
        server: Arc::from("post"),
        message: "Which address?".to_owned(),
        schema: json!({"type": "object", "properties": {"city": {"type": "string"}}}),
    };
    let (answer, _waits) = oneshot::channel();
    let question = Request::question(form, answer).expect("a question").asked();
    let decided = [
        ("approved", Outcome::Approved),
        ("always approved", Outcome::AlwaysApproved),
        ("denied", Outcome::Denied),
        ("edited", Outcome::Edited),
        ("completed", Outcome::Completed),
        ("answered", Outcome::Answered),
        ("declined", Outcome::Declined),
        ("expired", Outcome::Expired),
        ("withdrawn", Outcome::Withdrawn),
    ];
    let last = |text: String| text.lines().last().unwrap_or_default().to_owned();
    let mut all: Vec<Message> = decided
        .map(|(name, outcome)| {
            let text = approvals::decided(&call, outcome, "Dora");
            message(&format!("request: {name}"), last(text))
        })
        .into();
    all.push(message("request: call", read(approvals::message(&call, "k"))));
    all.push(message("request: question", read(approvals::message(&question, "k"))));
    for (name, asked) in [("form of a call", &call), ("form of a question", &question)] {
        let form = approvals::form(asked, "k").map(read);
        all.push(message(&format!("request: {name}"), form.unwrap_or_default()));
    }
    all
}

fn proposals() -> Vec<Message> {
    let fact = |status| Fact {
        id: FactId { campaign: CampaignKey("mill".to_owned()), fact: "fact-7".to_owned() },
        text: "The duke owes Mira a favour.".to_owned(),
        proof: vec!["#1 Anna: “He owes you.”".to_owned()],
        when: "2026-11-22 20:00".to_owned(),
        dm_only: false,
        status,
    };
    let proposed = fact(FactStatus::Proposed);
    let secret = Fact { dm_only: true, ..proposed.clone() };
    let page = WaitingFacts { facts: vec![secret], before: 4, all: 6, note: None };
    vec![
        message("fact: proposed", read(facts::message(&proposed))),
        message("fact: page", read(facts::page(&page, None).message())),
        message("fact: no more", read(facts::page(&WaitingFacts::default(), None).message())),
        message("fact: accepted before", facts::decided_before(&fact(FactStatus::Accepted))),
        message("fact: rejected before", facts::decided_before(&fact(FactStatus::Rejected))),
        message(
            "fact: form",
            facts::form(&proposed, FactPlace::List).map(read).unwrap_or_default(),
        ),
    ]
}

fn refusals() -> Vec<Message> {
    let lacks = "Send Messages, Embed Links".to_owned();
    [
        ("no session", GuildRefusal::NoSession),
        ("already runs", GuildRefusal::AlreadyRuns(VOICE)),
        ("opening", GuildRefusal::Opening),
        ("full", GuildRefusal::Full(8)),
        ("unknown server", GuildRefusal::UnknownServer),
        ("no voice channel", GuildRefusal::NoVoiceChannel),
        ("hidden channel", GuildRefusal::Hidden(VOICE)),
        ("cannot write", GuildRefusal::CannotWrite { lacks, channel: ChannelId::new(5) }),
        ("silent table", GuildRefusal::TableSilent),
        ("not in the channel", GuildRefusal::NotInChannel(VOICE)),
        ("connecting again", GuildRefusal::Reconnecting),
        ("session over", GuildRefusal::Connect(ConnectError::SessionOver)),
        ("discord is late", GuildRefusal::Connect(ConnectError::Late { channel: VOICE })),
        ("cannot hear", GuildRefusal::CannotHear(WHY.to_owned())),
    ]
    .map(|(name, why)| message(&format!("refusal: {name}"), why.to_string()))
    .into()
}

fn lacks() -> Vec<Message> {
    let channel = || "<#4>".to_owned();
    let lacks = "Connect, Speak".to_owned();
    [
        ("stage", VoiceLack::Stage(channel())),
        ("permissions", VoiceLack::Permissions { lacks, channel: channel() }),
        ("full", VoiceLack::Full(channel())),
    ]
    .map(|(name, why)| message(&format!("voice channel: {name}"), why.to_string()))
    .into()
}
